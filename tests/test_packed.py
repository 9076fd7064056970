"""Grouping: equal elements are one, unequal ones are not, and the program does not grow with the mechanism."""

import time

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmb as mb
from jaxmb.kinematics import ride
from jaxmb.spatial import Pose

from .oracles import derivative, rotation_matrices, turn


def chain(n, *, forces=None):
    bodies = {f"b{k}": mb.rod((k, 0, 0), (k + 1, 0, 0), mass=1.0 + k) for k in range(n)}
    joints = {
        f"J{k}": mb.Revolute("ground" if k == 0 else f"b{k - 1}", f"b{k}", point=(k, 0, 0), axis=(0, 1.0, 0.1 * k))
        for k in range(n)
    }
    return mb.System(bodies, joints, forces or {"g": mb.Gravity()})


def count(jaxpr) -> int:
    """Equations of a jaxpr, with those of the programs inside it."""
    total = 0
    for equation in jaxpr.eqns:
        inner = [getattr(p, "jaxpr", p) for p in jax.tree.leaves(list(equation.params.values()), is_leaf=_is_jaxpr)]
        total += 1 + sum(count(p) for p in inner if hasattr(p, "eqns"))
    return total


def _is_jaxpr(x) -> bool:
    return hasattr(x, "eqns") or hasattr(x, "jaxpr")


def spring_chain(n):
    return chain(
        n, forces={"g": mb.Gravity()} | {f"s{k}": mb.joint_spring(f"J{k}", stiffness=1.0 + k) for k in range(n)}
    )


def terms_at_rest(equations, n):
    return equations.terms(jnp.zeros(()), jnp.ones(7 * n), jnp.zeros(6 * n))


def test_the_program_of_64_joints_is_as_long_as_that_of_8():
    sizes = []
    for n in (8, 64):
        equations = eqx.filter_eval_shape(lambda n=n: spring_chain(n).equations())
        sizes.append(count(jax.make_jaxpr(lambda e, n=n: terms_at_rest(e, n))(equations).jaxpr))
    assert sizes[0] > 100
    assert sizes[0] == sizes[1]


@pytest.mark.slow
def test_64_joints_compile_in_at_most_twice_the_time_of_8(without_compilation_cache):
    def seconds(n):
        equations = spring_chain(n).equations()
        lowered = jax.jit(lambda e: terms_at_rest(e, n)).lower(equations)
        start = time.process_time()
        lowered.compile()
        return time.process_time() - start

    seconds(8)  # what is set up once
    assert seconds(64) <= 2 * seconds(8)


def test_elements_that_differ_in_numbers_only_are_one_group():
    system = chain(4, forces={f"s{k}": mb.joint_spring(f"J{k}", stiffness=1.0 + k) for k in range(4)})
    equations = system.equations()
    assert [len(group.order) for group in equations.joints] == [4]
    assert [len(group.order) for group in equations.forces] == [4]
    np.testing.assert_array_equal(equations.forces[0].element.law.stiffness, [1, 2, 3, 4])
    assert equations.joints[0].bodies == ((4, 0), (0, 1), (1, 2), (2, 3))


def rate(w):
    return lambda t: w * t


def test_elements_that_differ_otherwise_are_not():
    joints = {
        "D0": mb.Driver("J0", rate(1.0)),
        "D1": mb.Driver("J1", rate(2.0)),
        "D2": mb.Driver("J2", rate(1.0)),
        "G1": mb.Gear("J0", "J1", teeth=(1, 2)),
        "G2": mb.Gear("J0", "J1", teeth=(1, 3)),
    }
    forces = {
        "t1": mb.JointForce("J0", mb.Table([0.0, 1.0], [0.0, 1.0])),
        "t2": mb.JointForce("J1", mb.Table([0.0, 1.0, 2.0], [0.0, 1.0, 3.0])),
        "t3": mb.JointForce("J2", mb.Table([0.0, 2.0], [0.0, 1.0])),
    }
    equations = chain(3, forces=forces).with_joints(**joints).equations()
    assert [group.order for group in equations.joints] == [(0, 1, 2), (3, 5), (4,), (6,), (7,)]
    assert [group.order for group in equations.forces] == [(0, 2), (1,)]


def test_grouped_rows_come_back_in_the_order_of_the_joints():
    """Every joint of a mixed order has its own function, so a swapped row would be seen."""

    def level(value):
        return mb.UserJoint("ground", "a", jax.tree_util.Partial(lambda c, F, G, t: c[None], value))

    joints = {
        "u0": level(10.0),
        "d0": mb.Distance("ground", "a", length=1.0),
        "u1": level(20.0),
        "d1": mb.Distance("ground", "a", length=2.0),
        "u2": level(30.0),
    }
    system = mb.System({"a": mb.sphere((3, 0, 0), radius=1.0, mass=1.0)}, joints)
    state = system.state()
    equations = system.equations()
    assert len(equations.joints) == 2
    np.testing.assert_allclose(equations.terms(state.t, state.q, state.v).Phi, [10, 4, 20, 1.25, 30])
    assert equations.row_names == ("u0.1", "d0.length", "u1.1", "d1.length", "u2.1")


