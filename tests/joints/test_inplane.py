import numpy as np

from jaxmb import InPlane

from .frames import allowed, along, coordinates

JOINT = InPlane("a", "b")


def test_the_moves_in_the_plane_and_all_turns_are_left():
    assert allowed(JOINT) == {"x", "y", "turn x", "turn y", "turn z"}


def test_coordinates_are_in_the_axes_of_the_first_frame():
    np.testing.assert_allclose(coordinates(JOINT, along(x=0.3, y=-0.7)), [0.3, -0.7], atol=1e-14)
