"""What every coordinate kind owes: a pose and back, a twist that is the motion, and the same physics."""

import functools
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from jaxmb import Applied, Body, EulerAngles, EulerParameters, Gravity, Planar, PointMass, Quaternion, Revolute, System
from jaxmb.spatial import Pose

from ..oracles import accelerations, derivative, rotation_matrices, turn

SEQUENCES = ["xyz", "xzy", "yxz", "yzx", "zxy", "zyx", "xyx", "xzx", "yxy", "yzy", "zxz", "zyz"]
KINDS = {
    "Quaternion": Quaternion(),
    "EulerParameters": EulerParameters(),
    **{sequence: EulerAngles(sequence) for sequence in SEQUENCES},
    "Planar": Planar(),
    "PointMass": PointMass(),
    "planar PointMass": PointMass(planar=True),
}
COUNT = 6


def random_poses(name, seed=0):
    """Poses that the kind can have."""
    rng = np.random.default_rng(seed)
    p, R = rng.normal(size=(COUNT, 3)), rotation_matrices(COUNT, seed)
    if "lanar" in name:
        p[:, 2] = 0.0
    if name == "Planar":
        R = np.stack([turn([0, 0, 1], angle) for angle in rng.uniform(-np.pi, np.pi, COUNT)])
    if "PointMass" in name:
        R = np.broadcast_to(np.eye(3), (COUNT, 3, 3))
    return Pose(jnp.array(p), jnp.array(R))


def random_twists(name, seed=0):
    """Twists that the kind can have."""
    twists = np.random.default_rng(seed + 1).normal(size=(COUNT, 6))
    if "lanar" in name:
        twists[:, 2] = 0.0
    if name == "Planar":
        twists[:, 3:5] = 0.0
    if "PointMass" in name:
        twists[:, 3:] = 0.0
    return jnp.array(twists)


POSES = {name: random_poses(name) for name in KINDS}
TWISTS = {name: random_twists(name) for name in KINDS}


def each(function):
    """A function of a kind and its batch, over all kinds in one compiled program."""

    @jax.jit
    def run(*args):
        return {name: function(kind, *(arg[name] for arg in args)) for name, kind in KINDS.items()}

    return run


class Values(NamedTuple):
    q: dict
    v: dict
    twist: dict
    back: dict
    T: dict
    own: dict
    regular: dict
    moved: Callable


@pytest.fixture(scope="module")
def values():
    q = each(lambda kind, pose: jax.vmap(kind.from_pose)(pose))(POSES)
    v = each(lambda kind, q, twist: jax.vmap(kind.from_twist)(q, twist))(q, TWISTS)
    T = each(lambda kind, q: jax.vmap(jax.jacfwd(kind.twist, argnums=1))(q, jnp.zeros((len(q), kind.nv))))

    def at(kind, q, v):
        values = jax.vmap(kind.twist)(q, v), jax.vmap(kind.pose)(q)
        return *values, jax.vmap(kind.own_residual)(q), jax.vmap(kind.regularity)(q)

    def move(kind, q, v):
        by_rate = q + jax.vmap(kind.qdot)(q, v)
        return jax.vmap(kind.pose)(by_rate), jax.vmap(kind.pose)(jax.vmap(kind.retract)(q, v))

    at, move = each(at), each(move)
    # Euler angles once more at the second angle where they lock
    locked = {name: x.at[:, 4].set(_lock(name)) if name in SEQUENCES else x for name, x in q.items()}
    now, there = at(q, v), at(locked, v)
    twist, back, own, regular = ({name: now[name][k] for name in KINDS} for k in range(4))
    regular = {name: (regular[name], there[name][3]) for name in KINDS}
    jacobians = T(q), T(locked)
    T = {name: (jacobians[0][name], jacobians[1][name]) for name in KINDS}

    @functools.cache
    def moved(s):
        return move(q, {name: s * x for name, x in v.items()})

    return Values(q, v, twist, back, T, own, regular, moved)


def _lock(sequence):
    return 0.0 if sequence[0] == sequence[2] else np.pi / 2


