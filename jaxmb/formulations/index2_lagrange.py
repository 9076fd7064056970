"""The index-2 Lagrange system."""

from typing import ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Float

from .base import RANK_TOLERANCE, RateFormulation, Rates
from .kkt_pinv import KKTPinv


class Index2Lagrange(RateFormulation):
    """M a + J' lam = Q, J a = gamma;  v + dv + J' lam_g = v, J (v + dv) = -Phi_t, so dv = -J^+ Phi_dot.

    Newhart 2019, eq. 53 to 55 (after Gear, Gupta and Leimkuhler): positions move with the velocity nearest to `v`
    that the constraints allow. The system of 2n + 2m equations falls apart in these two; both take the Moore-Penrose
    inverse, so rows may be dependent and M singular. a and lam are those of KKTPinv, lam_g is not returned.
    Use it where the drift of positions must not feed on that of velocities; two pseudoinverses make it slow.
    """

    tolerates_redundancy: ClassVar[bool] = True
    tolerates_singular_mass: ClassVar[bool] = True

    def _rates(
        self,
        M: Float[Array, "n n"],
        J: Float[Array, "m n"],
        Q: Float[Array, " n"],
        gamma: Float[Array, " m"],
        Phi: Float[Array, " m"],
        Phi_dot: Float[Array, " m"],
    ) -> Rates:
        accel = KKTPinv().solve(M, J, Q, gamma)
        dv = -jnp.linalg.pinv(J, rtol=RANK_TOLERANCE) @ Phi_dot
        return Rates(dv, accel.a, accel.lam, accel.status)
