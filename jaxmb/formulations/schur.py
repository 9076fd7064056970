"""Block inverse of the augmented matrix."""

from typing import ClassVar

import jax
from jaxtyping import Array, Float

from ..status import Status
from .base import RANK_TOLERANCE, Accel, Formulation, first_failure
from .conditioning import factor


class Schur(Formulation):
    """S = J M^-1 J', lam = S^-1 (J M^-1 Q - gamma), a = M^-1 (Q - J' lam).

    Pekal & Fraczek 2016, eq. 12, 13 and 16. Use it for a regular M and independent rows, where two Cholesky
    factorizations make it the fastest; not for dependent rows (S is singular) or Euler parameters (M is).
    """

    tolerates_redundancy: ClassVar[bool] = False
    tolerates_singular_mass: ClassVar[bool] = False

    def _solve(
        self, M: Float[Array, "n n"], J: Float[Array, "m n"], Q: Float[Array, " n"], gamma: Float[Array, " m"]
    ) -> Accel:
        L, regular = factor(M)
        a_f = jax.scipy.linalg.cho_solve((L, True), Q)
        D = jax.scipy.linalg.solve_triangular(L, J.T, lower=True).T
        L_S, independent = factor(D @ D.T, RANK_TOLERANCE**2)
        lam = jax.scipy.linalg.cho_solve((L_S, True), J @ a_f - gamma)
        a = a_f - jax.scipy.linalg.solve_triangular(L, D.T @ lam, lower=True, trans="T")
        status = first_failure((regular, Status.singular_mass), (independent, Status.redundant))
        return Accel(a, lam, status)
