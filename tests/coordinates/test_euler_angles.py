"""Euler angles against SciPy and the hand-written symmetric top."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from jaxmb import Body, EulerAngles, ModelError, System
from jaxmb.spatial import Pose

from ..oracles import rotation_matrices, turn

SEQUENCES = ["xyz", "xzy", "yxz", "yzx", "zxy", "zyx", "xyx", "xzx", "yxy", "yzy", "zxz", "zyz"]
ANGLES = np.array([0.3, 0.7, -1.1])


@jax.jit
def rotations(q):
    return {sequence: EulerAngles(sequence).pose(q).R for sequence in SEQUENCES}


@jax.jit
def angles(R):
    return {sequence: EulerAngles(sequence).from_pose(Pose(jnp.zeros(3), R))[3:] for sequence in SEQUENCES}


def test_sequences_are_about_body_axes_as_in_scipy():
    found = rotations(jnp.array([1.0, 2.0, 3.0, *ANGLES]))
    for sequence, R in found.items():
        np.testing.assert_allclose(R, Rotation.from_euler(sequence.upper(), ANGLES).as_matrix(), atol=1e-15)


def test_angles_of_a_rotation_are_scipys():
    for R in rotation_matrices(4, seed=5):
        for sequence, found in angles(R).items():
            np.testing.assert_allclose(found, Rotation.from_matrix(R).as_euler(sequence.upper()), atol=1e-13)


LOCKED = [np.eye(3), turn([0, 0, 1], 0.4), turn([1, 0, 0], -0.4), turn([0, 1, 0], 2.0), turn([1, 0, 0], np.pi)]
LOCKED += [
    np.roll(np.eye(3), 1, axis=0),
    np.roll(np.eye(3), 2, axis=0),
    turn([0, 1, 0], np.pi / 2),
    turn([0, 1, 0], np.pi),
]


@pytest.mark.parametrize("R", LOCKED)
def test_the_pose_survives_gimbal_lock(R):
    """A body at rest in line with the world is locked in zxz; its angles must still give its pose."""
    for sequence, found in angles(jnp.array(R)).items():
        back = Rotation.from_euler(sequence.upper(), np.array(found)).as_matrix()
        np.testing.assert_allclose(back, R, atol=1e-12, err_msg=sequence)


def test_from_pose_has_finite_derivatives_in_gimbal_lock():
    rates = jax.jit(jax.jacfwd(angles))(jnp.eye(3))
    assert all(np.all(np.isfinite(rate)) for rate in rates.values())


@pytest.mark.parametrize("letters", ["xx", "xxz", "zyy", "abc", "xyzx", ""])
def test_other_sequences_are_refused(letters):
    with pytest.raises(ModelError, match="is not a rotation sequence: three letters of x, y, z are needed"):
        EulerAngles(letters)


@pytest.fixture(scope="module")
def top():
    """A symmetric top with inertias A, A, C in zxz at random angles and rates."""
    A, C = 0.7, 1.1
    phi, theta, psi = 0.4, 1.1, -2.0
    rates = 1.3, -0.6, 2.2
    system = System({"top": Body(3.0, (A, A, C))}, coordinates=EulerAngles("zxz"))
    q, v = jnp.array([1.0, 2.0, 3.0, phi, theta, psi]), jnp.array([0.1, 0.2, 0.3, *rates])
    return A, C, theta, rates, system.equations().terms(jnp.zeros(()), q, v), system.equations()


def test_the_mass_matrix_of_a_symmetric_top(top):
    A, C, theta, _, terms, _ = top
    s, c = np.sin(theta), np.cos(theta)
    M = np.array([[A * s**2 + C * c**2, 0, C * c], [0, A, 0], [C * c, 0, C]])
    np.testing.assert_allclose(np.asarray(terms.M)[3:, 3:], M, atol=1e-14)
    np.testing.assert_allclose(np.asarray(terms.M)[:3, :3], 3.0 * np.eye(3), atol=1e-14)
    np.testing.assert_allclose(terms.mass.inverse_times(terms.M), np.eye(6), atol=1e-13)


def test_the_velocity_terms_of_a_symmetric_top(top):
    """Lagrange's equations of T = A (theta'^2 + phi'^2 sin^2) / 2 + C (psi' + phi' cos)^2 / 2."""
    A, C, theta, (dphi, dtheta, dpsi), terms, _ = top
    s, c = np.sin(theta), np.cos(theta)
    spin = dpsi + dphi * c
    Q = [
        -(2 * A * dphi * dtheta * s * c - C * spin * dtheta * s - C * dphi * dtheta * s * c),
        A * dphi**2 * s * c - C * spin * dphi * s,
        C * dphi * dtheta * s,
    ]
    np.testing.assert_allclose(terms.Q[3:], Q, atol=1e-13)
    np.testing.assert_allclose(terms.Q[:3], 0.0, atol=1e-13)


def test_the_mass_matrix_of_any_body_is_B_J_B(top):
    *_, equations = top
    J = rotation_matrices(1, seed=2)[0] @ np.diag([1.0, 2.0, 2.5]) @ rotation_matrices(1, seed=2)[0].T
    phi, theta, psi = 0.4, 1.1, -2.0
    B = np.array(
        [
            [np.sin(theta) * np.sin(psi), np.cos(psi), 0],
            [np.sin(theta) * np.cos(psi), -np.sin(psi), 0],
            [np.cos(theta), 0, 1],
        ]
    )
    other = System({"top": Body(3.0, J)}, coordinates=EulerAngles("zxz")).equations()
    terms = other.terms(jnp.zeros(()), jnp.array([1.0, 2.0, 3.0, phi, theta, psi]), jnp.ones(6))
    np.testing.assert_allclose(np.asarray(terms.M)[3:, 3:], B.T @ J @ B, atol=1e-14)
    assert equations.regularity(jnp.array([0, 0, 0, 1.0, theta, 2.0])) == pytest.approx(np.sin(theta))
