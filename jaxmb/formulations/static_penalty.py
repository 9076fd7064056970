"""The penalty method on accelerations."""

from typing import ClassVar

import jax
from jaxtyping import Array, Float, ScalarLike

from ..status import Status
from .base import Accel, Formulation, first_failure, require_positive
from .conditioning import ROUNDING, factor, magnitude, penalty


class StaticPenalty(Formulation):
    """(M + mu J'J) a = Q + mu J' gamma, lam = mu (J a - gamma).

    Newhart 2019, eq. 71 (with stabilized gamma: eq. 72). The error is proportional to 1/mu until round-off, which
    grows with mu, takes over. Use it to compare with penalty codes; for results use an exact formulation.
    """

    mu: ScalarLike | None = None
    """Penalty in units of M / J^2. None: Newhart's rule, 1e5 times the largest entry of M (over that of J squared)."""

    exact: ClassVar[bool] = False
    gives_multipliers: ClassVar[bool] = False
    tolerates_redundancy: ClassVar[bool] = True
    tolerates_singular_mass: ClassVar[bool] = True

    def __check_init__(self):
        require_positive(self, "mu", self.mu)

    def _solve(
        self, M: Float[Array, "n n"], J: Float[Array, "m n"], Q: Float[Array, " n"], gamma: Float[Array, " m"]
    ) -> Accel:
        mu = penalty(self.mu, 1e5, M, J)
        H = M + mu * J.T @ J
        L, unique = factor(H, ROUNDING, magnitude(H))
        a = jax.scipy.linalg.cho_solve((L, True), Q + mu * J.T @ gamma)
        status = first_failure((unique, Status.not_unique))
        return Accel(a, mu * (J @ a - gamma), status)
