"""Independent coordinates are integrated, dependent ones follow from the constraints."""

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from ..errors import ModelError
from ..formulations.deflated import Deflated, NullSpace
from ..formulations.pivoting import dependent_speeds
from ..terms import Equations
from .base import Corrected, Stabilization


class CoordinatePartitioning(Stabilization):
    """Newton on Phi that moves the dependent speeds only, then the dependent speeds from Phi_dot = 0.

    Dependent coordinates are found by full pivoting of J. With `variant="all"` everything is integrated and corrected
    after each accepted step [Park, Yoo and Hwang 2000, second method]; with `"independent"` the dependent ones are solved
    for at every evaluation of the right-hand side [Wehage and Haug 1982], and what the integrator has of them is a first
    guess only. The partition is chosen anew when its smallest pivot, relative to the best choice, falls below `reselect`
    (0 keeps the first one for the whole run). `tolerance` is that of |Phi| (m, rad), reached in at most `max_iterations`.
    """

    variant: str = eqx.field(static=True, default="all")
    tolerance: Float[Array, ""] = eqx.field(converter=lambda x: jnp.asarray(x, float), default=1e-10)
    reselect: Float[Array, ""] = eqx.field(converter=lambda x: jnp.asarray(x, float), default=0.3)
    max_iterations: int = eqx.field(static=True, default=10)

    corrects: ClassVar[bool] = True

    def __check_init__(self):
        if self.variant not in ("all", "independent"):
            raise ModelError(
                f"CoordinatePartitioning has variant='{self.variant}', which is neither 'all' nor 'independent'."
            )
        if self.max_iterations < 1:
            raise ModelError(f"CoordinatePartitioning has max_iterations={self.max_iterations}; at least 1 is needed.")

    def start(self, equations, t, q, v) -> Bool[Array, " nv"]:
        """The mask of dependent speeds."""
        return jax.lax.stop_gradient(dependent_speeds(equations.terms(t, q, v).J))

    def field(self, equations, t, q, v, null, memory):
        if self.variant == "independent":
            q, v, *_ = self._solve_dependent(equations, t, q, v, null, memory)
        return q, v

    def correct(self, equations, t, q, v, terms, null, memory):
        q, v, iterations, at_end = self._solve_dependent(equations, t, q, v, null, memory)
        J = jax.lax.stop_gradient(terms.J)
        best = dependent_speeds(J)
        poor = _smallest_value(J, memory, null) < self.reselect**2 * _smallest_value(J, best, null)
        return Corrected(q, v, jnp.where(poor, best, memory), iterations, at_end)

    def _solve_dependent(self, equations: Equations, t, q, v, null: NullSpace, dependent):
        def newton(q, iterations):
            terms = equations.terms(t, q, v)
            done = jnp.max(jnp.abs(terms.Phi), initial=0.0) <= self.tolerance
            moved = equations.retract(q, _dependent_step(terms.J, terms.Phi, dependent, null))
            return jnp.where(done, q, moved), iterations + jnp.where(done, 0, 1), done

        def iterate(carry, _):
            q, iterations, done = carry
            return jax.lax.cond(done, lambda q, i: (q, i, done), newton, q, iterations), None

        # A scan with a condition rather than a while loop, so that reverse mode can go through it.
        start = (q, jnp.zeros((), int), jnp.zeros((), bool))
        (q, iterations, _), _ = jax.lax.scan(iterate, start, None, length=self.max_iterations)
        terms = equations.terms(t, q, v)
        return q, v + _dependent_step(terms.J, terms.Phi_dot, dependent, null), iterations, terms


def _dependent_step(J, residual, dependent, null: NullSpace) -> Float[Array, " n"]:
    """dv with J dv = -residual that is zero for the independent speeds.

    J_d has the rank of J, so its left null space is that of J, and J_d J_d' can be filled with it: the mass is the identity on
    the dependent speeds, and J without the other columns.
    """
    J_d = jnp.where(dependent[None, :], J, 0.0)
    return Deflated().particular(jnp.eye(J.shape[1]), J_d, jnp.zeros(J.shape[1]), -residual, null).a


def _smallest_value(J, dependent, null: NullSpace) -> Float[Array, ""]:
    """Smallest eigenvalue of J_d J_d' that is not null, with rows of unit length."""
    scale = jnp.sqrt(jnp.sum(J**2, axis=1))
    J_d = jnp.where(dependent[None, :], J, 0.0) / jnp.where(scale > 0, scale, 1.0)[:, None]
    eigenvalues = jnp.linalg.eigvalsh(J_d @ J_d.T)
    count = null.deficiency
    return jnp.where(jnp.arange(eigenvalues.size) == count, eigenvalues, jnp.inf).min(initial=jnp.inf)
