"""Joints that are locked or released on the way."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..terms import Equations


class Mode(eqx.Module):
    """Which constraint rows hold now. A row that does not is a row of zeros, which counts as redundant, so nothing changes its
    shape; a row that was locked on the way holds the value it had then."""

    active: Float[Array, "*batch m"]
    """1 for rows that hold, 0 for the others."""
    held: Float[Array, "*batch m"]
    """What Phi is held at (m, rad)."""


def all_active(rows: int) -> Mode:
    """Every row as it is written."""
    return Mode(jnp.ones(rows), jnp.zeros(rows))


class Moded(Equations):
    """Equations with the rows that hold in a mode."""

    inner: Equations
    mode: Mode

    @property
    def row_names(self):
        return self.inner.row_names

    @property
    def speed_names(self):
        return self.inner.speed_names

    @property
    def rheonomic(self):
        return self.inner.rheonomic

    def terms(self, t, q, v):
        terms, on = self.inner.terms(t, q, v), self.mode.active
        rows = (on * (terms.Phi - self.mode.held), on[:, None] * terms.J, on * terms.Phi_dot, on * terms.gamma)
        return eqx.tree_at(lambda x: (x.Phi, x.jacobian, x.Phi_dot, x.gamma), terms, rows)

    def qdot(self, q, v):
        return self.inner.qdot(q, v)

    def retract(self, q, dv):
        return self.inner.retract(q, dv)

    def regularity(self, q):
        return self.inner.regularity(q)

    def energies(self, q, v):
        return self.inner.energies(q, v)
