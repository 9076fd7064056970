import numpy as np

from jaxmb import Cylindrical

from .frames import about, allowed, along, coordinates, gap

JOINT = Cylindrical("a", "b")


def test_turn_and_slide_are_left_also_together():
    assert allowed(JOINT) == {"z", "turn z"}
    assert gap(JOINT, about("z", 2.0), along(z=5.0)) < 1e-12


def test_coordinates_are_angle_and_distance():
    assert JOINT.coordinates == ("angle", "distance")
    np.testing.assert_allclose(coordinates(JOINT, about("z", -2.0), along(z=0.3)), [-2.0, 0.3], atol=1e-14)
