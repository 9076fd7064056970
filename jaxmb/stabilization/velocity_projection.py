"""Speeds on the constraints at every evaluation; positions drift."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from ..errors import ModelError
from ..formulations.deflated import Deflated
from .base import Stabilization


class VelocityProjection(Stabilization):
    """The right-hand side is evaluated at speeds that satisfy Phi_dot = 0: v + dv with the smallest dv, J dv = -Phi_dot.

    Kurz, Burkhardt & Eberhard 2011, eq. 29 and 30 (with -J^+ Phi_t for their theta): positions then drift only by the
    error of the integrator. `independent` are the indices of speeds that are kept while the others follow (eq. 11 to 18); they
    fail where the mechanism turns over. By default all speeds move. For comparison with that paper; `Projection` restores
    the positions too.
    """

    independent: tuple[int, ...] | None = eqx.field(static=True, default=None)

    def __check_init__(self):
        if self.independent is not None and len(set(self.independent)) != len(self.independent):
            raise ModelError(f"VelocityProjection has independent={self.independent}, in which an index is repeated.")

    def field(self, equations, t, q, v, null, memory):
        terms = equations.terms(t, q, v)
        J = terms.J
        if self.independent is not None:
            if not set(self.independent) <= set(range(v.size)):
                raise ModelError(
                    f"VelocityProjection has independent={self.independent}, but the speeds are 0 to {v.size - 1}."
                )
            J = J * np.array([[k not in self.independent for k in range(v.size)]])
        dv = Deflated().particular(jnp.eye(v.size), J, jnp.zeros_like(v), -terms.Phi_dot, null).a
        return q, v + dv
