"""What every joint owes, on one system that holds all of them: J, Phi_dot and gamma by finite differences, in
coordinates whose speeds are the twist and in coordinates whose speeds are not, and the number of freedoms that
mechanism theory gives."""

from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmb as mb

from ..oracles import derivative, jacobian, rank, rotation_matrices

POINT, AXIS = np.array([0.2, -0.4, 0.6]), np.array([0.3, 1.0, -0.5])
ACROSS = np.cross(AXIS, [1.0, 0.0, 0.0])
LEVEL = np.array([0.6, -0.8, 0.0])
FAR = np.array([1.0, 0.5, -0.5])


def wave(t):
    return 0.3 * jnp.sin(2.0 * t)


def rolling_ball(F, G, t):
    """A joint of a user's own, with time in it."""
    d = G.p - F.p
    return jnp.stack([jnp.dot(d, d) - jnp.dot(d, F.x) * jnp.sin(t), jnp.dot(F.y, G.z) * jnp.cos(t)])


def bodies():
    R = rotation_matrices(3, seed=31)
    positions = np.random.default_rng(32).normal(size=(3, 3))
    coms = np.random.default_rng(33).normal(size=(3, 3))
    return {
        name: mb.Body(1.0 + k, (1, 1.2, 1.4), com=coms[k], position=positions[k], rotation=R[k])
        for k, name in enumerate("abc")
    }


def joints():
    here = {"point": POINT, "axis": AXIS}
    centers = {name: np.asarray(body.pose.p + body.pose.R @ body.com) for name, body in bodies().items()}
    return {
        # name: (joint, freedoms left between two bodies)
        "revolute": (mb.Revolute("a", "b", **here), 1),
        "revolute2": (mb.Revolute("ground", "c", point=FAR, axis="y"), 1),
        "prismatic": (mb.Prismatic("b", "c", **here), 1),
        "cylindrical": (mb.Cylindrical("c", "a", **here), 2),
        "screw": (mb.Screw("a", "b", pitch=0.7, **here), 1),
        "spherical": (mb.Spherical("a", "b", point=POINT), 3),
        "universal": (mb.Universal("a", "c", point=POINT, axis=AXIS, axis_to=ACROSS), 2),
        "constant_velocity": (mb.ConstantVelocity("a", "b", point=POINT, axis=AXIS, axis_to=(1.0, 0.9, 0.2)), 2),
        "planar": (mb.PlanarJoint("c", "b", **here), 3),
        "fixed": (mb.Fixed("a", "b", point=POINT), 0),
        "distance": (mb.Distance("a", "b", at="com", to="com", length=np.linalg.norm(centers["b"] - centers["a"])), 5),
        "inline": (mb.InLine("ground", "b", **here), 4),
        "inplane": (mb.InPlane("a", "b", **here), 5),
        "parallel_axes": (mb.ParallelAxes("a", "c", **here), 4),
        "perpendicular_axes": (mb.PerpendicularAxes("a", "b", point=POINT, axis=AXIS, axis_to=ACROSS), 5),
        "planar_revolute": (mb.PlanarRevolute("a", "b", point=POINT), 4),
        "planar_prismatic": (mb.PlanarPrismatic("a", "b", point=POINT, axis=LEVEL), 4),
        "planar_slot": (mb.PlanarSlot("ground", "b", point=POINT, axis=LEVEL), 5),
        "user": (mb.UserJoint("a", "b", rolling_ball, point=POINT), None),
        "user_spherical": (mb.UserJoint("a", "b", lambda F, G, t: G.p - F.p, point=POINT), 3),
        "driver": (mb.Driver("revolute", wave), 5),
        "driver2": (mb.Driver("prismatic", wave), 5),
        "driver3": (mb.Driver("cylindrical", wave, coordinate="angle"), 5),
        "body_driver": (mb.BodyDriver("a", lambda t: centers["a"][2] + wave(t), axis="z"), 5),
        "body_driver2": (mb.BodyDriver("c", wave, axis=AXIS, rotation=True), 5),
        "gear": (mb.Gear("revolute", "revolute2", teeth=(17, 40)), None),
        "coupler": (mb.Coupler("prismatic", "revolute2", ratio=0.3), None),
        "coupler2": (mb.Coupler("revolute", "cylindrical", ratio=1.7, coordinates=("angle", "distance")), None),
    }


JOINTS = joints()
#: How coordinates enter is the same for all joints, so a few of them do.
FEW = ["revolute", "revolute2", "screw", "universal", "user", "driver", "gear"]
MIXED = {"a": mb.EulerAngles("xyz"), "b": mb.EulerParameters()}


class Zoo(NamedTuple):
    system: mb.System
    state: mb.State
    names: tuple
    terms: Callable
    rows: dict
    t: jax.Array
    q: jax.Array
    v: jax.Array
    rate: jax.Array
    retract: Callable


