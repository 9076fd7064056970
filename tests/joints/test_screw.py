import numpy as np
import pytest

from jaxmb import ModelError, Screw

from .frames import about, allowed, along, coordinates, gap

JOINT = Screw("a", "b", pitch=0.2)


@pytest.mark.parametrize("angle", [-20.0, -3.0, 0.5, 3.5, 10.0, 100.0])
def test_a_turn_advances_by_the_pitch_over_many_turns(angle):
    assert gap(JOINT, about("z", angle), along(z=0.2 * angle / (2 * np.pi))) < 1e-12
    assert gap(JOINT, about("z", angle), along(z=0.2 * angle / (2 * np.pi) + 0.02)) == pytest.approx(0.02)


def test_neither_turn_nor_slide_alone_is_left():
    assert allowed(JOINT) == set()


def test_a_negative_pitch_is_left_handed():
    assert gap(Screw("a", "b", pitch=-0.2), about("z", 1.0), along(z=-0.2 / (2 * np.pi))) < 1e-12


def test_coordinates_are_angle_and_distance():
    assert JOINT.coordinates == ("angle", "distance")
    np.testing.assert_allclose(coordinates(JOINT, about("z", 0.4), along(z=0.3)), [0.4, 0.3], atol=1e-14)


def test_no_pitch_is_no_screw():
    with pytest.raises(
        ModelError, match=r"Screw\('a', 'b'\) has pitch 0, which does not tie the turn to the advance. Give"
    ):
        Screw("a", "b", pitch=0)
