"""Two parallel directions."""

from typing import ClassVar

from ..spatial import angle_about_z
from .base import Joint
from .primitives import parallel1


class ParallelAxes(Joint):
    """A direction of one body stays parallel to a direction of the other; the points are free."""

    rows: ClassVar[tuple[str, ...]] = ("tilt_x", "tilt_y")
    coordinates: ClassVar[tuple[str, ...]] = ("angle",)

    def residual(self, F, G, t):
        return parallel1(F, G)

    def measure(self, F, G):
        return angle_about_z(F.R.T @ G.R)[None]
