"""Springs, dampers and actuators between two points."""

import jax.numpy as jnp

from ..ports import pair
from ..spatial import dot
from .base import MeasuredForce
from .laws import Law, Linear, as_law


class PointToPoint(MeasuredForce):
    """A force along the line between a point of one body and a point of another, by a scalar law of length and rate.

    `at` on the first body, `to` on the second (three numbers or a point's name).
    """

    law: Law

    def __init__(self, first: str, second: str, law, *, at=None, to=None):
        self.ports = pair("PointToPoint", first, second, None, at, to, "z", None)
        self.law = as_law(law)

    def measure(self, F, G):  # pyright: ignore[reportIncompatibleMethodOverride]
        d = G.p - F.p
        l2 = dot(d, d)
        # At zero length the line has no direction: length 0 with derivative 0 instead of NaN.
        safe = jnp.where(l2 > 0, l2, 1.0)
        return jnp.where(l2 > 0, jnp.sqrt(safe), 0.0)[None]

    def magnitude(self, x, xdot, t):
        return self.law(x[0], xdot[0], t)[None]

    def energy(self, *poses):
        return self.law.energy(self.measure(*poses)[0])


def spring(
    first: str, second: str, *, stiffness, free_length=0.0, damping=0.0, preload=0.0, at=None, to=None
) -> PointToPoint:
    """A linear spring and damper between two points (N/m, m, N s/m, N)."""
    return PointToPoint(first, second, Linear(stiffness, damping, free_length, preload), at=at, to=to)
