"""The index-2 penalty."""

from typing import ClassVar

import jax
from jaxtyping import Array, Float, ScalarLike

from ..status import Status
from .base import RateFormulation, Rates, first_failure, require_positive
from .conditioning import factor, penalty


class Index2Penalty(RateFormulation):
    """M a = Q - mu J' Phi_dot, dv = -mu J' Phi, lam = mu Phi_dot: dampers on velocities, a pull on positions.

    Newhart 2019, eq. 56 to 58, whose eq. 58 prints J for Phi_t (Phi_dot = J v + Phi_t). The motion's error is
    proportional to 1/mu, |Phi| to 1/mu^2; gamma is not used, so stabilization by it has no effect. Stiff: the rates
    mu J M^-1 J' and mu J J' (per second) must be resolved or the solver be implicit.
    Use it to compare with penalty codes; not for accuracy, and not with Euler parameters (M is singular).
    """

    mu: ScalarLike | None = None
    """Penalty in units of M / J^2 per second. None: 1e3 times the largest entry of M (over that of J squared)."""

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
        mu = penalty(self.mu, 1e3, M, J)
        lam = mu * Phi_dot
        L, regular = factor(M)
        a = jax.scipy.linalg.cho_solve((L, True), Q - J.T @ lam)
        status = first_failure((regular, Status.singular_mass))
        return Rates(-mu * J.T @ Phi, a, lam, status)
