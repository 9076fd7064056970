"""A05 by hand: four coordinates (turn of the shaft, the angles of the rods below the horizontal, height of the slider)."""

from math import cos, hypot, sin

from .numbers import GRAVITY
from .numbers import Governor as K

#: Moment of inertia of a rod about its hinge, across; of the shaft and slider about z.
HINGE = K.rod_across + K.rod_mass * K.rod_com**2
POLAR = K.shaft_along + K.slider_inertia


def rhs(t: float, y) -> list[float]:
    """Lagrange's equations; the mass matrix is diagonal in these coordinates."""
    _, a1, a2, s, turn, da1, da2, ds = y
    inertia, inertia_rate, lift = POLAR, 0.0, 0.0
    out = []
    for a, da in ((a1, da1), (a2, da2)):
        c, n = cos(a), sin(a)
        static = K.rod_mass * K.offset * K.rod_com
        inertia += K.rod_mass * K.offset**2 + 2 * static * c + HINGE * c * c + K.rod_along * n * n
        slope = -2 * static * n - 2 * (HINGE - K.rod_along) * n * c
        inertia_rate += slope * da
        x, z = 0.5 * c, 1.0 - 0.5 * n - s
        length = hypot(x, z)
        by_a, by_s = (-0.5 * n * x - 0.5 * c * z) / length, -z / length
        force = -K.stiffness * (length - K.free) - K.damping * (by_a * da + by_s * ds)
        out.append((0.5 * turn**2 * slope + K.rod_mass * GRAVITY * K.rod_com * c + force * by_a) / HINGE)
        lift += force * by_s
    return [turn, da1, da2, ds, -inertia_rate * turn / inertia, *out, lift / K.slider_mass - GRAVITY]


START = [0.0, K.alpha, K.alpha, K.slider, K.spin, 0.0, 0.0, 0.0]
