"""A pin in a straight slot, between two planar bodies."""

from typing import ClassVar

import jax.numpy as jnp
import numpy as np

from ..errors import ModelError, is_concrete
from ..ports import direction
from ..spatial import Pose, Vec3
from .base import Joint
from .primitives import perpendicular2


def across(F: Pose) -> Vec3:
    """The direction of the plane z = 0 that is perpendicular to the z axis of F."""
    return jnp.stack([-F.z[1], F.z[0], jnp.zeros_like(F.z[0])])


def in_plane(axis, what: str) -> Vec3:
    """A direction of the plane z = 0; out of it the rows would be empty."""
    axis = direction(axis, what)
    if is_concrete(axis) and abs(axis[2]) > 1e-9 * np.linalg.norm(axis):
        raise ModelError(
            f"{what} has axis {np.asarray(axis).tolist()}, which leaves the plane z = 0. Give a direction in it "
            "such as 'x'."
        )
    return axis


class PlanarSlot(Joint):
    """A point of the second planar body stays on a line of the first along `axis` (a direction in the plane z = 0)."""

    rows: ClassVar[tuple[str, ...]] = ("across",)
    coordinates: ClassVar[tuple[str, ...]] = ("distance",)

    def __init__(self, first: str, second: str, *, point=None, at=None, to=None, axis="x"):
        axis = in_plane(axis, f"PlanarSlot('{first}', '{second}')")
        super().__init__(first, second, point=point, at=at, to=to, axis=axis)

    def residual(self, F, G, t):
        return perpendicular2(across(F), F, G)

    def measure(self, F, G):
        return perpendicular2(F.z, F, G)
