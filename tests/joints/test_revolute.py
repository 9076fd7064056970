import numpy as np
import pytest

from jaxmb import Revolute

from .frames import about, allowed, along, coordinates, gap

JOINT = Revolute("a", "b")


def test_only_the_turn_about_the_axis_is_left():
    assert allowed(JOINT) == {"turn z"}
    assert gap(JOINT, about("z", 25.0)) < 1e-12
    assert gap(JOINT, about("z", 1.0), about("x", 0.1)) > 1e-2


@pytest.mark.parametrize("angle", [-3.0, -0.5, 0.0, 2.0, 3.1])
def test_the_angle_is_that_of_the_second_body_by_the_right_hand(angle):
    np.testing.assert_allclose(coordinates(JOINT, about("z", angle)), [angle], atol=1e-14)
    np.testing.assert_allclose(coordinates(JOINT, about("z", angle), along(x=1.0)), [angle], atol=1e-14)
