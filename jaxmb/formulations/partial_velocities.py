"""The partial velocity matrix transformation of Park, Yoo and Hwang."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..status import Status
from .base import Accel, first_failure
from .conditioning import MASS_TOLERANCE, magnitude
from .null_space import NullSpaceFormulation, partial_velocities
from .pivoting import full_pivoting


class PartialVelocities(NullSpaceFormulation):
    """[B' M; J] a = [B' Q; gamma] with v = B v_i, B = [-J_d^-1 J_i; I]; J_d' lam = (Q - M a)_d.

    Park, Yoo & Hwang 2000, eq. 16 to 24 (eq. 20 prints R' for B', eq. 22 lost its dots), Kane's equations with the
    constraints kept; i and d by full pivoting (eq. 11 to 15). Redundant rows are condensed to V' J, J_d = V R, not
    dropped. Use it for any rank and any M; the number of degrees of freedom must be known.
    """

    def _solve(
        self, M: Float[Array, "n n"], J: Float[Array, "m n"], Q: Float[Array, " n"], gamma: Float[Array, " m"]
    ) -> Accel:
        rank = self._rank(Q)
        found = full_pivoting(J)
        d, i = found.columns[:rank], found.columns[rank:]
        B, V, R = partial_velocities(J, d, i)
        mu, nu = magnitude(M), magnitude(J)
        A = jnp.concatenate([B.T @ M / mu, V.T @ J / nu])
        lu, order = jax.scipy.linalg.lu_factor(A)
        a = jax.scipy.linalg.lu_solve((lu, order), jnp.concatenate([B.T @ Q / mu, V.T @ gamma / nu]))
        lam = V @ jax.scipy.linalg.solve_triangular(R, (Q - M @ a)[d], trans="T")
        pivots = jnp.abs(jnp.diag(lu))
        unique = jnp.all(pivots > MASS_TOLERANCE * jnp.max(pivots))
        status = first_failure((found.rank == rank, Status.rank_change), (unique, Status.not_unique))
        return Accel(a, lam, status)
