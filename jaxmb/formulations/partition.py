"""Separation of the speeds in independent and dependent ones."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..status import Status
from .base import Accel, Formulation, first_failure
from .null_space import NullSpaceFormulation, partial_velocities, reduced_accelerations
from .pivoting import full_pivoting


class Partition(NullSpaceFormulation):
    """B = [I; -J_d^-1 J_i], gam = [0; J_d^-1 gamma], a = B (B' M B)^-1 B' (Q - M gam) + gam, J_d' lam = (Q - M a)_d.

    Kurz, Burkhardt & Eberhard 2011, eq. 11 to 18, with J_d^+ for J_d^-1 so that rows may be dependent. Use it with
    speeds chosen by hand that stay independent all the way, or with the automatic choice at each instant; not by hand
    where the mechanism turns over, for J_d becomes singular there.
    """

    independent: tuple[int, ...] | None = eqx.field(static=True, default=None)
    """Indices of the independent speeds. None: those that full pivoting leaves over, at each instant."""

    def __init__(self, independent: tuple[int, ...] | None = None, *, dof: int | None = None):
        self.independent = independent
        self.dof = dof if independent is None or dof is not None else len(independent)

    def _fix_shapes(self, J: Float[Array, "m n"]) -> Formulation:
        n, chosen = J.shape[1], self.independent
        if chosen is not None and not len(set(chosen) & set(range(n))) == len(chosen) == self.dof:
            raise ValueError(
                f"Partition(independent={chosen}, dof={self.dof}) needs one index of the {n} speeds for each degree of "
                f"freedom, but an index is repeated or not in 0..{n - 1}, or dof is another number. Correct the "
                "indices and leave dof out."
            )
        return super()._fix_shapes(J)

    def _solve(
        self, M: Float[Array, "n n"], J: Float[Array, "m n"], Q: Float[Array, " n"], gamma: Float[Array, " m"]
    ) -> Accel:
        rank = self._rank(Q)
        found = full_pivoting(J)
        d, i = found.columns[:rank], found.columns[rank:]
        checks = [(found.rank == rank, Status.rank_change)]
        if self.independent is not None:
            i = jnp.array(self.independent, int)
            d = jnp.array(np.setdiff1d(np.arange(len(Q)), self.independent))
            checks += [(full_pivoting(J[:, d]).rank == rank, Status.singular_configuration)]
        B, V, R = partial_velocities(J, d, i)
        gam = jnp.zeros_like(Q).at[d].set(jax.scipy.linalg.solve_triangular(R, V.T @ gamma))
        a, unique = reduced_accelerations(M, Q, B, gam)
        lam = V @ jax.scipy.linalg.solve_triangular(R, (Q - M @ a)[d], trans="T")
        status = first_failure(*checks, (unique, Status.not_unique))
        return Accel(a, lam, status)
