"""Newton's method for the equations of one step: simplified iterations, redundant rows filled, differentiated as a root."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.scipy as jsp
from jaxtyping import Array, Bool, Float, Int

from ..formulations.deflated import NullSpace
from ..status import NAMES
from .field import Field

#: An iteration that leaves more than this part of the last change asks for a fresh matrix.
SLOW = 0.3
#: Changes below this that no longer shrink are rounding.
ROUNDING = 1e-10


class Outcome(eqx.Module):
    """How the iteration went, in real numbers: a root has no integers beside it when it is differentiated."""

    status: Float[Array, ""]
    """Number of the status: 0, `newton_failure`, or `not_finite` for a residual that is so at the very start."""
    iterations: Float[Array, ""]
    evaluations: Float[Array, ""]
    """Evaluations of the right-hand side, the columns of matrices counted."""

    @property
    def failed(self) -> Bool[Array, ""]:
        return self.status > 0


class _Iteration(eqx.Module):
    z: Float[Array, " k"]
    change: Float[Array, ""]
    done: Bool[Array, ""]
    slow: Bool[Array, ""]
    started: Bool[Array, ""]
    """Whether the residual of the guess is finite."""
    count: Int[Array, ""]
    matrices: Int[Array, ""]


def newton(
    residual: Callable[[Float[Array, " k"]], Float[Array, " k"]],
    guess: Float[Array, " k"],
    fill: Float[Array, "k k"],
    *,
    matrix: Callable[[Float[Array, " k"]], Float[Array, "k k"]] | None = None,
    first: tuple[Float[Array, "k k"], Int[Array, " k"]] | None = None,
    columns: int | None = None,
    cost: int = 1,
    unit: Float[Array, ""] | float = 1.0,
    tolerance: float = 1e-15,
    max_iterations: int = 30,
) -> tuple[Float[Array, " k"], Outcome]:
    """The root of `residual` near `guess`, and how it was found.

    `matrix(z)` is the Jacobian or near it (by default the exact one), made once and again only where the iteration is slow; it
    takes `columns` evaluations of the right-hand side, and the residual takes `cost`. With `first`, the factors of a matrix known
    from nearby, none is made unless that one is slow. `fill` is added to it: for dependent rows, [S J'; J 0] is singular,
    [S J'; J -N N'] with the null space N of J' is not, and the roots are the same because the residual is not touched. An
    unknown of size `unit` counts as 1 in the tolerance. Without convergence the guess is returned.

    Derivatives are those of the root, with the exact Jacobian there, whatever the iteration was.
    """
    columns = guess.size if columns is None else columns
    matrix = jax.jacfwd(residual) if matrix is None else matrix

    def iterate(factor, state: _Iteration) -> _Iteration:
        r = residual(state.z)
        step = jsp.linalg.lu_solve(factor, r)
        change = jnp.sqrt(jnp.mean(step**2)) / unit
        fresh, rate = jnp.isinf(state.change), change / state.change
        left = jnp.where(rate < 1, rate / jnp.maximum(1 - rate, 1e-3), jnp.inf) * change
        left = jnp.where(fresh, change, left)  # nothing is known of the rate yet
        done = (left <= tolerance) | (change <= tolerance) | ((change <= ROUNDING) & (rate > SLOW))
        slow = ~done & ~(rate <= SLOW)
        # A change that is larger than the last one leads away.
        use = fresh | (rate < 1)
        step, change = jnp.where(use, step, 0.0), jnp.where(use, change, state.change)
        started = state.started | ((state.count == 0) & jnp.all(jnp.isfinite(r)))
        return _Iteration(state.z - step, change, done, slow, started, state.count + 1, state.matrices)

    no, zero = jnp.zeros((), bool), jnp.zeros((), int)

    def with_factor(factor, s: _Iteration, made: int) -> _Iteration:
        begin = _Iteration(s.z, jnp.array(jnp.inf), no, no, s.started, s.count, s.matrices + made)
        return jax.lax.while_loop(
            lambda s: ~s.done & ~s.slow & (s.count < max_iterations), lambda s: iterate(factor, s), begin
        )

    def with_matrix(s: _Iteration) -> _Iteration:
        return with_factor(jsp.linalg.lu_factor(matrix(s.z) + fill), s, 1)

    def solve(_, guess):
        begin = _Iteration(guess, jnp.zeros(()), no, no, no, zero, zero)
        if first is not None:
            begin = with_factor(first, begin, 0)
            # What a bad matrix made of the guess is no better guess.
            begin = eqx.tree_at(lambda s: s.z, begin, jnp.where(begin.done, begin.z, guess))
            begin = eqx.tree_at(lambda s: s.change, begin, jnp.where(begin.started, 0.0, jnp.inf))

        def go_on(s: _Iteration):
            return ~s.done & (s.count < max_iterations) & jnp.isfinite(s.change)

        end = jax.lax.while_loop(go_on, with_matrix, begin)
        failure = jnp.where(end.started, FAILED, NOT_FINITE)
        evaluations = 1.0 * (cost * end.count + columns * end.matrices)
        outcome = Outcome(jnp.where(end.done, 0.0, failure), 1.0 * end.count, evaluations)
        return jnp.where(end.done, end.z, guess), outcome

    def tangent(linear, right):
        K = jax.jacfwd(linear)(jnp.zeros_like(right)) + jax.lax.stop_gradient(fill)
        return jnp.linalg.solve(K, right)

    return jax.lax.custom_root(residual, jax.lax.stop_gradient(guess), solve, tangent, has_aux=True)


def field_of(terms: Any) -> Field:
    """The field of the term that diffrax hands to a solver, which it wraps for the direction of time."""
    while not hasattr(terms, "vector_field"):
        terms = terms.term
    return terms.vector_field


#: As numbers that an integrator can carry.
FAILED, NOT_FINITE = (float(NAMES.index(name)) for name in ("newton_failure", "not_finite"))


class Scaling(eqx.Module):
    """Units in which the blocks of [S J'; J 0] are of the size of 1 whatever the step and the units of the model.

    With displacements x = E xi, multipliers beta h2 lam = D eta and rows D Phi, the matrix is [E S E, E J' D; D J E, 0] with
    S = M + O(h) [Bottasso, Dopico and Trainelli 2008].
    """

    E: Float[Array, " n"]
    D: Float[Array, " m"]
    N: Float[Array, "m m"]
    """Unit columns that span the null space of (D J E)'; zero columns where there is none."""

    @property
    def fill(self) -> Float[Array, "m m"]:
        return -self.N @ self.N.T

    @property
    def unit(self) -> Float[Array, ""]:
        """The size of xi for displacements of 1 (m, rad)."""
        return jnp.sqrt(jnp.mean(1 / self.E**2))


def scaling(M: Float[Array, "n n"], J: Float[Array, "m n"], null: NullSpace) -> Scaling:
    """Units from the mass and the constraints at the start of a step."""
    # The mass of a coordinate may vanish (Euler parameters) where a constraint holds it. Rows count alike, whatever their units.
    rows = J * _inverse_root(jnp.sum(J**2, axis=1))[:, None]
    E = _inverse_root(jnp.diagonal(M) + jnp.trace(M) / max(J.shape[0], 1) * jnp.sum(rows**2, axis=0))
    D = _inverse_root(jnp.sum((J * E[None, :]) ** 2, axis=1))
    N = (null.D / D)[:, None] * null.N
    return Scaling(E, D, N * jnp.where(null.null, _inverse_root(jnp.sum(N**2, axis=0)), 0.0)[None, :])


def _inverse_root(x: Float[Array, " k"]) -> Float[Array, " k"]:
    """1 / sqrt(x), and 1 where x vanishes."""
    return jnp.where(x > 0, jax.lax.rsqrt(jnp.where(x > 0, x, 1.0)), 1.0)
