"""A face that slides on a plane."""

from typing import ClassVar

import jax.numpy as jnp

from .base import Joint
from .primitives import angle, parallel1, perpendicular2


class PlanarJoint(Joint):
    """The bodies share a plane with the normal `axis`: two translations in it and the rotation about its normal are
    left."""

    rows: ClassVar[tuple[str, ...]] = ("z", "tilt_x", "tilt_y")
    coordinates: ClassVar[tuple[str, ...]] = ("x", "y", "angle")

    def residual(self, F, G, t):
        return jnp.concatenate([perpendicular2(F.z, F, G), parallel1(F, G)])

    def measure(self, F, G):
        x, y = perpendicular2(F.x, F, G), perpendicular2(F.y, F, G)
        return jnp.concatenate([x, y, angle(F, G)[None]])
