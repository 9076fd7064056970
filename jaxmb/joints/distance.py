"""A massless rod between two points."""

from typing import ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Float

from ..errors import ModelError, is_concrete
from .base import Joint
from .primitives import distance


class Distance(Joint):
    """Two points stay `length` (m) apart: a rod with ball joints at both ends, without mass."""

    length: Float[Array, ""]

    rows: ClassVar[tuple[str, ...]] = ("length",)

    def __init__(self, first: str, second: str, *, length, at=None, to=None):
        super().__init__(first, second, at=at, to=to)
        self.length = jnp.asarray(length, float)
        if is_concrete(self.length) and not float(self.length) > 0:
            raise ModelError(
                f"Distance('{first}', '{second}') has length {float(self.length):g} m, but needs a positive one. For "
                "two points that coincide use Spherical."
            )

    def residual(self, F, G, t):
        return distance(F, G, self.length)
