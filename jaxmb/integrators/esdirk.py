"""diffrax's singly diagonally implicit Runge-Kutta methods on mechanisms."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.scipy as jsp
import numpy as np
from jaxtyping import Array, Float

from ..errors import ModelError
from .correcting import Corrected, correct, root
from .implicit import Implicit, Slopes, Start
from .local import Local

Scalar = Float[Array, ""]


class Tableau:
    """diffrax's tableau with all its arrays in full."""

    def __init__(self, tableau):
        self.stages = tableau.num_stages
        A, predictor = np.zeros((2, self.stages, self.stages))
        for i, row in enumerate(tableau.a_lower, start=1):
            A[i, :i], A[i, i] = row, tableau.a_diagonal[i]
        for i, row in enumerate(tableau.a_predictor, start=1):
            predictor[i, : len(row)] = row
        self.A, self.predictor, self.b_error = jnp.asarray(A), jnp.asarray(predictor), jnp.asarray(tableau.b_error)
        self.c = jnp.concatenate([jnp.zeros(1), jnp.asarray(tableau.c)])
        self.gamma = self.A[-1, -1]


class Stage(eqx.Module):
    """The equation of a stage: x = x_base + c k, u = u_base + c du/dt, where u is the speed that k = dx/dt makes."""

    local: Local
    t: Scalar
    x_base: Float[Array, " nv"]
    u_base: Float[Array, " nv"]
    c: Scalar

    def speed(self, k: Float[Array, " nv"]) -> Float[Array, " nv"]:
        return self.local.speed(self.x_base + self.c * k, k)

    def __call__(self, k: Float[Array, " nv"]) -> tuple[Float[Array, " nv"], Scalar]:
        """What has to vanish, and the power."""
        u = self.speed(k)
        rate, power, _ = self.local.rates(self.t, self.x_base + self.c * k, u)
        return u - self.u_base - self.c * rate, power

    def derivatives(self, k: Float[Array, " nv"]):
        """Exact ones of what has to vanish, and of the power."""
        return jax.jacfwd(self)(k)


class Esdirk(Implicit):
    """A method of diffrax with an explicit first stage and one coefficient on the diagonal: `Kvaerno3`, `Kvaerno4`, `Kvaerno5`.

    `simulate(solver=diffrax.Kvaerno5())` comes down to this. diffrax itself would find positions, speeds and work together, in
    the coordinates of the world.
    """

    method: Any
    max_iterations: int = eqx.field(static=True, default=15)
    dof: int | None = eqx.field(static=True, default=None)
    rtol: Scalar = eqx.field(converter=lambda x: jnp.asarray(x, float), default=1e-8)
    atol: Scalar = eqx.field(converter=lambda x: jnp.asarray(x, float), default=1e-8)

    def __check_init__(self):
        diagonal = getattr(getattr(self.method, "tableau", None), "a_diagonal", None)
        if diagonal is None or len(diagonal) < 2 or diagonal[0] != 0 or not np.all(diagonal[1:] == diagonal[1]):
            raise ModelError(
                f"simulate was given {type(self.method).__name__}, whose stages it cannot take on a mechanism. Use Radau(), or "
                "diffrax.Kvaerno3(), Kvaerno4() or Kvaerno5(), for stiff problems."
            )

    def order(self, terms):
        return self.method.order(terms)

    def error_order(self, terms):
        return self.method.error_order(terms)

    @property
    def evaluations_each(self):
        return 1

    def no_history(self, n):
        return ()

    def remember(self, dt, u0, slopes):
        return ()

    def attempt(self, start, jacobian, history):
        tableau, scale = Tableau(self.method.tableau), self.scale(start)
        g = tableau.gamma * start.dt
        factor = jsp.linalg.lu_factor(jnp.eye(start.u.size) - g * jacobian.A_u - g**2 * jacobian.A_x)

        def take(carry, i):
            slopes, count, worst, converged = carry
            stage = _stage(tableau, start, slopes, i)
            guess = jnp.tensordot(tableau.predictor[i], slopes.x, 1)
            found = correct(stage, guess, lambda r: -jsp.linalg.lu_solve(factor, r), scale, self.max_iterations)
            slopes = _with_stage(slopes, i, stage, found.k, found.power)
            return (slopes, count + found.count, jnp.maximum(worst, found.rate), converged & found.converged), None

        begin = (_begin(tableau, start), jnp.zeros((), int), jnp.zeros(()), jnp.ones((), bool))
        (slopes, count, rate, converged), _ = jax.lax.scan(take, begin, jnp.arange(1, tableau.stages))
        return Corrected(slopes.x, slopes.power, count, rate, converged)

    def finish(self, start, found):
        tableau = Tableau(self.method.tableau)

        def take(slopes, i):
            stage = _stage(tableau, start, slopes, i)
            return _with_stage(slopes, i, stage, *root(stage, found.k[i], found.power[i])), None

        slopes, _ = jax.lax.scan(take, _begin(tableau, start), jnp.arange(1, tableau.stages))
        return slopes, tableau.A[-1]

    def estimate(self, dt, slopes, jacobian):
        weights = Tableau(self.method.tableau).b_error
        return dt * weights @ slopes.x, dt * weights @ slopes.u


def _begin(tableau: Tableau, start: Start) -> Slopes:
    """Slopes of the stages, of which the first is known."""
    first = (start.u, start.du, start.power)
    return Slopes(*(jnp.zeros((tableau.stages, *jnp.shape(k))).at[0].set(k) for k in first))


def _stage(tableau: Tableau, start: Start, slopes: Slopes, i) -> Stage:
    """Stage i, after the slopes of those before it."""
    before: Array = start.dt * jnp.where(jnp.arange(tableau.stages) < i, tableau.A[i], 0.0)
    u = start.u + before @ slopes.u
    return Stage(start.local, start.t + tableau.c[i] * start.dt, before @ slopes.x, u, tableau.gamma * start.dt)


def _with_stage(slopes: Slopes, i, stage: Stage, k, power) -> Slopes:
    rate = (stage.speed(k) - stage.u_base) / stage.c
    return Slopes(slopes.x.at[i].set(k), slopes.u.at[i].set(rate), slopes.power.at[i].set(power))
