"""A nut on a thread."""

from typing import ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Float

from ..errors import ModelError, is_concrete
from ..spatial import wrap
from .base import Joint
from .primitives import angle, parallel1, parallel2, perpendicular2


class Screw(Joint):
    """A cylindrical joint in which one turn advances the second body by `pitch` (m, right-handed when positive).

    The last row compares angles modulo a whole turn, so any number of turns is possible.
    """

    pitch: Float[Array, ""]

    rows: ClassVar[tuple[str, ...]] = ("x", "y", "tilt_x", "tilt_y", "thread")
    coordinates: ClassVar[tuple[str, ...]] = ("angle", "distance")

    def __init__(self, first: str, second: str, *, pitch, point=None, at=None, to=None, axis="z", axis_to=None):
        super().__init__(first, second, point=point, at=at, to=to, axis=axis, axis_to=axis_to)
        self.pitch = jnp.asarray(pitch, float)
        if is_concrete(self.pitch) and float(self.pitch) == 0:
            raise ModelError(
                f"Screw('{first}', '{second}') has pitch 0, which does not tie the turn to the advance. Give the "
                "advance per turn (m), or use Revolute."
            )

    def residual(self, F, G, t):
        angle, distance = self.measure(F, G)
        thread = wrap(2 * jnp.pi * distance / self.pitch - angle) * self.pitch / (2 * jnp.pi)
        return jnp.concatenate([parallel2(F, G), parallel1(F, G), thread[None]])

    def measure(self, F, G):
        return jnp.concatenate([angle(F, G)[None], perpendicular2(F.z, F, G)])
