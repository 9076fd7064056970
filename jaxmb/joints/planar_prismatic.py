"""A slider between two planar bodies."""

from typing import ClassVar

import jax.numpy as jnp

from .base import Joint
from .planar_slot import across, in_plane
from .primitives import perpendicular1, perpendicular2


class PlanarPrismatic(Joint):
    """Two planar bodies slide along `axis` (a direction in the plane z = 0) without turning."""

    rows: ClassVar[tuple[str, ...]] = ("across", "turn")
    coordinates: ClassVar[tuple[str, ...]] = ("distance",)

    def __init__(self, first: str, second: str, *, point=None, at=None, to=None, axis="x", axis_to=None):
        what = f"PlanarPrismatic('{first}', '{second}')"
        axis_to = None if axis_to is None else in_plane(axis_to, what)
        super().__init__(first, second, point=point, at=at, to=to, axis=in_plane(axis, what), axis_to=axis_to)

    def residual(self, F, G, t):
        n = across(F)
        return jnp.concatenate([perpendicular2(n, F, G), perpendicular1(n, G.z)])

    def measure(self, F, G):
        return perpendicular2(F.z, F, G)
