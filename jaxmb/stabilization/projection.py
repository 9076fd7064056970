"""Back to the manifold after each accepted step."""

from typing import ClassVar

import equinox as eqx
import jax.numpy as jnp

from ..errors import ModelError
from ..formulations.deflated import Deflated
from .base import Corrected, Stabilization


class Projection(Stabilization):
    """Newton steps on the positions, then the speeds, each the smallest that restores the constraints:
    min dv' W dv with J dv = -Phi, then with J dv = -Phi_dot. The weight W is the mass matrix (`weight="mass"`, the change of
    least energy) or the identity (`"identity"`).

    One iteration after each step is enough, because a step leaves a violation of the order of its tolerance, which Newton
    squares. The default: it is the most accurate, and nearly free.
    """

    iterations: int = eqx.field(static=True, default=1)
    weight: str = eqx.field(static=True, default="mass")

    corrects: ClassVar[bool] = True

    def __check_init__(self):
        if self.iterations < 1:
            raise ModelError(
                f"Projection has iterations={self.iterations}; at least 1 is needed, or use NoStabilization()."
            )
        if self.weight not in ("mass", "identity"):
            raise ModelError(f"Projection has weight='{self.weight}', which is neither 'mass' nor 'identity'.")

    def correct(self, equations, t, q, v, terms, null, memory):
        q = equations.retract(q, self._smallest(terms, terms.Phi, null))
        for _ in range(self.iterations - 1):
            terms = equations.terms(t, q, v)
            q = equations.retract(q, self._smallest(terms, terms.Phi, null))
        # J of the last position is near enough for the speeds, whose correction is as small as that of the positions.
        at_end = equations.terms(t, q, v)
        v = v + self._smallest(terms, at_end.Phi_dot, null)
        return Corrected(q, v, memory, jnp.asarray(self.iterations), at_end)

    def _smallest(self, terms, residual, null):
        M = terms.mass if self.weight == "mass" else jnp.eye(terms.Q.size)
        return Deflated().particular(M, terms.jacobian, jnp.zeros_like(terms.Q), -residual, null).a
