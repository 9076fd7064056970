import numpy as np
import pytest

from jaxmb import PerpendicularAxes

from .frames import about, along, gap

JOINT = PerpendicularAxes("a", "b", axis="z", axis_to="z")
CROSS = about("x", np.pi / 2)


def test_all_but_the_turn_across_both_axes_is_left():
    assert gap(JOINT, about("z", 1.0), CROSS, about("z", -2.0), along(1.0, 2.0, 3.0)) < 1e-12


@pytest.mark.parametrize("angle", [0.3, -0.2])
def test_the_row_is_the_sine_of_the_error(angle):
    assert gap(JOINT, CROSS, about("x", angle)) == pytest.approx(abs(np.sin(angle)))
