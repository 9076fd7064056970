"""McPherson strut: the printed lengths hold, and its frames suit zxz angles."""

import numpy as np
import pytest

import jaxmb as mb
from jaxmb.mechanisms import mcpherson
from jaxmb.mechanisms.mcpherson import POINTS

#: Lengths (m) as printed by Pekal and Fraczek; P5, P6 and P7 carry no joint and are not in the model.
LENGTHS = {
    ("P1", "P2"): 0.3,
    ("P1", "P1A"): 0.025,
    ("P1", "P1B"): 0.025,
    ("P3", "P4"): 0.45,
    ("P2", "P3"): 0.05,
    ("P10", "P11"): 0.025,
    ("P4", "P10"): 0.3,
    ("P9", "P12"): 0.5,
    ("P12", "P13"): 0.2,
}


@pytest.mark.parametrize("ends, length", LENGTHS.items())
def test_printed_lengths(ends, length):
    start, end = (np.array(POINTS[name]) for name in ends)
    assert np.linalg.norm(end - start) == pytest.approx(length, rel=1e-14)


def test_points_that_are_reached_over_others():
    P3, P8, P9 = (np.array(POINTS[name]) for name in ("P3", "P8", "P9"))
    P5, P7 = P3 + np.array((0, 0, 0.1)), P3 + np.array((0.1, 0, 0.25))
    assert np.linalg.norm(P8 - P5) == pytest.approx(0.15)
    assert np.linalg.norm(P9 - P7) == pytest.approx(0.05)


def test_frames():
    system = mcpherson().with_coordinates(mb.EulerAngles("zxz"))
    angles = np.asarray(system.state().q).reshape(5, 6)[:, 3:]
    np.testing.assert_allclose(angles, np.tile([np.pi / 2, np.pi / 2, 0.0], (5, 1)), atol=1e-14)
    parameters = mcpherson().with_coordinates(mb.EulerParameters()).state().q
    np.testing.assert_allclose(np.asarray(parameters).reshape(5, 7)[:, 3:], 0.5)


def test_centres_of_mass():
    wanted = [(0, 0.15, 0), (0, 0.35, 0.225), (0, 0.35, 0.7625), (0.1, 0.05, 0.25), (0.1, -0.3, 0.25)]
    np.testing.assert_allclose([body.pose.p for body in mcpherson().bodies.values()], wanted, atol=1e-15)


def test_points_can_be_moved():
    moved = mcpherson(points={"P9": (0.1, 0.3, 0.26)})
    body = moved.body("tie_rod")
    np.testing.assert_allclose(body.pose.p + body.pose.R @ body.points["P9"], (0.1, 0.3, 0.26))


def test_loads():
    system = mcpherson()
    np.testing.assert_allclose(system.forces["lift"].force(0.0), (0, 0, 38.0))
    np.testing.assert_allclose(system.forces["push"].force(2.0), (0, 2 + 0.01 * np.sin(2.0), 0))
