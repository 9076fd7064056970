"""Weight."""

import equinox as eqx
import jax.numpy as jnp

from ..body import vector
from ..spatial import Vec3


class Gravity(eqx.Module):
    """The same acceleration (m/s2, world axes) for every body."""

    acceleration: Vec3

    def __init__(self, acceleration=(0.0, 0.0, -9.81)):
        self.acceleration = vector(acceleration, "Gravity")


def total(gravities) -> Vec3:
    """The sum of several gravity elements."""
    return sum((g.acceleration for g in gravities), jnp.zeros(3))
