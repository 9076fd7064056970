"""Named outputs of a redundant mechanism against NumPy and finite differences."""

import numpy as np
import pytest

import jaxmb as mb
from jaxmb.mechanisms import get_mechanism

from .models import loop_run


@pytest.fixture(scope="module")
def sol():
    return loop_run()


def newton_euler_residual(sol, gravity, applied=()):
    """Largest imbalance of forces and of moments about the centre of mass over all bodies, and the largest load."""
    worst, scale = 0.0, 0.0
    for name, body in sol.system.bodies.items():
        motion = sol.body(name)
        R = np.asarray(motion.rotation)
        m, J = float(body.mass), R @ np.asarray(body.inertia) @ R.transpose(0, 2, 1)
        force, moment = m * np.broadcast_to(gravity, motion.position.shape), np.zeros(motion.position.shape)
        for joint_name, joint in sol.system.joints.items():
            for k, port in enumerate(joint.ports):
                if port.body != name:
                    continue
                reaction = sol.reaction(joint_name, port=k)
                at = sol.point(name, port.frame.p) - motion.position
                push = np.asarray(reaction.force)
                force = force + push
                moment = moment + np.asarray(reaction.torque) + np.cross(np.asarray(at), push)
                scale = max(scale, float(np.max(np.abs(reaction.force))))
        for body_name, load, at in applied:
            if body_name == name:
                force = force + load
                moment = moment + np.cross(at - np.asarray(motion.position), load)
        w = np.asarray(motion.omega)
        momentum = np.einsum("tij,tj->ti", J, w)
        rate = np.einsum("tij,tj->ti", J, np.asarray(motion.alpha)) + np.cross(w, momentum)
        worst = max(worst, np.max(np.abs(force - m * np.asarray(motion.acceleration))), np.max(np.abs(moment - rate)))
    return worst, scale


def test_newton_and_euler_hold_with_the_reported_reactions(sol):
    middle = np.asarray(sol.point("coupler", "middle"))
    line = middle - np.array([0.8, -1.0, 0.0])
    length = np.linalg.norm(line, axis=1, keepdims=True)
    spring = -20.0 * (length - 0.3) * line / length
    worst, scale = newton_euler_residual(sol, (0, -9.81, 0), [("coupler", spring, middle)])
    assert scale > 1.0
    assert worst < 1e-8 * scale


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mcpherson-overconstrained", "bricard"])
def test_newton_and_euler_hold_on_published_redundant_mechanisms(name):
    entry = get_mechanism(name)
    system, state = entry.build()
    sol = mb.simulate(system, state, t1=1.0, dt_save=0.25)
    if name == "bricard":
        gravity, applied = (0.0, -9.81, 0.0), []
    else:
        t = np.asarray(sol.t)
        push = np.stack([0 * t, 2 + 0.01 * np.sin(t), 0 * t], axis=1)
        centres = {body: np.asarray(sol.body(body).position) for body in ("arm", "rack")}
        gravity, applied = (
            (0.0, 0.0, -9.80665),
            [("arm", np.array([0, 0, 38.0]), centres["arm"]), ("rack", push, centres["rack"])],
        )
    worst, scale = newton_euler_residual(sol, gravity, applied)
    assert worst < 1e-8 * max(1.0, scale)


def test_velocities_and_accelerations_are_rates(sol):
    """Against the change of positions between neighbouring instants of a fine run."""
    system, state = sol.system, mb.State(sol.t[5], sol.q[5], sol.v[5])
    h = 1e-4
    fine = mb.simulate(
        system, state, t1=float(state.t) + 2 * h, ts=np.asarray(state.t) + h * np.arange(3), rtol=1e-12, atol=1e-13
    )
    for motion in (fine.body("coupler"), fine.point_motion("coupler", "end")):
        x = np.asarray(motion.position)
        assert np.allclose((x[2] - x[0]) / (2 * h), motion.velocity[1], atol=1e-6)
        assert np.allclose((x[2] - 2 * x[1] + x[0]) / h**2, motion.acceleration[1], atol=1e-3)
    angle = np.asarray(fine.joint("B").angle)
    assert np.allclose((angle[2] - angle[0]) / (2 * h), fine.joint("B").angle_rate[1], atol=1e-6)


def test_reactions_of_a_redundant_loop_are_not_unique_but_their_sum_in_the_plane_is(sol):
    """Out-of-plane parts can be shared at will: adding a null vector of J' changes them and not the equations."""
    assert not np.any(sol.reaction("C").unique)
    terms = sol.system.equations().terms(sol.t[3], sol.q[3], sol.v[3])
    null = np.linalg.svd(np.asarray(terms.J).T)[2][17:]
    assert np.max(np.abs(np.asarray(terms.J).T @ null.T)) < 1e-12
    assert np.max(np.abs(null @ np.asarray(sol.lam[3]))) < 1e-8, "reported multipliers are the smallest"


def test_reaction_frames_and_ports(sol):
    world, own = sol.reaction("C"), sol.reaction("C", frame="rocker")
    R = np.asarray(sol.body("rocker").rotation)
    assert np.allclose(np.einsum("tij,tj->ti", R, own.force), world.force)
    other = sol.reaction("C", port=0)
    assert np.allclose(other.force, -world.force)
    with pytest.raises(mb.ModelError, match="has ports 0 to 1, but port 2"):
        sol.reaction("C", port=2)
