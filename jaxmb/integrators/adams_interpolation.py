"""States between the steps of an Adams method, as accurate as the steps."""

from typing import Any

import diffrax
import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float


class AdamsInterpolation(diffrax.AbstractLocalInterpolation):
    """The polynomial of the step, moved linearly to the state that the step was corrected to."""

    t0: Any
    t1: Any
    y0: Any
    y1: Any
    coefficients: Float[Array, "m n"]
    """Of s, s^2, ... with s from 0 to 1 in the step."""

    def evaluate(self, t0, t1=None, left=True):
        if t1 is not None:
            return jax.tree.map(lambda a, b: a - b, self.evaluate(t1), self.evaluate(t0))
        y0, unravel = ravel_pytree(self.y0)
        y1 = ravel_pytree(self.y1)[0]
        h = self.t1 - self.t0
        s = jnp.where(h == 0, 1.0, (t0 - self.t0) / jnp.where(h == 0, 1.0, h))
        powers_of_s = jnp.cumprod(jnp.full(self.coefficients.shape[0], s))
        correction = y1 - y0 - jnp.sum(self.coefficients, axis=0)
        return unravel(y0 + powers_of_s @ self.coefficients + s * correction)
