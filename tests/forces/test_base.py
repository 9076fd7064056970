"""What every force element owes: action equals reaction, and its power is the loss of its energy, up to what it
declares."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmb as mb

from ..oracles import derivative, rotation_matrices

STIFFNESS = np.random.default_rng(61).normal(size=(6, 6))
STIFFNESS = STIFFNESS @ STIFFNESS.T


def drag(F, G, t):
    d = G.v - F.v
    return -2.0 * d + jnp.cross(G.pose.z, F.pose.x), -0.3 * (G.w - F.w)


def twist_spring(x, xdot, t):
    return 2.0 * x**3 + 0.1 * xdot + t


#: name: (force between bodies a and b, joint it needs, whether it is conservative)
ELEMENTS = {
    "spring": (mb.spring("a", "b", stiffness=50.0, free_length=0.3, preload=2.0, at=(0.1, 0, 0), to="tip"), None, True),
    "damper": (mb.spring("a", "b", stiffness=0.0, damping=3.0, at="tip"), None, False),
    "table": (mb.PointToPoint("a", "b", mb.Table([0.0, 1.0, 2.0, 4.0], [-1.0, 0.0, 3.0, 4.0])), None, True),
    "branches": (
        mb.PointToPoint("a", "b", mb.Branches([0.5], [mb.Linear(3.0), lambda x, xdot, t: x**2 + t])),
        None,
        False,
    ),
    "actuator": (mb.PointToPoint("a", "b", mb.Actuator(lambda t: 2.0 + jnp.sin(t))), None, False),
    "sum": (mb.PointToPoint("a", "b", mb.Linear(4.0) + mb.UserLaw(twist_spring)), None, False),
    "bushing": (mb.Bushing("a", "b", stiffness=STIFFNESS, point=(0.1, 0.2, 0.3), axis=(1, 2, 3)), None, True),
    "damped bushing": (mb.Bushing("a", "b", stiffness=np.ones(6), damping=np.arange(6.0), at="tip"), None, False),
    "joint spring": (
        mb.joint_spring("J", stiffness=3.0, free=0.2),
        mb.Revolute("a", "b", point=(0, 0, 0), axis=(1, 1, 0)),
        True,
    ),
    "slider spring": (
        mb.joint_spring("J", stiffness=3.0, damping=0.5, coordinate="distance"),
        mb.Cylindrical("a", "b", point=(0, 0, 0)),
        False,
    ),
    "user": (mb.UserForce("a", "b", drag, at="tip", to=(0, 0.1, 0)), None, False),
}
NAMES = list(ELEMENTS)
J = np.array([1.0, 1.2, 1.4])


@pytest.fixture(scope="module")
def case():
    """Each element between its own two bodies, all in one system: one program to compile."""
    R, p = rotation_matrices(2, seed=62), np.random.default_rng(63).normal(size=(2, 3))
    bodies, joints, forces = {}, {}, {}
    for k, (force, joint, _) in enumerate(ELEMENTS.values()):
        rename = {"a": f"a{k}", "b": f"b{k}"}
        for i, name in enumerate("ab"):
            bodies[rename[name]] = mb.Body(
                1.0, J, com=(0.1, 0.2, 0.3), position=p[i], rotation=R[i], points={"tip": (0.4, 0, -0.2)}
            )
        forces[f"force{k}"] = renamed(force, rename, f"J{k}")
        if joint is not None:
            joints[f"J{k}"] = renamed(joint, rename, "")
    system = mb.System(bodies, joints, forces)
    equations, state = eqx.filter_jit(lambda system: (system.equations(), system.state()))(system)
    rng = np.random.default_rng(64)
    v = rng.normal(size=(len(NAMES), 2, 6))
    # away from the reference pose, by less than half a turn
    q = eqx.filter_jit(equations.retract)(state.q, jnp.array(0.4 * rng.normal(size=state.v.shape)))
    return equations, eqx.filter_jit(equations.energies), eqx.filter_jit(equations.retract), q, v


def renamed(element, bodies, joint):
    """The element between other bodies."""
    if element.ports:
        ports = tuple(mb.ports.replace(port, body=bodies[port.body]) for port in element.ports)
        return mb.ports.replace(element, ports=ports)
    return mb.ports.replace(element, measured=mb.ports.replace(element.measured, joint=joint))


def only(k, v):
    """Speeds with all pairs at rest but the k-th."""
    out = np.zeros_like(v)
    out[k] = v[k]
    return jnp.array(out.reshape(-1))


@pytest.mark.parametrize("name", NAMES)
def test_action_is_reaction(name, case):
    equations, _, _, q, v = case
    k = NAMES.index(name)
    terms = equations.terms(jnp.asarray(0.7, float), q, only(k, v))
    poses = equations.poses(q)
    Q = np.asarray(terms.Q).reshape(len(NAMES), 2, 6)[k]
    R, p = np.asarray(poses.R)[2 * k : 2 * k + 2], np.asarray(poses.p)[2 * k : 2 * k + 2]
    w = v[k, :, 3:]
    torque = np.stack([R[i] @ (Q[i, 3:] + np.cross(w[i], J * w[i])) for i in range(2)])
    assert np.abs(Q).max() > 0.1
    np.testing.assert_allclose(Q[0, :3] + Q[1, :3], 0.0, atol=1e-12)
    np.testing.assert_allclose(np.sum(torque + np.cross(p, Q[:, :3]), axis=0), 0.0, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_power_is_the_loss_of_energy_up_to_what_is_declared(name, case):
    equations, energies, retract, q, v = case
    k = NAMES.index(name)
    speeds = only(k, v)
    terms = equations.terms(jnp.asarray(0.7, float), q, speeds)
    loss = -derivative(lambda s: energies(retract(q, s * speeds), speeds)[1])
    power = float(jnp.dot(terms.Q, speeds))  # the gyroscopic torque has none
    assert abs(power) > 1e-2
    np.testing.assert_allclose(power, loss + float(terms.power), atol=1e-8)
    conservative = ELEMENTS[name][2]
    assert (abs(float(terms.power)) < 1e-12) == conservative


@pytest.mark.parametrize("name", ["damper", "damped bushing"])
def test_dampers_take_energy(name, case):
    equations, *_, q, v = case
    terms = equations.terms(jnp.asarray(0.7, float), q, only(NAMES.index(name), v))
    assert float(terms.power) < -1e-2
