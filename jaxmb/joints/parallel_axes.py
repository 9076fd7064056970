"""Two parallel directions."""

from typing import ClassVar

from .base import Joint
from .primitives import angle, parallel1


class ParallelAxes(Joint):
    """A direction of one body stays parallel to a direction of the other; the points are free."""

    rows: ClassVar[tuple[str, ...]] = ("tilt_x", "tilt_y")
    coordinates: ClassVar[tuple[str, ...]] = ("angle",)

    def residual(self, F, G, t):
        return parallel1(F, G)

    def measure(self, F, G):
        return angle(F, G)[None]
