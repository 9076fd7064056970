"""The augmented Lagrangian iteration of Bayo and Avello."""

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, ScalarLike

from ..status import Status
from .base import RANK_TOLERANCE, Accel, Formulation, first_failure, require_positive
from .conditioning import ROUNDING, factor, magnitude, penalty


class AugmentedLagrangian(Formulation):
    """(M + alpha J'J) a_k+1 = M a_k + alpha J' gamma, lam_k+1 = lam_k + alpha (J a_k+1 - gamma).

    Carvalho 2022, eq. 16 and algorithm 2, without its omega and mu terms: stabilization enters through gamma. Solved
    for the change of a with M a_k = Q - J' lam_k, which needs no start M a_0 = Q (impossible for a singular M) and
    keeps round-off from growing with alpha and with every iteration. Exact to `tolerance`. Use it for any J and M
    without a pseudoinverse; not where inertias differ by more than 1e8 (refused: not unique to rounding).
    """

    alpha: ScalarLike | None = None
    """Penalty in units of M / J^2. None: 1e6 times the largest entry of M over that of J squared."""
    tolerance: ScalarLike = 1e-12
    """Allowed error of the constraint force, relative to the forces."""
    max_iterations: int = eqx.field(static=True, default=50)

    tolerates_redundancy: ClassVar[bool] = True
    tolerates_singular_mass: ClassVar[bool] = True

    def __check_init__(self):
        for name in ("alpha", "tolerance", "max_iterations"):
            require_positive(self, name, getattr(self, name))

    def _solve(
        self, M: Float[Array, "n n"], J: Float[Array, "m n"], Q: Float[Array, " n"], gamma: Float[Array, " m"]
    ) -> Accel:
        alpha = penalty(self.alpha, 1e6, M, J)
        H = M + alpha * J.T @ J
        L, unique = factor(H, ROUNDING, magnitude(H))

        def iterate(carry):
            k, a, lam, previous, _ = carry
            violation = J @ a - gamma
            da = jax.scipy.linalg.cho_solve((L, True), Q - M @ a - J.T @ (lam + alpha * violation))
            dlam = alpha * (violation + J @ da)
            a, lam, change = a + da, lam + dlam, jnp.linalg.norm(J.T @ dlam)
            allowed = self.tolerance * (jnp.linalg.norm(Q) + jnp.linalg.norm(J.T @ lam))
            # Changes shrink by a factor, so those to come sum to change^2 / (previous - change). What is left of dlam
            # when J' dlam is no force lies in dependent rows whose gamma does not quite fit, and would never end.
            converged = change**2 <= allowed * (previous - change)
            forceless = change <= RANK_TOLERANCE * jnp.linalg.norm(J) * jnp.linalg.norm(dlam)
            return k + 1, a, lam, change, converged | forceless

        start = (0, jnp.zeros_like(Q), jnp.zeros_like(gamma), jnp.zeros(()), jnp.array(False))
        _, a, lam, _, converged = jax.lax.while_loop(lambda c: ~c[-1] & (c[0] < self.max_iterations), iterate, start)
        status = first_failure((unique, Status.not_unique), (converged, Status.not_converged))
        return Accel(a, lam, status)
