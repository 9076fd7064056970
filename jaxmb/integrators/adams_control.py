"""The next order and the next step of an Adams method."""

from collections.abc import Callable
from typing import Any

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Bool, Float, Int

from .differences import integrals, powers, span, truncation, uniform_truncation

Scalar = Float[Array, ""]

#: The next step aims at this error, in tolerances.
AIM = 0.3
#: The same for an order that was not tried yet, whose error is a guess.
AIM_UNTRIED = 0.1
#: A step grows when it may by this factor, and by no more than the second: errors are foreseen on equal steps.
GROWTH = (1.2, 2.0)
#: A step that succeeded shrinks by no more and no less than this.
SHRINKAGE = (0.5, 0.9)
#: By what factors a step of the start may change.
START_FACTORS = np.array([0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0, 8.0, 10.0])
#: No step grows by more.
LARGEST = float(START_FACTORS[-1])
#: So many equal steps before the order is raised (fewer at low order).
EQUAL_STEPS = 3
#: From this order on differences that do not decay to this part are the sign of a kink.
ROUGH = (4, 0.5)
#: An order is much better with less than this part of the error.
FAR_BETTER = 0.1
#: The error that tells the controller of a success with the factor 1; less than 1 is a success, so no factor is below this.
SUCCESS = 0.4
#: Factors are powers of two with this denominator in the exponent. Reverse mode computes steps again, and rounding must not make
#: them others: gradients would be those of two runs patched together.
GRID = 16
#: A larger error than any this method gives: somebody else wants the step to be taken again.
FOREIGN = 200.0


class Differences(eqx.Module):
    """What a step of order k has shown."""

    size: Float[Array, " m"]
    """h |Phi_j(n+1)| in tolerances, or the bound of its rounding error where that is larger: no choice depends on rounding."""
    error: Float[Array, " m"]
    """Error of each order, in tolerances; infinite where not known."""
    a: Float[Array, " K"]
    """Distances to the past, in steps."""

    @property
    def curvature(self) -> Float[Array, " m"]:
        return self.size / span(self.a)

    def rough(self, k: Int[Array, ""]) -> Bool[Array, ""]:
        """Whether the past tells nothing of the step: behind a kink in the forces all differences are as large as its jump."""
        j = jnp.arange(self.size.size)
        largest = jnp.max(jnp.where((j >= 1) & (j < k), self.size, 0.0))
        return (k >= ROUGH[0]) & (self.size[k] > ROUGH[1] * largest) & (self.size[k] > 0.1)

    def honest(self, k: Int[Array, ""]) -> Scalar:
        """The error of a step of order k. At a kink its formula hides the jump, and the error is that of the order 1."""
        return jnp.where(self.rough(k), jnp.maximum(0.5 * self.size[k], self.error[k]), self.error[k])


def repeat_factor(k: Int[Array, ""], seen: Differences) -> Scalar:
    """By how much to shrink a step of order k that failed; the first step of a run or a step over a kink may be far too long."""
    rough = (k == 1) | seen.rough(k)
    factor = (AIM / seen.honest(k)) ** (1.0 / jnp.where(rough, 2.0, k + 1.0))
    return jnp.clip(jnp.nan_to_num(factor), jnp.where(rough, 0.01, 0.1), 0.9)


def settled(k: Int[Array, ""], seen: Differences, equal: Int[Array, ""]) -> tuple[Int[Array, ""], Scalar]:
    """Order and factor: of the orders beside k, the one that may take the longest step."""
    K = seen.error.size - 1
    j = jnp.arange(K + 1)
    foreseen = seen.curvature * jnp.asarray(uniform_truncation(K))
    reach = (AIM / jnp.maximum(foreseen, 1e-300)) ** (1.0 / (j + 1.0))
    # Differences over unequal steps are rough, so an order is not raised on them unless steps would shrink and it is much better.
    far_better = (reach[k] < 1.0) & (foreseen < FAR_BETTER * foreseen[k])
    trusted = (j <= k) | (equal >= jnp.minimum(k + 1, EQUAL_STEPS)) | far_better
    candidate = (j >= 1) & (jnp.abs(j - k) <= 1) & trusted & jnp.isfinite(seen.error)
    best = jnp.argmax(jnp.where(candidate, reach, -1.0))
    # Differences that grow with their order are the sign of a step at the limit of stability, which low orders move outwards.
    growing = (k > 2) & (jnp.maximum(foreseen[k - 1], foreseen[k - 2]) <= foreseen[k])
    best = jnp.where(growing, k - 1, best)
    factor = reach[best]
    held = jnp.where(factor >= 1.0, 1.0, jnp.clip(factor, *SHRINKAGE))
    return best, jnp.where(factor >= GROWTH[0], jnp.minimum(factor, GROWTH[1]), held)


