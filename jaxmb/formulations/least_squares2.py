"""The second least-squares block inverse of the augmented matrix, for a singular mass matrix."""

from typing import ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Float

from ..status import Status
from .base import RANK_TOLERANCE, Accel, Formulation, first_failure
from .conditioning import MASS_TOLERANCE, magnitude


class LeastSquares2(Formulation):
    """a = Z Q + (J^+ - Z R) gamma, lam = ((J^+)' - R' Z) (Q - R gamma), R = M J^+, Z = (E M E)^+, E = I - J^+ J.

    Pekal & Fraczek 2016, eq. 30 to 34 (E is not zero for full row rank, as they say after eq. 31: its trace is the
    number of degrees of freedom). Use it for dependent rows together with a singular M, as with Euler parameters.
    Two pseudoinverses: not the fastest where UdwadiaKalaba works.
    """

    tolerates_redundancy: ClassVar[bool] = True
    tolerates_singular_mass: ClassVar[bool] = True

    def _solve(
        self, M: Float[Array, "n n"], J: Float[Array, "m n"], Q: Float[Array, " n"], gamma: Float[Array, " m"]
    ) -> Accel:
        J_pinv = jnp.linalg.pinv(J, rtol=RANK_TOLERANCE)
        E = jnp.eye(len(Q)) - J_pinv @ J
        R = M @ J_pinv
        EME = E @ M @ E
        # Relative to M, not to E M E: of that only rounding is left without degrees of freedom.
        rtol = MASS_TOLERANCE * magnitude(M) / magnitude(EME)
        Z = jnp.linalg.pinv(EME, rtol=rtol, hermitian=True)
        a = Z @ Q + J_pinv @ gamma - Z @ (R @ gamma)
        f = Q - R @ gamma
        lam = J_pinv.T @ f - R.T @ (Z @ f)
        # Traces of projectors count dimensions: every free motion (E) must have inertia (Z E M E).
        unique = jnp.abs(jnp.trace(E) - jnp.sum(Z * EME.T)) < 0.5
        status = first_failure((unique, Status.not_unique))
        return Accel(a, lam, status)
