import numpy as np

from jaxmb import InLine

from .frames import allowed, along, coordinates

JOINT = InLine("a", "b")


def test_the_slide_along_the_line_and_all_turns_are_left():
    assert allowed(JOINT) == {"z", "turn x", "turn y", "turn z"}


def test_the_distance_is_along_the_line():
    np.testing.assert_allclose(coordinates(JOINT, along(z=-0.7)), [-0.7], atol=1e-14)