def starting(k: Int[Array, ""], seen: Differences) -> tuple[Int[Array, ""], Scalar]:
    """Order and factor of the start, where each step adds an order that nothing is known of, and steps grow so fast that the
    error has to be foreseen on the grid itself: one on which the past is near has a much smaller error than equal steps."""
    K = seen.error.size - 1
    curvature = seen.curvature
    raised = jnp.minimum(k + 1, K)
    # As if the derivatives went on as a geometric series.
    guess = curvature[k] ** 2 / jnp.maximum(curvature[k - 1], 1e-300)
    curvature = jnp.where(jnp.arange(K + 1) == k + 1, guess, curvature)

    def foresee(ratio):
        a = jnp.concatenate([jnp.zeros(1), 1.0 + seen.a[:-1]]) / ratio
        return ratio ** (jnp.arange(K + 1) + 1.0) * truncation(integrals(powers(a))) * span(a) * curvature

    foreseen = jax.vmap(foresee)(jnp.asarray(START_FACTORS))

    def reach(j, aim):
        return jnp.max(jnp.where(foreseen[:, j] <= aim, START_FACTORS, 0.0))

    known, untried = reach(k, AIM), reach(raised, AIM_UNTRIED)
    raises = (raised > k) & (untried >= known) & (untried > 0)
    factor = jnp.where(raises, untried, known)
    return jnp.where(raises, raised, k), jnp.where(factor > 0, factor, SHRINKAGE[0])


class AdamsController(diffrax.AbstractAdaptiveStepSizeController):
    """Takes the steps that the solver asks for.

    The solver knows the tolerances and the errors of all orders, but all it can say is an error estimate. So it scales that:
    c / E is the factor to the next step, with c = SUCCESS for a success (E < 1) and 1 for a failure.
    """

    rtol: ArrayLike  # pyright: ignore[reportIncompatibleVariableOverride]
    atol: ArrayLike  # pyright: ignore[reportIncompatibleVariableOverride]
    dtmin: ArrayLike
    norm: Callable[[Any], Scalar] = eqx.field(static=True)

    def wrap(self, direction):
        return self

    def init(self, terms, t0, t1, y0, dt0, args, func, error_order):
        if dt0 is None:
            raise ValueError("AdamsController needs a first step dt0; a short one will do, it grows quickly.")
        return t0 + dt0, None

    def adapt_step_size(self, t0, t1, y0, y1_candidate, args, y_error, error_order, controller_state):
        def in_tolerances(error, y0, y1):
            y1 = jnp.where(jnp.all(jnp.isfinite(y1)), y1, y0)
            return error / (self.atol + self.rtol * jnp.maximum(jnp.abs(y0), jnp.abs(y1)))

        E = jax.lax.stop_gradient(self.norm(jax.tree.map(in_tolerances, y_error, y0, y1_candidate)))
        keep = E < 1.0
        wanted = jnp.where(keep, SUCCESS, 1.0) / jnp.maximum(E, 1e-10)
        factor = jnp.where(E <= FOREIGN, _power(jnp.round(GRID * jnp.log2(jnp.minimum(wanted, LARGEST)))), 0.25)
        dt = (t1 - t0) * jax.lax.stop_gradient(factor)
        start = jnp.where(keep, t1, t0)
        result = diffrax.RESULTS.where(
            (dt < self.dtmin) & ~keep, diffrax.RESULTS.dt_min_reached, diffrax.RESULTS.successful
        )
        return keep, start, start + dt, False, None, result


def encode(success: Bool[Array, ""], factor: Scalar) -> Scalar:
    """The error estimate by which the controller understands this; the factor is rounded down to one of the grid."""
    return jnp.where(success, SUCCESS, 1.0) / _power(jnp.floor(GRID * jnp.log2(factor) + 1e-3))


def _power(exponent: Scalar) -> Scalar:
    """2 to the exponent / GRID, from a table, which is the same in every program."""
    table = np.exp2(np.arange(-10 * GRID, 4 * GRID + 1) / GRID)
    return jnp.asarray(table)[jnp.clip(exponent + 10 * GRID, 0, table.size - 1).astype(int)]
