"""Torques and forces on joint coordinates: sign, place and what they refer to."""

import numpy as np
import pytest

from jaxmb import (
    Actuator,
    Body,
    Cylindrical,
    Force,
    Gravity,
    JointForce,
    ModelError,
    Prismatic,
    Revolute,
    System,
    joint_spring,
)

from ..oracles import rotation_matrices, turn
from .frames import loads, motion

R = rotation_matrices(1, seed=81)[0]
BODIES = {name: Body(1.0, (1, 1, 1), position=(0, 0, 0)) for name in "ab"}
JOINTS = {
    "A": Revolute("a", "b", point=(0, 0, 0)),
    "S": Prismatic("a", "b", point=(0, 0, 0)),
    "C": Cylindrical("a", "b", point=(0, 0, 0)),
}


def attached(force) -> Force:
    found = System(BODIES, JOINTS, {"F": force}).forces["F"]
    assert not isinstance(found, Gravity)
    return found


@pytest.mark.parametrize("angle", [0.7, -0.4])
def test_a_spring_turns_the_second_body_back_and_the_first_along(angle):
    force = attached(joint_spring("A", stiffness=3.0, free=0.1, damping=0.5))
    w = 0.8 * R[:, 2]
    (f, tau), (f_to, tau_to) = loads(force, motion(R=R), motion(R=R @ turn([0, 0, 1], angle), w=w))
    torque = 3.0 * (angle - 0.1) + 0.5 * 0.8
    np.testing.assert_allclose(tau_to, -torque * R[:, 2], atol=1e-12)
    np.testing.assert_allclose(tau, torque * R[:, 2], atol=1e-12)
    np.testing.assert_allclose([f, f_to], 0.0, atol=1e-12)
    energy = force.energy(motion(R=R).pose, motion(R=R @ turn([0, 0, 1], angle)).pose)
    assert float(energy) == pytest.approx(1.5 * (angle - 0.1) ** 2)


@pytest.mark.parametrize(("angle", "free"), [(3.5, 2.0), (-3.6, -1.0), (np.pi, 0.524)])
def test_a_spring_goes_on_past_half_a_turn_of_the_joint(angle, free):
    """Within half a turn of where it is free it does not jump."""
    force = attached(joint_spring("A", stiffness=3.0, free=free))
    _, (_, tau) = loads(force, motion(R=R), motion(R=R @ turn([0, 0, 1], angle)))
    np.testing.assert_allclose(tau, -3.0 * (angle - free) * R[:, 2], atol=1e-12)


def test_a_positive_actuator_brakes_and_a_negative_one_drives():
    (_, tau), (_, tau_to) = loads(attached(JointForce("A", Actuator(-2.0))), motion(), motion(w=(0, 0, 1)))
    np.testing.assert_allclose(tau_to, [0, 0, 2.0], atol=1e-14)
    np.testing.assert_allclose(tau, [0, 0, -2.0], atol=1e-14)


def test_a_force_on_a_slider_acts_along_its_axis_with_the_moment_of_its_arm():
    shift = 0.3 * R[:, 2]
    force = attached(joint_spring("C", stiffness=10.0, coordinate="distance"))
    (f, tau), (f_to, tau_to) = loads(force, motion(R=R), motion(shift, R))
    np.testing.assert_allclose(f_to, -10.0 * shift, atol=1e-12)
    np.testing.assert_allclose(f, 10.0 * shift, atol=1e-12)
    np.testing.assert_allclose([tau, tau_to], 0.0, atol=1e-12)


@pytest.mark.parametrize(
    ("force", "phrase"),
    [
        (joint_spring("B"), "Force 'F' refers to joint 'B', which is not in the system. Joints: A, S, C."),
        (
            joint_spring("C"),
            "Force 'F' asks for no coordinate of joint 'C' (Cylindrical). Choose one of: angle, distance.",
        ),
        (joint_spring("S", coordinate="angle"), "asks for 'angle' of joint 'S' (Prismatic). Choose one of: distance."),
    ],
)
def test_what_cannot_be_found_is_explained(force, phrase):
    with pytest.raises(ModelError) as refusal:
        attached(force)
    assert phrase in str(refusal.value)
