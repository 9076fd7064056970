"""Equal elements are one group, unequal ones are not."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

import jaxmb as mb

from .models import chain


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
