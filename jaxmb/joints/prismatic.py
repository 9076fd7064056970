"""A slider."""

from typing import ClassVar

import jax.numpy as jnp

from .base import Joint
from .primitives import parallel1, parallel2, perpendicular1, perpendicular2


class Prismatic(Joint):
    """The bodies slide along an axis without turning: one translation is left."""

    rows: ClassVar[tuple[str, ...]] = ("x", "y", "tilt_x", "tilt_y", "turn")
    coordinates: ClassVar[tuple[str, ...]] = ("distance",)

    def residual(self, F, G, t):
        return jnp.concatenate([parallel2(F, G), parallel1(F, G), perpendicular1(F.x, G.y)])

    def measure(self, F, G):
        return perpendicular2(F.z, F, G)
