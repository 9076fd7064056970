"""The first least-squares block inverse of the augmented matrix."""

from typing import ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..status import Status
from .base import RANK_TOLERANCE, Accel, Formulation, first_failure
from .conditioning import factor, invert_kept


class LeastSquares1(Formulation):
    """a = (I - M^-1 J' W J) M^-1 Q + M^-1 J' W gamma, lam = W (J M^-1 Q - gamma), W = (J M^-1 J')^+.

    Pekal & Fraczek 2016, eq. 25 to 29: the Moore-Penrose inverse of the augmented matrix by blocks.
    Use it for dependent rows with a regular M; not with Euler parameters, whose M is singular, and not with very
    unequal masses: J M^-1 J' squares the condition (a spread of 1e7 leaves 7 digits, UdwadiaKalaba 9).
    """

    tolerates_redundancy: ClassVar[bool] = True
    tolerates_singular_mass: ClassVar[bool] = False

    def _solve(
        self, M: Float[Array, "n n"], J: Float[Array, "m n"], Q: Float[Array, " n"], gamma: Float[Array, " m"]
    ) -> Accel:
        L, regular = factor(M)
        a_f = jax.scipy.linalg.cho_solve((L, True), Q)
        X = jax.scipy.linalg.cho_solve((L, True), J.T)  # M^-1 J'
        S, U = jnp.linalg.eigh(J @ X)  # W = U S^-1 U'
        lam = U @ (invert_kept(S, RANK_TOLERANCE**2) * (U.T @ (J @ a_f - gamma)))
        a = a_f - X @ lam
        status = first_failure((regular, Status.singular_mass))
        return Accel(a, lam, status)
