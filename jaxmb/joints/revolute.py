"""A hinge."""

from typing import ClassVar

import jax.numpy as jnp

from .base import Joint
from .primitives import angle, coincide, parallel1


class Revolute(Joint):
    """The bodies share a point and an axis: one rotation is left."""

    rows: ClassVar[tuple[str, ...]] = ("x", "y", "z", "tilt_x", "tilt_y")
    coordinates: ClassVar[tuple[str, ...]] = ("angle",)

    def residual(self, F, G, t):
        return jnp.concatenate([coincide(F, G), parallel1(F, G)])

    def measure(self, F, G):
        return angle(F, G)[None]
