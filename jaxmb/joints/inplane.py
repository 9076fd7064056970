"""A point in a plane."""

from typing import ClassVar

import jax.numpy as jnp

from .base import Joint
from .primitives import perpendicular2


class InPlane(Joint):
    """A point of the second body stays in a plane of the first, whose normal is `axis`."""

    rows: ClassVar[tuple[str, ...]] = ("z",)
    coordinates: ClassVar[tuple[str, ...]] = ("x", "y")

    def residual(self, F, G, t):
        return perpendicular2(F.z, F, G)

    def measure(self, F, G):
        return jnp.concatenate([perpendicular2(F.x, F, G), perpendicular2(F.y, F, G)])
