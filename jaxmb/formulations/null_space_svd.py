"""Automatic separation of the free motions by SVD."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from ..status import Status
from .base import Accel, first_failure
from .null_space import NullSpaceFormulation, reduced_accelerations
from .pivoting import count_rank


class NullSpaceSVD(NullSpaceFormulation):
    """J' = [U1 B] [S 0; 0 0] [V1 V2]', gam = U1 S^-1 V1' gamma, a = B (B' M B)^-1 B' (Q - M gam) + gam.

    Kurz, Burkhardt & Eberhard 2011, eq. 25 to 31 (their eq. 28 prints V^-T for V'); the same factors give
    lam = V1 S^-1 U1' (Q - M a), of minimum norm. Use it for any rank and any M, where robust matters more than fast;
    the number of degrees of freedom must be known.
    """

    def _solve(
        self, M: Float[Array, "n n"], J: Float[Array, "m n"], Q: Float[Array, " n"], gamma: Float[Array, " m"]
    ) -> Accel:
        rank = self._rank(Q)
        U, S, Vt = jnp.linalg.svd(J.T, full_matrices=True)
        U1, B, V1 = U[:, :rank], U[:, rank:], Vt[:rank].T
        gam = U1 @ ((V1.T @ gamma) / S[:rank])
        a, unique = reduced_accelerations(M, Q, B, gam)
        lam = V1 @ ((U1.T @ (Q - M @ a)) / S[:rank])
        status = first_failure((count_rank(S) == rank, Status.rank_change), (unique, Status.not_unique))
        return Accel(a, lam, status)