def make_zoo(names, kinds) -> Zoo:
    system = mb.System(bodies(), {name: JOINTS[name][0] for name in names}, coordinates=kinds)
    equations, state = eqx.filter_jit(lambda system: (system.equations(), system.state()))(system)
    joint_of = [row.rpartition(".")[0] for row in equations.row_names]
    rows = {name: [k for k, joint in enumerate(joint_of) if joint == name] for name in names}
    rng = np.random.default_rng(34)
    # anywhere: the laws of derivatives do not ask for closed joints
    q = jnp.array(state.q + 0.3 * rng.normal(size=state.q.shape))
    v = jnp.array(rng.normal(size=state.v.shape))
    rate = eqx.filter_jit(equations.qdot)(q, v)
    t, retract = jnp.asarray(0.4, float), eqx.filter_jit(equations.retract)
    return Zoo(system, state, equations.row_names, equations.terms, rows, t, q, v, rate, retract)


@pytest.fixture(scope="module")
def zoo():
    return make_zoo(JOINTS, None)


@pytest.fixture(scope="module")
def mixed_zoo():
    return make_zoo(FEW, MIXED)


def differences(zoo):
    """All rows by finite differences: of Phi on each speed, of Phi on time, of Phi and Phi_dot along the motion."""
    t, q, v, rate = zoo.t, zoo.q, zoo.v, zoo.rate
    J = jacobian(lambda dv: zoo.terms(t, zoo.retract(q, jnp.array(dv)), v).Phi, np.zeros(v.size))
    Phi_t = derivative(lambda s: zoo.terms(t + s, q, v).Phi)
    Phi_dot = derivative(lambda s: zoo.terms(t + s, q + s * rate, v).Phi)
    Phi_dot_dot = derivative(lambda s: zoo.terms(t + s, q + s * rate, v).Phi_dot)
    return J, Phi_t, Phi_dot, Phi_dot_dot


def check_derivatives(name, zoo, differences):
    rows = zoo.rows[name]
    terms = zoo.terms(zoo.t, zoo.q, zoo.v)
    J, Phi_t, Phi_dot, Phi_dot_dot = (x[rows] for x in differences)
    assert len(rows) > 0 and np.abs(J).max() > 1e-3
    np.testing.assert_allclose(np.asarray(terms.J)[rows], J, atol=1e-8)
    np.testing.assert_allclose(np.asarray(terms.Phi_dot)[rows], J @ zoo.v + Phi_t, atol=1e-8)
    np.testing.assert_allclose(np.asarray(terms.Phi_dot)[rows], Phi_dot, atol=1e-8)
    np.testing.assert_allclose(np.asarray(terms.gamma)[rows], -Phi_dot_dot, atol=1e-7)
    if name == "user" or "driver" in name:
        assert np.abs(Phi_t).max() > 1e-2
    else:
        np.testing.assert_allclose(Phi_t, 0.0, atol=1e-12)


@pytest.fixture(scope="module")
def zoo_differences(zoo):
    return differences(zoo)


@pytest.fixture(scope="module")
def mixed_differences(mixed_zoo):
    return differences(mixed_zoo)


@pytest.mark.parametrize("name", JOINTS)
def test_jacobian_rate_and_gamma_are_finite_differences(name, zoo, zoo_differences):
    check_derivatives(name, zoo, zoo_differences)


@pytest.mark.parametrize("name", FEW)
def test_they_are_so_where_the_speeds_are_not_the_twist(name, mixed_zoo, mixed_differences):
    check_derivatives(name, mixed_zoo, mixed_differences)


@pytest.mark.parametrize("name", [name for name, (_, left) in JOINTS.items() if left is not None])
def test_a_closed_joint_leaves_the_freedoms_of_mechanism_theory(name, zoo):
    left = JOINTS[name][1]
    terms = zoo.terms(zoo.state.t, zoo.state.q, zoo.state.v)
    np.testing.assert_allclose(np.asarray(terms.Phi)[zoo.rows[name]], 0.0, atol=1e-12)
    assert rank(np.asarray(terms.J)[zoo.rows[name]]) == 6 - left
    assert zoo.system.joints[name].nrows == 6 - left


def test_row_names_are_unique_and_in_the_order_of_the_joints(zoo):
    assert len(set(zoo.names)) == len(zoo.names)
    assert zoo.names[:5] == ("revolute.x", "revolute.y", "revolute.z", "revolute.tilt_x", "revolute.tilt_y")
    assert [k for rows in zoo.rows.values() for k in rows] == list(range(len(zoo.names)))
    assert [zoo.names[k] for k in zoo.rows["user"]] == ["user.1", "user.2"]


def test_a_users_joint_has_the_rows_of_the_joint_it_copies(zoo):
    terms = zoo.terms(zoo.t, zoo.q, zoo.v)
    for x in (terms.Phi, terms.J, terms.Phi_dot, terms.gamma):
        np.testing.assert_allclose(
            np.asarray(x)[zoo.rows["user_spherical"]], np.asarray(x)[zoo.rows["spherical"]], atol=1e-13
        )
