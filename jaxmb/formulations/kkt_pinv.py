"""The augmented matrix with the Moore-Penrose inverse."""

from typing import ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Float

from ..status import Status
from .base import RANK_TOLERANCE, Accel, Formulation, first_failure
from .conditioning import magnitude


class KKTPinv(Formulation):
    """[a; lam] = [M J'; J 0]^+ [Q; gamma], lam of minimum norm.

    Pekal & Fraczek 2016, eq. 11. Use it as the plainest reference for any rank and a singular M; not for speed (it
    decomposes the largest matrix of all formulations).
    """

    tolerates_redundancy: ClassVar[bool] = True
    tolerates_singular_mass: ClassVar[bool] = True

    def _solve(
        self, M: Float[Array, "n n"], J: Float[Array, "m n"], Q: Float[Array, " n"], gamma: Float[Array, " m"]
    ) -> Accel:
        m, n = J.shape
        # A small singular value sigma of J appears in K as sigma^2 / inertia. Speeds are scaled by d to make inertias
        # alike (as far as Euler parameters, some without inertia, allow), rows only by one nu: lam is minimum norm.
        d = 1 / jnp.sqrt(jnp.maximum(jnp.diag(M), 1e-4 * magnitude(M)))
        nu = magnitude(J * d[None, :])
        M, J = d[:, None] * M * d[None, :], J * d[None, :] / nu
        K = jnp.block([[M, J.T], [J, jnp.zeros((m, m))]])
        K_pinv = jnp.linalg.pinv(K, rtol=RANK_TOLERANCE**2, hermitian=True)
        a, lam = jnp.split(K_pinv @ jnp.concatenate([d * Q, gamma / nu]), [n])
        # K^+ K projects on the row space of K; its trace over the accelerations counts those that are determined.
        determined = jnp.sum(K_pinv[:n] * K[:, :n].T)
        status = first_failure((determined > n - 0.5, Status.not_unique))
        return Accel(d * a, lam / nu, status)
