import numpy as np

from jaxmb import ParallelAxes

from .frames import about, allowed, along, coordinates

JOINT = ParallelAxes("a", "b")


def test_all_translations_and_the_turn_about_the_axis_are_left():
    assert allowed(JOINT) == {"x", "y", "z", "turn z"}


def test_the_angle_does_not_depend_on_the_place():
    np.testing.assert_allclose(coordinates(JOINT, about("z", 1.2), along(x=3.0)), [1.2], atol=1e-14)
