import numpy as np

from jaxmb import Prismatic

from .frames import allowed, along, coordinates

JOINT = Prismatic("a", "b")


def test_only_the_slide_along_the_axis_is_left():
    assert allowed(JOINT) == {"z"}


def test_the_distance_is_along_the_axis():
    np.testing.assert_allclose(coordinates(JOINT, along(z=-0.7)), [-0.7], atol=1e-14)
