"""A pin between two planar bodies."""

from typing import ClassVar

from .base import Joint
from .primitives import angle, coincide


class PlanarRevolute(Joint):
    """Two planar bodies share a point of the plane z = 0."""

    rows: ClassVar[tuple[str, ...]] = ("x", "y")
    coordinates: ClassVar[tuple[str, ...]] = ("angle",)

    def __init__(self, first: str, second: str, *, point=None, at=None, to=None):
        super().__init__(first, second, point=point, at=at, to=to)

    def residual(self, F, G, t):
        return coincide(F, G)[:2]

    def measure(self, F, G):
        return angle(F, G)[None]