class Network(eqx.Module):
    """A force law with weights, a function and a whole number among its leaves."""

    weights: jax.Array
    activation: object
    power: int

    def __call__(self, x, xdot, t):
        return jnp.sum(self.weights) * self.activation(x) ** self.power


def test_laws_with_leaves_that_are_not_arrays_work_and_stack():
    laws = [
        Network(jnp.array([1.0, 2.0]), jnp.tanh, 2),
        Network(jnp.array([3.0, 4.0]), jnp.tanh, 2),
        Network(jnp.ones(2), jnp.tanh, 3),
    ]
    bodies = {f"b{k}": mb.sphere((2.0, k, 0), radius=1.0, mass=1.0) for k in range(3)}
    forces = {f"f{k}": mb.PointToPoint("ground", f"b{k}", law, at=(0, k, 0)) for k, law in enumerate(laws)}
    system = mb.System(bodies, forces=forces)
    equations, state = system.equations(), system.state()
    assert [group.order for group in equations.forces] == [(0, 1), (2,)]
    Q = np.asarray(equations.terms(state.t, state.q, state.v).Q).reshape(3, 6)
    np.testing.assert_allclose(Q[:, 0], [-3 * np.tanh(2) ** 2, -7 * np.tanh(2) ** 2, -2 * np.tanh(2) ** 3], rtol=1e-13)


def test_a_ride_is_the_motion_of_a_frame_fixed_in_a_body():
    R, twist = rotation_matrices(2, seed=8), np.array([0.1, 0.2, 0.3, 1.0, -2.0, 0.5])
    pose, frame = Pose(jnp.array([1.0, 2, 3]), jnp.array(R[0])), Pose(jnp.array([0.3, -0.4, 0.5]), jnp.array(R[1]))
    found = ride(pose, jnp.array(twist), frame)

    def at(s):
        return Pose(pose.p + s * twist[:3], pose.R @ jnp.array(turn(twist[3:], s * np.linalg.norm(twist[3:])))) @ frame

    np.testing.assert_allclose(found.pose.p, at(0.0).p, atol=1e-14)
    np.testing.assert_allclose(found.pose.R, at(0.0).R, atol=1e-14)
    np.testing.assert_allclose(found.w, R[0] @ twist[3:], atol=1e-14)
    np.testing.assert_allclose(found.arm, R[0] @ frame.p, atol=1e-14)
    for name in ("p", "R"):

        def path(s, name=name):
            return np.asarray(getattr(at(s), name))

        rate = derivative(path)
        second = (path(1e-3) - 2 * path(0.0) + path(-1e-3)) / 1e-6
        np.testing.assert_allclose(getattr(found.rate, name), rate, atol=1e-10)
        np.testing.assert_allclose(getattr(found.drift, name), second, atol=1e-5)
        np.testing.assert_allclose(np.tensordot(twist, getattr(found.basis, name), 1), rate, atol=1e-10)


def test_energies_are_those_of_the_bodies():
    J = np.array([0.5, 0.6, 0.7])
    system = mb.System(
        {"a": mb.Body(2.0, J, position=(0, 0, 3.0)), "b": mb.Body(1.0, J, position=(1, 0, 3.0))},
        forces={"g": mb.Gravity((0, 0, -10.0)), "s": mb.spring("a", "b", stiffness=8.0)},
        coordinates=mb.EulerAngles("xyz"),
    )

    @eqx.filter_jit
    def energies(system):
        state = system.state(velocity={"a": (1, 2, 3)}, omega={"a": (1, 2, 3)})
        return system.equations().energies(state.q, state.v)

    kinetic, potential = energies(system)
    assert float(kinetic) == pytest.approx(0.5 * 2.0 * 14 + 0.5 * J @ [1, 4, 9])
    assert float(potential) == pytest.approx(90.0 + 4.0)


def test_bodies_without_joints_and_forces_have_empty_rows():
    system = mb.System({"a": mb.sphere(radius=1.0, mass=1.0)})
    terms = system.equations().terms(jnp.zeros(()), system.state().q, jnp.ones(6))
    assert terms.J.shape == (0, 6) and terms.Phi.shape == terms.gamma.shape == (0,)
    np.testing.assert_allclose(terms.Q, 0.0, atol=1e-15)
