"""What the formulations that work on the free motions (the null space of J) share."""

import dataclasses
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Bool, Float, Int

from .base import RANK_TOLERANCE, Formulation
from .conditioning import factor, magnitude


class NullSpaceFormulation(Formulation):
    """A formulation whose array shapes depend on the number of degrees of freedom."""

    dof: int | None = eqx.field(static=True, default=None)
    """Number of degrees of freedom (speeds less independent rows). None: found where `solve` is called with known J."""

    tolerates_redundancy: ClassVar[bool] = True
    tolerates_singular_mass: ClassVar[bool] = True
    needs_dof: ClassVar[bool] = True

    def _fix_shapes(self, J: Float[Array, "m n"]) -> Formulation:
        (m, n), name, dof = J.shape, type(self).__name__, self.dof
        if dof is None and isinstance(J, Tracer):
            raise ValueError(
                f"{name}() needs the number of degrees of freedom as a Python int because its array shapes depend on "
                f"it, but it was called inside jit/grad/vmap. Give it: {name}(dof=1); redundancy(system, state).dof "
                "tells the number."
            )
        if dof is None:
            # Entries that are not finite become a status later; here they must only not stop NumPy.
            dof = n - int(np.linalg.matrix_rank(np.nan_to_num(J), rtol=RANK_TOLERANCE)) if m else n
        if not max(n - m, 0) <= dof <= n:
            raise ValueError(
                f"{name}(dof={dof}) was called with {n} speeds and {m} constraint rows, which leave {max(n - m, 0)} to "
                f"{n} degrees of freedom. Give a number in that range; redundancy(system, state).dof tells it."
            )
        return dataclasses.replace(self, dof=dof)

    def _rank(self, Q: Float[Array, " n"]) -> int:
        """Number of independent rows; `_fix_shapes` came before."""
        return len(Q) - self.dof  # pyright: ignore[reportOperatorIssue]


def reduced_accelerations(
    M: Float[Array, "n n"], Q: Float[Array, " n"], B: Float[Array, "n dof"], gam: Float[Array, " n"]
) -> tuple[Float[Array, " n"], Bool[Array, ""]]:
    """a = B (B' M B)^-1 B' (Q - M gam) + gam, and whether it is unique (every free motion B has inertia).

    Kurz, Burkhardt & Eberhard 2011, eq. 29 to 31 (with the sign of M gam put right): J B = 0 and J gam = gamma.
    """
    L, unique = factor(B.T @ M @ B, reference=magnitude(M) * jnp.sum(B**2, axis=0))
    return B @ jax.scipy.linalg.cho_solve((L, True), B.T @ (Q - M @ gam)) + gam, unique


def partial_velocities(
    J: Float[Array, "m n"], d: Int[Array, " r"], i: Int[Array, " dof"]
) -> tuple[Float[Array, "n dof"], Float[Array, "m r"], Float[Array, "r r"]]:
    """B = [-J_d^+ J_i; I], so that v = B v_i for dependent speeds d and independent ones i, and V R = J_d.

    J_d^+ = R^-1 V' with all rows instead of the inverse with some: redundant rows need not be picked and dropped, and
    V R^-T gives multipliers of minimum norm.
    """
    V, R = jnp.linalg.qr(J[:, d])
    B_d = -jax.scipy.linalg.solve_triangular(R, V.T @ J[:, i])
    return jnp.zeros((J.shape[1], len(i))).at[d].set(B_d).at[i].set(jnp.eye(len(i))), V, R
