"""Given forces and torques on a body."""

from collections.abc import Callable

import equinox as eqx
import jax.numpy as jnp

from ..errors import ModelError
from ..functions import of_time
from ..ports import GROUND, anchor, direction
from ..spatial import turn
from .base import Force


class Applied(Force):
    """A force (N) and a torque (N m) at a point of a body: three numbers each, or functions of time that return three.

    The components are in world axes, or with `frame="body"` in those of the body.
    """

    force: Callable
    torque: Callable
    frame: str = eqx.field(static=True)

    def __init__(self, body: str, force=(0.0, 0.0, 0.0), *, torque=(0.0, 0.0, 0.0), at="com", frame: str = "world"):
        if frame not in ("world", "body"):
            raise ModelError(
                f"Applied force on '{body}' has frame '{frame}', which is neither 'world' nor 'body'. Use one of them."
            )
        if body == GROUND:
            raise ModelError("Applied force acts on 'ground', which does not move. Name a body.")
        self.ports = (anchor(body, at, direction("z", "Applied"), False, "Applied"),)
        self.force = of_time(force, (3,), f"Applied force on '{body}'")
        self.torque = of_time(torque, (3,), f"Applied torque on '{body}'")
        self.frame = frame

    def loads(self, *motions, t):
        (motion,) = motions
        # The port's own axes are those of the body, because its axis is z.
        R = motion.pose.R if self.frame == "body" else jnp.eye(3)
        return ((turn(R, jnp.asarray(self.force(t), float)), turn(R, jnp.asarray(self.torque(t), float))),)
