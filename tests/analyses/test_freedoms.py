"""Motions in words: screws of bodies with twists that are known."""

import numpy as np
import pytest

from jaxmb.analyses.freedoms import SHOWN, describe, simple_basis

from ..oracles import rotation_matrices


def twist_about(axis, point, pitch, rate, position, rotation):
    """World velocity of a body's centre and its angular velocity in its own axes."""
    omega = rate * np.asarray(axis) / np.linalg.norm(axis)
    velocity = np.cross(omega, position - np.asarray(point)) + pitch * omega
    return np.concatenate([velocity, rotation.T @ omega])


def test_screw_axes_are_found_again():
    positions, rotations = np.array([[1.0, 2.0, 3.0], [-1.0, 0.5, 0.0], [2.0, 2.0, 2.0]]), rotation_matrices(3, seed=4)
    twists = np.stack(
        [
            twist_about((0, 0, 1), (0.5, 0.25, 7.0), 0.0, 3.0, positions[0], rotations[0]),
            twist_about((1, 1, 0), (0, 0, 2.0), 0.2, -1.5, positions[1], rotations[1]),
            np.array([0, -6.0, 0, 0, 0, 0]),
        ]
    )
    motion = describe(np.array([3.0, 6.0]), twists, positions, rotations, ("hinged", "screwed", "sliding"), size=2.0)
    hinged, screwed, sliding = motion.screws
    np.testing.assert_allclose(motion.v, [1.0, 2.0])
    np.testing.assert_allclose(hinged.direction, (0, 0, 1), atol=1e-12)
    np.testing.assert_allclose(hinged.point, (0.5, 0.25, 0.0), atol=1e-12)
    assert (hinged.rate, hinged.pitch) == pytest.approx((1.0, 0.0))
    np.testing.assert_allclose(screwed.direction, (-np.sqrt(0.5), -np.sqrt(0.5), 0.0), atol=1e-12)
    np.testing.assert_allclose(screwed.point, (0, 0, 2.0), atol=1e-12)
    assert (screwed.rate, screwed.pitch) == pytest.approx((0.5, 0.2))
    assert sliding.point is None
    np.testing.assert_allclose(sliding.direction, (0, -1, 0), atol=1e-12)
    assert sliding.rate == pytest.approx(2.0)
    assert str(motion).splitlines() == [
        "hinged turns about (0, 0, 1) through (0.5, 0.25, 0) m at 1 rad/s",
        "screwed turns about (-0.7071, -0.7071, 0) through (0, 0, 2) m at 0.5 rad/s, advancing 0.2 m/rad",
        "sliding moves along (0, -1, 0) at 2 m/s",
    ]


def test_the_first_body_goes_along_a_positive_axis_and_bodies_at_rest_are_left_out():
    twists = np.array([[0.0] * 6, [-4.0, 0, 0, 0, 0, 0]])
    motion = describe(
        np.array([-4.0]), twists, np.zeros((2, 3)), np.stack([np.eye(3)] * 2), ("still", "sled"), size=1.0
    )
    assert str(motion) == "sled moves along (1, 0, 0) at 1 m/s (it alone)"
    np.testing.assert_allclose(motion.v, [1.0])


def test_many_bodies_are_counted():
    count = SHOWN + 3
    twists = np.tile([0, 0, 1.0, 0, 0, 0], (count, 1))
    names = tuple(f"b{k}" for k in range(count))
    motion = describe(np.ones(1), twists, np.zeros((count, 3)), np.tile(np.eye(3), (count, 1, 1)), names, size=1.0)
    assert len(motion.screws) == count
    lines = str(motion).splitlines()
    assert len(lines) == SHOWN + 1
    assert lines[-1] == "and 3 more bodies"


def test_the_simple_basis_spans_the_same_space_with_fewer_speeds():
    plain = np.zeros((6, 3))
    plain[0, 0] = plain[3, 1] = plain[4, 2] = 1.0
    plain[1, 0], plain[5, 2] = 0.5, -0.5
    mixed, _ = np.linalg.qr(plain @ np.random.default_rng(0).normal(size=(3, 3)))
    basis = simple_basis(mixed)
    assert np.linalg.matrix_rank(np.concatenate([basis, mixed], axis=1), tol=1e-10) == 3
    assert np.linalg.matrix_rank(basis, tol=1e-10) == 3
    assert np.count_nonzero(basis) == np.count_nonzero(plain)
    np.testing.assert_allclose(np.abs(basis).max(axis=0), 1.0)
