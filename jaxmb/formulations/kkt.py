"""The augmented (KKT) matrix, solved directly."""

from typing import ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..status import Status
from .base import RANK_TOLERANCE, Accel, Formulation, first_failure
from .conditioning import magnitude


class KKT(Formulation):
    """[M J'; J 0] [a; lam] = [Q; gamma] by LU.

    Pekal & Fraczek 2016, eq. 8 and 10; Park, Yoo & Hwang 2000, eq. 15; Carvalho 2022, eq. 8 (lam there has the other
    sign); Newhart 2019, eq. 21; Kurz, Burkhardt & Eberhard 2011, eq. 8 (other sign).
    Use it for independent rows, also with a singular M that is positive definite on the null space of J. Not for
    dependent rows: LU would return the right `a` with arbitrary `lam` and no NaN, so they are refused.
    """

    tolerates_redundancy: ClassVar[bool] = False
    tolerates_singular_mass: ClassVar[bool] = True

    def _solve(
        self, M: Float[Array, "n n"], J: Float[Array, "m n"], Q: Float[Array, " n"], gamma: Float[Array, " m"]
    ) -> Accel:
        m, n = J.shape
        # Speeds are scaled by d and rows by s, so that the pivots tell the rank in any units. M alone cannot scale the
        # speeds: the inertia of an Euler parameter may be anything down to zero.
        mu, nu = magnitude(M), magnitude(J)
        d = 1 / jnp.sqrt(jnp.diag(M) / mu + jnp.sum(J**2, axis=0) / nu**2)
        norms = jnp.linalg.norm(J / nu * d[None, :], axis=1)
        s = 1 / jnp.where(norms > 0, norms, 1.0)
        scale = jnp.concatenate([d, s])
        K = jnp.block([[M / mu, J.T / nu], [J / nu, jnp.zeros((m, m))]])
        lu, order = jax.scipy.linalg.lu_factor(scale[:, None] * K * scale[None, :])
        x = scale * jax.scipy.linalg.lu_solve((lu, order), scale * jnp.concatenate([Q / mu, gamma / nu]))
        a, lam = jnp.split(x, [n])
        # A negligible pivot says that its column depends on those before it: [M; J] lacks column rank if it is one of
        # the first n, and J lacks row rank if it is a later one.
        pivots = jnp.abs(jnp.diag(lu))
        regular = pivots > RANK_TOLERANCE**2 * jnp.max(pivots)
        status = first_failure((jnp.all(regular[:n]), Status.not_unique), (jnp.all(regular[n:]), Status.redundant))
        return Accel(a, lam * mu / nu, status)
