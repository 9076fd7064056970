"""Rows written by hand: their Jacobian and acceleration terms against finite differences along a motion."""

import numpy as np
import pytest

from jaxmb.peers.hand_spatial import Poses, coincide, cross, inplane, perpendicular, rotations, rows

RNG = np.random.default_rng(7)
P0, V, W = RNG.normal(size=(3, 3)), RNG.normal(size=(3, 3)), RNG.normal(size=(3, 3))
Q0 = RNG.normal(size=(3, 4))
GIVEN = rows([(0, 1, *RNG.normal(size=(3, 3))), (2, 0, *RNG.normal(size=(3, 3)))])


def spin(w, t):
    """exp of a constant angular velocity."""
    angle = np.linalg.norm(w) * t
    return rotations(np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) * w / np.linalg.norm(w)])[None])[0]


def poses(t):
    """Every body at constant velocity and angular velocity, so that accelerations are those of the rows alone."""
    R = np.stack([spin(w, t) @ R for w, R in zip(W, rotations(Q0), strict=True)])
    return Poses(P0 + t * V, R, V, W)


def values(kind, t):
    x = poses(t)
    a, b, n = x.turned(GIVEN.A, GIVEN.a), x.turned(GIVEN.B, GIVEN.b), x.turned(GIVEN.A, GIVEN.n)
    gap = x.p[GIVEN.B] + b - x.p[GIVEN.A] - a
    return {coincide: -gap.ravel(), perpendicular: (a * b).sum(1), inplane: (n * gap).sum(1)}[kind]


@pytest.mark.parametrize("kind", [coincide, perpendicular, inplane])
def test_rows_are_the_derivatives_of_the_constraint(kind):
    step = 1e-4
    before, here, after = (values(kind, t) for t in (-step, 0.0, step))
    J, gamma = kind(poses(0.0), GIVEN)
    assert J @ np.concatenate([V, W], 1).ravel() == pytest.approx((after - before) / (2 * step), abs=1e-6)
    assert -gamma == pytest.approx((after - 2 * here + before) / step**2, abs=1e-5)


def test_cross_is_the_one_of_numpy():
    assert cross(P0, V) == pytest.approx(np.cross(P0, V))
