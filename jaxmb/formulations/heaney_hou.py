"""The projection method of Heaney and Hou."""

from typing import ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..status import Status
from .base import RANK_TOLERANCE, Accel, Formulation, first_failure
from .conditioning import factor, invert_kept


class HeaneyHou(Formulation):
    """a = M^-1 (P Q + J' S^+ gamma), P = I - J' S^+ J M^-1, S = J M^-1 J', lam = S^+ (J M^-1 Q - gamma).

    Newhart 2019, eq. 36 to 49, with the signs of gamma put right in eq. 44, 47 and 48, and S^+ for S^-1 so that
    dependent rows are allowed. P takes from the applied forces the part that the constraints carry.
    Use it to compare; LeastSquares1 gives the same with less work. Not with Euler parameters (M is singular).
    """

    tolerates_redundancy: ClassVar[bool] = True
    tolerates_singular_mass: ClassVar[bool] = False

    def _solve(
        self, M: Float[Array, "n n"], J: Float[Array, "m n"], Q: Float[Array, " n"], gamma: Float[Array, " m"]
    ) -> Accel:
        L, regular = factor(M)
        X = jax.scipy.linalg.cho_solve((L, True), J.T)  # M^-1 J'
        S, U = jnp.linalg.eigh(J @ X)
        S_inv = invert_kept(S, RANK_TOLERANCE**2)

        def S_pinv(x):
            return U @ (S_inv * (U.T @ x))

        PQ = Q - J.T @ S_pinv(X.T @ Q)
        a = jax.scipy.linalg.cho_solve((L, True), PQ + J.T @ S_pinv(gamma))
        lam = S_pinv(X.T @ Q - gamma)
        status = first_failure((regular, Status.singular_mass))
        return Accel(a, lam, status)
