"""A weld."""

from typing import ClassVar

import jax.numpy as jnp

from ..spatial import compose, unskew
from .base import Joint
from .primitives import coincide


class Fixed(Joint):
    """The bodies move as one."""

    rows: ClassVar[tuple[str, ...]] = ("x", "y", "z", "turn_x", "turn_y", "turn_z")

    def residual(self, F, G, t):
        return jnp.concatenate([coincide(F, G), unskew(compose(F.R.T, G.R))])
