"""A point on a line."""

from typing import ClassVar

from .base import Joint
from .primitives import parallel2, perpendicular2


class InLine(Joint):
    """A point of the second body stays on a line of the first (a pin in a straight slot of a spatial mechanism)."""

    rows: ClassVar[tuple[str, ...]] = ("x", "y")
    coordinates: ClassVar[tuple[str, ...]] = ("distance",)

    def residual(self, F, G, t):
        return parallel2(F, G)

    def measure(self, F, G):
        return perpendicular2(F.z, F, G)
