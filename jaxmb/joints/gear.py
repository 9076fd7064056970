"""Relations between the coordinates of two joints."""

from typing import ClassVar

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..errors import ModelError, is_concrete
from ..ports import replace
from ..spatial import wrap
from .base import Joint
from .measured import Measured


class Coupler(Joint):
    """c1 = ratio c2 + offset, for coordinates of two joints (rack and pinion, belt, steering linkage).

    Where an angle meets a distance any number of turns is possible. Between two angles with a real ratio the second
    must stay within (-pi, pi); use `Gear` for whole turns.
    """

    first: Measured
    second: Measured
    ratio: Float[Array, ""]
    offset: Float[Array, ""]

    rows: ClassVar[tuple[str, ...]] = ("ratio",)

    def __init__(
        self, first: str, second: str, *, ratio, offset=0.0, coordinates: tuple[str | None, str | None] = (None, None)
    ):
        self.ports = ()
        self.first, self.second = Measured(first, coordinates[0]), Measured(second, coordinates[1])
        self.ratio, self.offset = jnp.asarray(ratio, float), jnp.asarray(offset, float)
        if is_concrete(self.ratio) and float(self.ratio) == 0:
            raise ModelError(
                f"Coupler('{first}', '{second}') has ratio 0, which does not couple the joints. Give c1 / c2, or "
                f"use a Driver to hold '{first}'."
            )

    def attach(self, what, bodies, joints):
        return _attach_pair(self, what, joints)

    def residual(self, F1, G1, F2, G2, t):  # pyright: ignore[reportIncompatibleMethodOverride]
        c1, c2 = self.first(F1, G1), self.second(F2, G2)
        if self.second.is_angle and not self.first.is_angle:
            return (wrap((c1 - self.offset) / self.ratio - c2) * self.ratio)[None]
        difference = c1 - self.ratio * c2 - self.offset
        return (wrap(difference) if self.first.is_angle else difference)[None]


class Gear(Joint):
    """Two wheels with whole numbers of teeth: z1 c1 + z2 c2 = offset (internal gearing: minus), for the angles of two
    joints, any number of turns. Angles are relative to the carrier, so planetary sets need nothing special."""

    first: Measured
    second: Measured
    offset: Float[Array, ""]
    teeth: tuple[int, int] = eqx.field(static=True)
    internal: bool = eqx.field(static=True)

    rows: ClassVar[tuple[str, ...]] = ("mesh",)

    def __init__(self, first: str, second: str, *, teeth: tuple[int, int], internal: bool = False, offset=0.0):
        if len(teeth) != 2 or not all(isinstance(z, int) and z > 0 for z in teeth):
            raise ModelError(
                f"Gear('{first}', '{second}') has teeth {teeth}; give two positive whole numbers, or use Coupler."
            )
        self.ports = ()
        self.first, self.second = Measured(first, "angle"), Measured(second, "angle")
        self.teeth, self.internal, self.offset = (teeth[0], teeth[1]), internal, jnp.asarray(offset, float)

    def attach(self, what, bodies, joints):
        return _attach_pair(self, what, joints)

    def residual(self, F1, G1, F2, G2, t):  # pyright: ignore[reportIncompatibleMethodOverride]
        z1, z2 = self.teeth
        sign = -1 if self.internal else 1
        return (wrap(z1 * self.first(F1, G1) + sign * z2 * self.second(F2, G2) - self.offset) / z1)[None]


def _attach_pair(joint, what, joints):
    first, first_ports = joint.first.attach(what, joints)
    second, second_ports = joint.second.attach(what, joints)
    return replace(joint, ports=first_ports + second_ports, first=first, second=second)
