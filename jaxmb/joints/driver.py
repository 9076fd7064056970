"""A prescribed motion."""

from collections.abc import Callable
from typing import ClassVar

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import ArrayLike

from ..errors import ModelError
from ..functions import of_time
from ..ports import GROUND, anchor, direction, replace
from ..spatial import wrap
from .base import Joint
from .measured import Measured
from .primitives import angle, perpendicular2


class Driver(Joint):
    """The coordinate of a joint follows `function(t)` (radians or metres); its multiplier is the motor torque or force.

    A joint with several coordinates needs `coordinate="angle"` or the like. Angles are compared modulo a whole turn, so
    any number of turns is possible.
    """

    measured: Measured
    function: Callable

    rows: ClassVar[tuple[str, ...]] = ("drive",)
    rheonomic: ClassVar[bool] = True

    def __init__(self, joint: str, function: Callable | ArrayLike, *, coordinate: str | None = None):
        self.ports = ()
        self.measured = Measured(joint, coordinate)
        self.function = of_time(function, (), f"Driver('{joint}') function")

    def attach(self, what, bodies, joints):
        measured, ports = self.measured.attach(what, joints)
        return replace(self, ports=ports, measured=measured)

    def residual(self, F, G, t):
        difference = self.measured(F, G) - self.function(t)
        return (wrap(difference) if self.measured.is_angle else difference)[None]


class BodyDriver(Joint):
    """A coordinate of a body follows `function(t)`: the world position of one of its points (default: its centre of
    mass) along `axis`, or with `rotation=True` its angle about `axis` counted from the reference pose."""

    function: Callable
    rotation: bool = eqx.field(static=True)

    rows: ClassVar[tuple[str, ...]] = ("drive",)
    rheonomic: ClassVar[bool] = True

    def __init__(self, body: str, function: Callable | ArrayLike, *, axis, point=None, rotation: bool = False):
        what = f"BodyDriver('{body}')"
        if body == GROUND:
            raise ModelError(f"{what} drives the ground, which does not move. Name a body.")
        if rotation and point is not None:
            raise ModelError(
                f"{what} has a point, but a rotation belongs to the whole body. Leave point= or rotation= out."
            )
        axis = direction(axis, what)
        end = anchor(body, None, axis, True, what)
        if not rotation:
            end = anchor(body, "com" if point is None else point, axis, False, what)
        self.ports = (anchor(GROUND, None, axis, True, what), end)
        self.function = of_time(function, (), f"{what} function")
        self.rotation = rotation

    def residual(self, F, G, t):
        if self.rotation:
            return wrap(angle(F, G) - self.function(t))[None]
        return perpendicular2(F.z, F, G) - jnp.reshape(self.function(t), (1,))
