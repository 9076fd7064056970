import numpy as np

from jaxmb import PlanarJoint

from .frames import about, allowed, along, coordinates, gap

JOINT = PlanarJoint("a", "b")


def test_the_motions_of_the_plane_are_left_also_together():
    assert allowed(JOINT) == {"x", "y", "turn z"}
    assert gap(JOINT, along(x=1.0, y=-2.0), about("z", 2.0)) < 1e-12


def test_coordinates_are_in_the_axes_of_the_first_frame():
    assert JOINT.coordinates == ("x", "y", "angle")
    np.testing.assert_allclose(coordinates(JOINT, along(x=1.0, y=-2.0), about("z", 2.0)), [1.0, -2.0, 2.0], atol=1e-14)
