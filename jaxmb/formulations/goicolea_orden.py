"""The index-3 penalty of Goicolea and Orden."""

from typing import ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, ScalarLike

from ..status import Status
from .base import RateFormulation, Rates, first_failure, require_positive
from .conditioning import factor, penalty


class GoicoleaOrden(RateFormulation):
    """M a = Q - mu J' Phi, dv = 0, lam = mu Phi: every constraint is a spring.

    Newhart 2019, eq. 50 to 52. The motion vibrates around the constraints with frequencies of sqrt(mu J M^-1 J'), and
    its error is proportional to 1/mu. gamma and Phi_dot are not used, so stabilization has no effect.
    Use it to compare with penalty codes; not for accuracy, and not with Euler parameters (M is singular).
    """

    mu: ScalarLike | None = None
    """Stiffness in units of M / J^2 per second squared. None: 1e5 times the largest entry of M (over J squared)."""

    exact: ClassVar[bool] = False
    gives_multipliers: ClassVar[bool] = False
    tolerates_redundancy: ClassVar[bool] = True
    tolerates_singular_mass: ClassVar[bool] = False

    def __check_init__(self):
        require_positive(self, "mu", self.mu)

    def _rates(
        self,
        M: Float[Array, "n n"],
        J: Float[Array, "m n"],
        Q: Float[Array, " n"],
        gamma: Float[Array, " m"],
        Phi: Float[Array, " m"],
        Phi_dot: Float[Array, " m"],
    ) -> Rates:
        mu = penalty(self.mu, 1e5, M, J)
        lam = mu * Phi
        L, regular = factor(M)
        a = jax.scipy.linalg.cho_solve((L, True), Q - J.T @ lam)
        status = first_failure((regular, Status.singular_mass))
        return Rates(jnp.zeros_like(Q), a, lam, status)
