"""Rotations and poses against SciPy and finite differences, also where the usual formulas break down."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from jaxmb import spatial
from jaxmb.spatial import Pose

from .oracles import cross_matrix, derivative, rotation_matrices, turn

AXES = np.random.default_rng(1).normal(size=(6, 3))
AXES /= np.linalg.norm(AXES, axis=1, keepdims=True)
AXES[0], AXES[1], AXES[2] = np.eye(3)
ANGLES = [
    0.0,
    1e-12,
    1e-7,
    1e-4,
    1.1e-4,
    2e-4,
    0.3,
    1.0,
    np.pi / 2,
    2.0,
    3.0,
    np.pi - 1e-4,
    np.pi - 1e-7,
    np.pi - 1e-12,
]
VECTORS = np.concatenate([angle * AXES for angle in ANGLES])
HALF_TURNS = np.pi * AXES


def scalar_first(rotation: Rotation):
    return rotation.as_quat(scalar_first=True)


to_quaternion = jax.jit(jax.vmap(spatial.rotation_to_quaternion))
to_rotation = jax.jit(jax.vmap(spatial.quaternion_to_rotation))
vector_to_quaternion = jax.jit(jax.vmap(spatial.rotation_vector_to_quaternion))
to_vector = jax.jit(jax.vmap(spatial.rotation_vector))


def test_skew_is_the_cross_product_and_unskew_undoes_it():
    w, x = np.array([1.0, -2.0, 3.0]), np.array([0.3, 0.5, -0.7])
    np.testing.assert_allclose(spatial.skew(jnp.array(w)) @ x, np.cross(w, x), rtol=1e-14)
    np.testing.assert_allclose(spatial.unskew(jnp.array(cross_matrix(w) + np.diag([1.0, 2.0, 3.0]))), w, rtol=1e-14)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_rotation_about_a_coordinate_axis(axis):
    R = spatial.rotation_about(axis, jnp.array(0.7))
    np.testing.assert_allclose(R, Rotation.from_euler("xyz"[axis], 0.7).as_matrix(), atol=1e-15)


def test_quaternion_to_rotation_is_scipys_for_any_length():
    e = np.random.default_rng(2).normal(size=(20, 4))
    np.testing.assert_allclose(to_rotation(e), Rotation.from_quat(e, scalar_first=True).as_matrix(), atol=1e-14)


def test_quaternion_product_composes_rotations():
    a, b = np.random.default_rng(3).normal(size=(2, 4))
    both = Rotation.from_quat(a, scalar_first=True) * Rotation.from_quat(b, scalar_first=True)
    product = spatial.quaternion_product(jnp.array(a), jnp.array(b))
    np.testing.assert_allclose(spatial.quaternion_to_rotation(product), both.as_matrix(), atol=1e-14)


@pytest.mark.parametrize("vectors", [VECTORS, HALF_TURNS, 5.0 * AXES], ids=["below pi", "pi", "beyond pi"])
def test_rotation_vector_to_quaternion_is_scipys(vectors):
    e = np.asarray(vector_to_quaternion(vectors))
    expected = scalar_first(Rotation.from_rotvec(vectors))
    expected *= np.sign(np.sum(e * expected, axis=1, keepdims=True))
    np.testing.assert_allclose(e, expected, atol=1e-15)


def test_rotation_to_quaternion_round_trip_with_positive_largest_entry():
    R = np.concatenate([rotation_matrices(50), Rotation.from_rotvec(np.concatenate([VECTORS, HALF_TURNS])).as_matrix()])
    e = np.asarray(to_quaternion(R))
    np.testing.assert_allclose(to_rotation(e), R, atol=1e-14)
    np.testing.assert_allclose(np.linalg.norm(e, axis=1), 1.0, atol=1e-14)
    assert np.all(np.take_along_axis(e, np.abs(e).argmax(axis=1)[:, None], axis=1) > 0)


def test_rotation_vector_undoes_the_exponential():
    R = Rotation.from_rotvec(VECTORS).as_matrix()
    # A rotation matrix knows an angle near pi to half the digits in its trace, but to all in its off-diagonal terms.
    np.testing.assert_allclose(to_vector(R), VECTORS, atol=3e-15)
    R = Rotation.from_rotvec(HALF_TURNS).as_matrix()
    half = np.array(to_vector(R))
    np.testing.assert_allclose(Rotation.from_rotvec(half).as_matrix(), R, atol=1e-14)
    np.testing.assert_allclose(np.linalg.norm(half, axis=1), np.pi, atol=1e-14)


def tangents(R, w):
    """The rates of rotation matrices that turn with w (body axes)."""
    return np.stack([r @ cross_matrix(x) for r, x in zip(R, w, strict=True)])


@pytest.mark.parametrize(
    ("name", "vectors"),
    [
        ("rotation_to_quaternion", np.concatenate([VECTORS, HALF_TURNS])),
        ("rotation_vector", np.concatenate([angle * AXES for angle in ANGLES[:-3]] + [(np.pi - 0.02) * AXES])),
    ],
)
def test_functions_of_a_rotation_matrix_have_derivatives(name, vectors):
    f = getattr(spatial, name)
    values = jax.jit(jax.vmap(f))
    R = Rotation.from_rotvec(vectors)
    w = np.random.default_rng(4).normal(size=vectors.shape)

    def moved(s):
        out = np.array(values((R * Rotation.from_rotvec(s * w)).as_matrix()))
        if name == "rotation_to_quaternion":  # the sign jumps where two entries are equally large
            out *= np.sign(np.sum(out * np.asarray(values(R.as_matrix())), axis=1, keepdims=True))
        return out

    rates = jax.jit(jax.vmap(lambda R, dR: jax.jvp(f, (R,), (dR,))[1]))
    rate = rates(R.as_matrix(), tangents(R.as_matrix(), w))
    assert np.all(np.isfinite(rate))
    np.testing.assert_allclose(rate, derivative(moved), atol=1e-8)


def test_rotation_vector_derivative_is_finite_up_to_half_a_turn():
    R = Rotation.from_rotvec(np.concatenate([VECTORS, HALF_TURNS])).as_matrix()
    assert np.all(np.isfinite(jax.jit(jax.vmap(jax.jacrev(spatial.rotation_vector)))(R)))


def test_rotation_vector_to_quaternion_has_first_and_second_derivatives():
    dphi = np.random.default_rng(5).normal(size=VECTORS.shape)

    def rate(phi, d):
        return jax.jvp(spatial.rotation_vector_to_quaternion, (phi,), (d,))[1]

    def curve(phi, d):
        return jax.jvp(lambda x: rate(x, d), (phi,), (d,))[1]

    first = jax.jit(jax.vmap(rate))
    np.testing.assert_allclose(
        first(VECTORS, dphi), derivative(lambda s: vector_to_quaternion(VECTORS + s * dphi)), atol=1e-9
    )
    np.testing.assert_allclose(
        jax.jit(jax.vmap(curve))(VECTORS, dphi), derivative(lambda s: first(VECTORS + s * dphi, dphi)), atol=1e-9
    )


def test_frame_with_z_is_cyclic_on_the_coordinate_axes():
    for k in range(3):
        e = np.eye(3)
        expected = np.stack([e[(k + 1) % 3], e[(k + 2) % 3], e[k]], axis=1)
        np.testing.assert_array_equal(spatial.frame_with_z(jnp.array(5.0 * e[k])), expected)


def test_frame_with_z_is_a_rotation_along_the_axis_with_a_derivative():
    frames = jax.jit(jax.vmap(spatial.frame_with_z))
    axes = np.concatenate([AXES, -AXES, [[1.0, 1.0, 1.0], [1.0, -1.0, 0.0]]]) * 3.0
    R = np.asarray(frames(axes))
    np.testing.assert_allclose(R[:, :, 2], axes / np.linalg.norm(axes, axis=1, keepdims=True), atol=1e-15)
    np.testing.assert_allclose(R @ R.transpose(0, 2, 1), np.broadcast_to(np.eye(3), R.shape), atol=1e-14)
    np.testing.assert_allclose(np.linalg.det(R), 1.0, atol=1e-14)
    d = np.random.default_rng(6).normal(size=AXES.shape)
    rate = jax.jit(jax.vmap(lambda a, d: jax.jvp(spatial.frame_with_z, (a,), (d,))[1]))(AXES, d)
    np.testing.assert_allclose(rate, derivative(lambda s: frames(AXES + s * d)), atol=1e-9)


def test_angle_about_z_is_the_turn_also_with_a_small_tilt():
    for angle in (-3.1, -1.0, 0.0, 0.5, 2.5, np.pi):
        assert spatial.angle_about_z(jnp.array(turn([0, 0, 1], angle))) == pytest.approx(angle, abs=1e-15)
        tilted = turn([1, 2, 0], 1e-3) @ turn([0, 0, 1], angle)
        wrong = spatial.wrap(spatial.angle_about_z(jnp.array(tilted)) - angle)
        assert abs(float(wrong)) < 1e-6


def test_wrap_brings_angles_home_with_derivative_one():
    angles = np.array([0.0, 3.0, -3.0, 3.5, -3.5, 7.0, 100.0, -1000.0])
    wrapped = np.asarray(jax.vmap(spatial.wrap)(angles))
    turns = (angles - wrapped) / (2 * np.pi)
    np.testing.assert_allclose(turns, np.round(turns), atol=1e-12)
    assert np.all(np.abs(wrapped) <= np.pi)
    np.testing.assert_allclose(jax.vmap(jax.grad(spatial.wrap))(angles), 1.0, atol=1e-12)
    np.testing.assert_allclose(jax.vmap(jax.grad(jax.grad(spatial.wrap)))(angles), 0.0, atol=1e-12)


def test_poses_compose_and_invert_like_homogeneous_matrices():
    def homogeneous(pose):
        return np.block([[np.asarray(pose.R), np.asarray(pose.p)[:, None]], [np.zeros((1, 3)), np.ones((1, 1))]])

    R = rotation_matrices(2, seed=7)
    a, b = (Pose(jnp.array(p), jnp.array(r)) for p, r in zip(([1.0, 2.0, 3.0], [-0.5, 0.1, 2.0]), R, strict=True))
    np.testing.assert_allclose(homogeneous(a @ b), homogeneous(a) @ homogeneous(b), atol=1e-14)
    np.testing.assert_allclose(homogeneous(a.inverse()), np.linalg.inv(homogeneous(a)), atol=1e-14)
    np.testing.assert_array_equal(np.stack([a.x, a.y, a.z], axis=1), a.R)
    np.testing.assert_array_equal(homogeneous(spatial.identity_pose()), np.eye(4))


def test_products_are_those_of_numpy():
    rng = np.random.default_rng(5)
    A, B, x, y = (
        rng.normal(size=(4, 3, 3)),
        rng.normal(size=(4, 3, 3)),
        rng.normal(size=(4, 3)),
        rng.normal(size=(4, 3)),
    )
    np.testing.assert_allclose(spatial.compose(jnp.array(A), jnp.array(B)), A @ B, atol=1e-14)
    np.testing.assert_allclose(spatial.turn(jnp.array(A), jnp.array(x)), (A @ x[..., None])[..., 0], atol=1e-14)
    np.testing.assert_allclose(spatial.dot(jnp.array(x), jnp.array(y)), np.sum(x * y, axis=1), atol=1e-14)
    np.testing.assert_allclose(spatial.cross(jnp.array(x), jnp.array(y)), np.cross(x, y), atol=1e-14)
    np.testing.assert_allclose(spatial.inverse(jnp.array(A)), np.linalg.inv(A), rtol=1e-11)


@pytest.mark.parametrize("size", [0.0, 1e-3, 0.00999, 0.0101, 1.0, 3.0])
def test_mean_rotation_is_the_mean(size):
    """By quadrature of scipy's rotations; below and above the switch to the series."""
    phi, x = size * np.array([0.6, -0.64, 0.48]), np.array([0.3, 1.0, -0.5])
    nodes, weights = np.polynomial.legendre.leggauss(20)
    turned = Rotation.from_rotvec(0.5 * (nodes[:, None] + 1) * phi).apply(x)
    np.testing.assert_allclose(spatial.mean_rotation(jnp.array(phi), jnp.array(x)), 0.5 * weights @ turned, atol=2e-13)
