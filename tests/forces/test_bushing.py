"""The bushing in its small-angle closed form, and up to large angles."""

import numpy as np
import pytest

from jaxmb import Bushing, ModelError

from ..oracles import rotation_matrices, turn
from .frames import loads, motion

K = np.array([100.0, 200.0, 300.0, 10.0, 20.0, 30.0])
C = np.array([1.0, 2.0, 3.0, 0.1, 0.2, 0.3])
R = rotation_matrices(1, seed=71)[0]


def test_small_displacements_meet_the_stiffness_of_each_axis():
    dx, phi, small = np.array([0.3, -0.2, 0.1]), np.array([0.5, 0.2, -0.4]), 1e-7
    force = Bushing("a", "b", stiffness=K)
    there = motion((1, 2, 3) + R @ (small * dx), R @ turn(phi, small * np.linalg.norm(phi)))
    (f, _), (f_to, tau_to) = loads(force, motion((1, 2, 3), R), there)
    np.testing.assert_allclose(f_to, -R @ (K[:3] * small * dx), rtol=1e-5)
    np.testing.assert_allclose(tau_to, -R @ (K[3:] * small * phi), rtol=1e-5)
    np.testing.assert_allclose(f, -f_to, rtol=1e-12)


def test_damping_meets_the_relative_velocity():
    force = Bushing("a", "b", stiffness=np.zeros(6), damping=C)
    v, w = np.array([0.3, -0.2, 0.1]), np.array([0.5, 0.2, -0.4])
    (f, tau), (f_to, tau_to) = loads(force, motion(R=R), motion(R=R, v=v, w=w))
    np.testing.assert_allclose(f_to, -R @ (C[:3] * (R.T @ v)), atol=1e-14)
    np.testing.assert_allclose(tau_to, -R @ (C[3:] * (R.T @ w)), atol=1e-14)
    np.testing.assert_allclose([f, tau], [-f_to, -tau_to], atol=1e-14)


@pytest.mark.parametrize("angle", [0.5, 1.5, 3.0])
def test_a_large_turn_about_one_axis_meets_its_stiffness_times_the_angle(angle):
    force = Bushing("a", "b", stiffness=K)
    _, (f_to, tau_to) = loads(force, motion(R=R), motion(R=R @ turn([0, 0, 1], angle)))
    np.testing.assert_allclose(tau_to, -R @ [0, 0, 30.0 * angle], atol=1e-12)
    np.testing.assert_allclose(f_to, 0.0, atol=1e-12)
    energy = force.energy(motion(R=R).pose, motion(R=R @ turn([0, 0, 1], angle)).pose)
    assert float(energy) == pytest.approx(15.0 * angle**2)


def test_a_full_matrix_couples_the_directions():
    stiffness = np.diag(K)
    stiffness[0, 5] = stiffness[5, 0] = 7.0
    _, (f_to, tau_to) = loads(Bushing("a", "b", stiffness=stiffness), motion(), motion((1e-3, 0, 0)))
    np.testing.assert_allclose(f_to, [-0.1, 0, 0], atol=1e-12)
    np.testing.assert_allclose(tau_to, [0, 0, -7e-3], atol=1e-12)


@pytest.mark.parametrize("what", ["stiffness", "damping"])
def test_wrong_shapes_are_refused(what):
    values = {"stiffness": np.ones(6)} | {what: (1.0, 2.0, 3.0)}
    with pytest.raises(ModelError, match=rf"Bushing\('a', 'b'\) {what} has shape \(3,\); give six numbers"):
        Bushing("a", "b", **values)
