"""Automatic separation of the free motions by QR."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..status import Status
from .base import Accel, first_failure
from .null_space import NullSpaceFormulation, reduced_accelerations
from .pivoting import count_rank


class NullSpaceQR(NullSpaceFormulation):
    """J' P = [Q1 B] [R; 0], gam = Q1 (J Q1)^+ gamma, a = B (B' M B)^-1 B' (Q - M gam) + gam.

    Kurz, Burkhardt & Eberhard 2011, eq. 20 to 24 and 29 to 31, with pivoting P and (J Q1)^+ for R^-T, because without
    them redundant rows make R singular; the same factors give lam = (Q1' J')^+ Q1' (Q - M a), of minimum norm.
    Use it for few degrees of freedom and any M; the number must be known.
    """

    def _solve(
        self, M: Float[Array, "n n"], J: Float[Array, "m n"], Q: Float[Array, " n"], gamma: Float[Array, " m"]
    ) -> Accel:
        rank = self._rank(Q)
        basis, R, _ = jax.scipy.linalg.qr(J.T, mode="full", pivoting=True)
        Q1, B = basis[:, :rank], basis[:, rank:]
        V, R1 = jnp.linalg.qr(J @ Q1)
        gam = Q1 @ jax.scipy.linalg.solve_triangular(R1, V.T @ gamma)
        a, unique = reduced_accelerations(M, Q, B, gam)
        lam = V @ jax.scipy.linalg.solve_triangular(R1, Q1.T @ (Q - M @ a), trans="T")
        same_rank = count_rank(jnp.abs(jnp.diag(R))) == rank
        status = first_failure((same_rank, Status.rank_change), (unique, Status.not_unique))
        return Accel(a, lam, status)