@pytest.mark.parametrize("name", KINDS)
def test_pose_undoes_from_pose(name, values):
    assert values.q[name].shape == (COUNT, KINDS[name].nq)
    np.testing.assert_allclose(values.back[name].p, POSES[name].p, atol=1e-14)
    np.testing.assert_allclose(values.back[name].R, POSES[name].R, atol=1e-14)


@pytest.mark.parametrize("name", KINDS)
def test_twist_undoes_from_twist_and_is_linear(name, values):
    assert values.v[name].shape == (COUNT, KINDS[name].nv)
    np.testing.assert_allclose(values.twist[name], TWISTS[name], atol=1e-12)
    linear = np.einsum("bij,bj->bi", values.T[name][0], values.v[name])
    np.testing.assert_allclose(linear, TWISTS[name], atol=1e-12)


@pytest.mark.parametrize("way", ["qdot", "retract"])
@pytest.mark.parametrize("name", KINDS)
def test_twist_is_the_motion_of_the_pose(name, way, values):
    def pose(s):
        return values.moved(s)[name][0 if way == "qdot" else 1]

    def turned(s):  # R(s) = R(0) exp(s w) to first order
        relative = np.array(POSES[name].R).transpose(0, 2, 1) @ np.array(pose(s).R)
        return Rotation.from_matrix(relative).as_rotvec()

    np.testing.assert_allclose(derivative(lambda s: pose(s).p), TWISTS[name][:, :3], atol=1e-9)
    np.testing.assert_allclose(derivative(turned), TWISTS[name][:, 3:], atol=1e-9)


@pytest.mark.parametrize("name", KINDS)
def test_own_rows_are_zero_on_every_pose_and_named(name, values):
    assert values.own[name].shape == (COUNT, len(KINDS[name].own_rows))
    np.testing.assert_allclose(values.own[name], 0.0, atol=1e-15)


@pytest.mark.parametrize("name", KINDS)
def test_regularity_vanishes_exactly_where_the_speeds_do_not_give_every_twist(name, values):
    (regular, at_lock), (T, T_lock) = values.regular[name], values.T[name]
    freedoms = np.linalg.matrix_rank(np.asarray(TWISTS[name]))
    assert np.all(np.abs(regular) > 1e-3)
    assert np.all(np.linalg.matrix_rank(np.asarray(T)) == freedoms)
    if name in SEQUENCES:
        np.testing.assert_allclose(at_lock, 0.0, atol=1e-15)
        assert np.all(np.linalg.matrix_rank(np.asarray(T_lock), tol=1e-12) == freedoms - 1)


# One free body under a load and one pendulum about an oblique axis, in every spatial kind.

MASS, COM, GRAVITY = 2.0, np.array([0.1, -0.2, 0.3]), np.array([0.5, -1.0, -9.0])
TILT = rotation_matrices(1, seed=3)[0]
INERTIA = TILT @ np.diag([0.3, 0.5, 0.6]) @ TILT.T
R_WB = rotation_matrices(1, seed=4)[0]
PIVOT, AXIS = np.array([0.3, 0.4, 0.5]), np.array([1.0, 2.0, -0.5])
FORCE, POINT = np.array([3.0, -1.0, 2.0]), np.array([0.4, 0.0, 0.1])
OMEGA, VELOCITY = np.array([2.0, -3.0, 1.0]), np.array([0.1, 0.2, 0.3])
SPIN = 1.7


def mechanism():
    def body():
        return Body(MASS, INERTIA, com=COM, position=(1, 2, 3), rotation=R_WB, points={"hook": POINT})

    return System(
        bodies={"free": body(), "pendulum": body()},
        joints={"pivot": Revolute("ground", "pendulum", point=PIVOT, axis=AXIS)},
        forces={"gravity": Gravity(GRAVITY), "load": Applied("free", FORCE, at="hook")},
    )


@functools.partial(jax.jit, static_argnums=0)
def solved(kinds, omega, velocity):
    """Terms of the mechanism, and its equations and state for what follows."""
    system = mechanism().with_coordinates(dict(kinds))
    state = system.state(omega=omega, velocity=velocity)
    equations = system.equations()
    terms = equations.terms(state.t, state.q, state.v)

    # twist rate = T a + bias
    _, bias = jax.jvp(lambda q: equations.twists(q, state.v), (state.q,), (equations.qdot(state.q, state.v),))
    T = jax.jacfwd(equations.twists, argnums=1)(state.q, state.v)
    return terms, bias, T


