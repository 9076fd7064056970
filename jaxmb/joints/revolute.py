"""A hinge."""

from typing import ClassVar

import jax.numpy as jnp

from ..spatial import angle_about_z
from .base import Joint
from .primitives import coincide, parallel1


class Revolute(Joint):
    """The bodies share a point and an axis: one rotation is left."""

    rows: ClassVar[tuple[str, ...]] = ("x", "y", "z", "tilt_x", "tilt_y")
    coordinates: ClassVar[tuple[str, ...]] = ("angle",)

    def residual(self, F, G, t):
        return jnp.concatenate([coincide(F, G), parallel1(F, G)])

    def measure(self, F, G):
        return angle_about_z(F.R.T @ G.R)[None]
