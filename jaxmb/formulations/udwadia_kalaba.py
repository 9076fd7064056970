"""Udwadia and Kalaba's equations of motion."""

from typing import ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..status import Status
from .base import RANK_TOLERANCE, Accel, Formulation, first_failure
from .conditioning import factor, invert_kept


class UdwadiaKalaba(Formulation):
    """a = a_f + M^-1/2 D^+ (gamma - J a_f), lam = (D D')^+ (J a_f - gamma), with a_f = M^-1 Q, D = J M^-1/2.

    Pekal & Fraczek 2016, eq. 14 to 24, with M = L L' and M^-1/2 = L^-T (their eq. 21 needs M^-1 = M^-1/2 (M^-1/2)').
    Use it for dependent rows with a regular M; not with Euler parameters, whose M is singular.
    """

    tolerates_redundancy: ClassVar[bool] = True
    tolerates_singular_mass: ClassVar[bool] = False

    def _solve(
        self, M: Float[Array, "n n"], J: Float[Array, "m n"], Q: Float[Array, " n"], gamma: Float[Array, " m"]
    ) -> Accel:
        L, regular = factor(M)
        a_f = jax.scipy.linalg.cho_solve((L, True), Q)
        D = jax.scipy.linalg.solve_triangular(L, J.T, lower=True).T
        U, S, Vt = jnp.linalg.svd(D, full_matrices=False)  # D^+ = V S^-1 U'
        S_inv = invert_kept(S, RANK_TOLERANCE)
        z = S_inv * (U.T @ (gamma - J @ a_f))
        a = a_f + jax.scipy.linalg.solve_triangular(L, Vt.T @ z, lower=True, trans="T")
        lam = -U @ (S_inv * z)
        status = first_failure((regular, Status.singular_mass))
        return Accel(a, lam, status)
