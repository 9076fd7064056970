"""A ball joint."""

from typing import ClassVar

from .base import Joint
from .primitives import coincide


class Spherical(Joint):
    """The bodies share a point: three rotations are left."""

    rows: ClassVar[tuple[str, ...]] = ("x", "y", "z")

    def residual(self, F, G, t):
        return coincide(F, G)