@pytest.mark.parametrize(
    "kinds",
    [
        (Quaternion(), Quaternion()),
        (EulerAngles("zxz"), EulerParameters()),
        (EulerParameters(), EulerAngles("xyz")),
    ],
    ids=["quaternions", "zxz and parameters", "parameters and xyz"],
)
def test_accelerations_are_those_of_newton_and_euler_in_every_kind(kinds):
    n = AXIS / np.linalg.norm(AXIS)
    com = np.array([1, 2, 3]) + R_WB @ COM
    arm = com - PIVOT
    spin = SPIN * n
    kinds = tuple(zip(("free", "pendulum"), kinds, strict=True))
    omega, velocity = {"free": OMEGA, "pendulum": spin}, {"free": VELOCITY, "pendulum": np.cross(spin, arm)}
    terms, bias, T = solved(kinds, omega, velocity)
    free, pendulum = np.asarray(bias + T @ accelerations(terms))[:2]
    # Newton and Euler, about the centre of mass in body axes
    w = R_WB.T @ OMEGA
    moment = R_WB.T @ np.cross(R_WB @ (POINT - COM), FORCE)
    np.testing.assert_allclose(free[:3], GRAVITY + FORCE / MASS, atol=1e-9)
    np.testing.assert_allclose(INERTIA @ free[3:] + np.cross(w, INERTIA @ w), moment, atol=1e-9)
    # a pendulum about a fixed axis
    J_axis = n @ (R_WB @ INERTIA @ R_WB.T) @ n + MASS * np.sum(np.cross(n, arm) ** 2)
    alpha = n @ np.cross(arm, MASS * GRAVITY) / J_axis * n
    np.testing.assert_allclose(R_WB @ pendulum[3:], alpha, atol=1e-9)
    np.testing.assert_allclose(pendulum[:3], np.cross(alpha, arm) + np.cross(spin, np.cross(spin, arm)), atol=1e-9)


@pytest.mark.parametrize("name", ["Quaternion", "EulerParameters", "zxz", "Planar", "PointMass"])
def test_local_coordinates_and_axes(name):
    """A chart starts at the pose, its speed is the motion of the pose, axes go there and back, and the rate of the speeds in
    turning axes is that of the speeds less the drift."""
    kind = KINDS[name]
    rng = np.random.default_rng(3)
    q = kind.from_pose(jax.tree.map(lambda x: x[0], POSES[name]))
    x, rate, v, a = (0.3 * jnp.array(rng.normal(size=kind.nv)) for _ in range(4))
    np.testing.assert_allclose(kind.chart(q, jnp.zeros(kind.nv)), q, atol=1e-14)
    there, moving = jax.jvp(lambda x: kind.chart(q, x), (x,), (rate,))
    speeds = kind.from_axes(there, kind.chart_speed(q, x, rate))
    np.testing.assert_allclose(kind.qdot(there, speeds), moving, atol=1e-12)
    np.testing.assert_allclose(kind.from_axes(q, kind.to_axes(q, v)), v, atol=1e-14)
    _, turning = jax.jvp(kind.to_axes, (q, v), (kind.qdot(q, v), a))
    np.testing.assert_allclose(turning + kind.drift(kind.to_axes(q, v)), kind.to_axes(q, a), atol=1e-12)


def test_a_chart_follows_a_screw():
    """Half a turn about z while moving along x of the body's own axes: half a circle."""
    kind = Quaternion()
    q = jnp.array([0.0, 0, 0, 1, 0, 0, 0])
    x = jnp.array([1.0, 0, 0, 0, 0, np.pi])
    end = kind.chart(q, x)
    np.testing.assert_allclose(end[:3], [0.0, 2 / np.pi, 0.0], atol=1e-14)
    # A constant rate along x is a constant speed in the body's axes, wherever it has come to.
    np.testing.assert_allclose(kind.chart_speed(q, 0.7 * x, x), x, atol=1e-12)
