"""Feedback of the violation."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from .base import Stabilization


class Baumgarte(Stabilization):
    """J a = gamma - 2 alpha Phi_dot - beta^2 Phi (1/s): the violation decays instead of drifting; alpha = beta is critical.

    Cheap, but large gains make the problem stiff and small ones leave a violation. [Pekal and Fraczek 2016, eq. 9]
    """

    alpha: Float[Array, ""] = eqx.field(converter=lambda x: jnp.asarray(x, float), default=10.0)
    beta: Float[Array, ""] = eqx.field(converter=lambda x: jnp.asarray(x, float), default=10.0)

    def bias(self, terms):
        return terms.gamma - 2 * self.alpha * terms.Phi_dot - self.beta**2 * terms.Phi
