"""A cross joint."""

from typing import ClassVar

import jax.numpy as jnp

from ..errors import ModelError
from .base import Joint
from .primitives import coincide, perpendicular1


class Universal(Joint):
    """The bodies share a point, and `axis` of the first stays perpendicular to `axis_to` of the second: the two axes of
    the cross, about which the two rotations left are made."""

    rows: ClassVar[tuple[str, ...]] = ("x", "y", "z", "cross")

    def __init__(self, first: str, second: str, *, point=None, at=None, to=None, axis, axis_to):
        if axis_to is None:
            raise ModelError("Universal needs axis_to=, the axis of the cross fixed in the second body.")
        super().__init__(first, second, point=point, at=at, to=to, axis=axis, axis_to=axis_to)

    def residual(self, F, G, t):
        return jnp.concatenate([coincide(F, G), perpendicular1(F.z, G.z)])
