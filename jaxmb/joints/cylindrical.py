"""A shaft that turns and slides in a bore."""

from typing import ClassVar

import jax.numpy as jnp

from .base import Joint
from .primitives import angle, parallel1, parallel2, perpendicular2


class Cylindrical(Joint):
    """The bodies share an axis: a rotation about it and a translation along it are left."""

    rows: ClassVar[tuple[str, ...]] = ("x", "y", "tilt_x", "tilt_y")
    coordinates: ClassVar[tuple[str, ...]] = ("angle", "distance")

    def residual(self, F, G, t):
        return jnp.concatenate([parallel2(F, G), parallel1(F, G)])

    def measure(self, F, G):
        return jnp.concatenate([angle(F, G)[None], perpendicular2(F.z, F, G)])
