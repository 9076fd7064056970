"""Udwadia and Phohomsiri's equations of motion, for a singular mass matrix and constraint forces that do work."""

from collections.abc import Callable
from typing import ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Float

from ..status import Status
from .base import RANK_TOLERANCE, Accel, Formulation, first_failure
from .conditioning import MASS_TOLERANCE, magnitude


class UdwadiaPhohomsiri(Formulation):
    """a = [E M; J]^+ [E (Q + C); gamma], E = I - J^+ J; all constraint forces together are W = M a - Q.

    Pekal & Fraczek 2016, eq. 35 to 43. C is the generalized force of constraints that do work (friction); for ideal
    ones C = 0 and W = -J' lam. Use it for dependent rows together with a singular M, or for C. Not the fastest.
    """

    nonideal: Callable | None = None
    """C as a function (t, q, v) -> generalized force. The caller, who knows them, gives its value to `solve`."""

    tolerates_redundancy: ClassVar[bool] = True
    tolerates_singular_mass: ClassVar[bool] = True

    def solve(
        self,
        M: Float[Array, "n n"],
        J: Float[Array, "m n"],
        Q: Float[Array, " n"],
        gamma: Float[Array, " m"],
        C: Float[Array, " n"] | None = None,
    ) -> Accel:
        """M a + J' lam = Q + C, J a = gamma: lam is the ideal part of the constraint forces, W = C - J' lam."""
        return super().solve(M, J, Q if C is None else Q + C, gamma)

    def _solve(
        self, M: Float[Array, "n n"], J: Float[Array, "m n"], Q: Float[Array, " n"], gamma: Float[Array, " m"]
    ) -> Accel:
        J_pinv = jnp.linalg.pinv(J, rtol=RANK_TOLERANCE)
        E = jnp.eye(len(Q)) - J_pinv @ J
        mu, nu = magnitude(M), magnitude(J)  # blocks in any units weigh the same; the solution does not change
        M_bar = jnp.concatenate([E @ M / mu, J / nu])
        M_bar_pinv = jnp.linalg.pinv(M_bar, rtol=MASS_TOLERANCE)
        a = M_bar_pinv @ jnp.concatenate([E @ Q / mu, gamma / nu])
        lam = J_pinv.T @ (Q - M @ a)
        unique = jnp.sum(M_bar_pinv * M_bar.T) > len(Q) - 0.5  # the trace of M_bar^+ M_bar is the rank
        status = first_failure((unique, Status.not_unique))
        return Accel(a, lam, status)
