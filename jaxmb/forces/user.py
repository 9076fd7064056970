"""A force of the user's own."""

from collections.abc import Callable

import jax.numpy as jnp

from ..functions import as_function
from ..ports import pair
from .base import Force


class UserForce(Force):
    """`function(F, G, t) -> (force, torque)` on the second body at the origin of its frame G, in world axes, with the
    opposite on the first. F and G have `pose` (p, x, y, z), velocity `v` and angular velocity `w`."""

    function: Callable

    def __init__(
        self, first: str, second: str, function: Callable, *, point=None, at=None, to=None, axis="z", axis_to=None
    ):
        self.ports = pair("UserForce", first, second, point, at, to, axis, axis_to)
        self.function = as_function(function)

    def loads(self, *motions, t):
        F, G = motions
        force, torque = (jnp.asarray(part, float) for part in self.function(F, G, t))
        return (-force, -torque - jnp.cross(G.pose.p - F.pose.p, force)), (force, torque)
