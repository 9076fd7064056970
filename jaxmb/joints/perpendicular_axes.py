"""Two perpendicular directions."""

from typing import ClassVar

from .base import Joint
from .primitives import perpendicular1


class PerpendicularAxes(Joint):
    """`axis` of the first body stays perpendicular to `axis_to` of the second; the points are free."""

    rows: ClassVar[tuple[str, ...]] = ("cross",)

    def residual(self, F, G, t):
        return perpendicular1(F.z, G.z)
