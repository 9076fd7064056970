"""The governor in four coordinates."""

import pytest

from jaxmb.peers.hand_governor import HINGE, POLAR, START, rhs
from jaxmb.peers.numbers import GRAVITY
from jaxmb.peers.numbers import Governor as K


def test_at_the_start_the_springs_are_free():
    """So that only weight and spin act: the slider falls freely, and both rods do the same."""
    slope = rhs(0.0, START)
    assert slope[7] == pytest.approx(-GRAVITY, abs=1e-6)
    assert slope[5] == pytest.approx(slope[6], rel=1e-12)
    assert slope[4] == pytest.approx(0.0)


def test_angular_momentum_about_the_shaft_is_kept():
    """d/dt (I phi') = 0 with the rate of I by finite differences."""
    from math import cos, sin

    def inertia(a1, a2):
        return POLAR + sum(
            K.rod_mass * (K.offset**2 + 2 * K.offset * K.rod_com * cos(a))
            + HINGE * cos(a) ** 2
            + K.rod_along * sin(a) ** 2
            for a in (a1, a2)
        )

    y = [0.3, 0.4, 0.5, 0.52, 6.0, 0.7, -0.2, 0.1]
    step = 1e-6
    rate = (inertia(0.4 + 0.7 * step, 0.5 - 0.2 * step) - inertia(0.4 - 0.7 * step, 0.5 + 0.2 * step)) / (2 * step)
    assert rhs(0.0, y)[4] * inertia(0.4, 0.5) + rate * 6.0 == pytest.approx(0.0, abs=1e-6)
