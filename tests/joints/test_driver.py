"""Prescribed motions of joints and bodies, over any number of turns."""

import jax.numpy as jnp
import numpy as np
import pytest

from jaxmb import Body, BodyDriver, Driver, ModelError, Prismatic, Revolute, System

from ..oracles import rotation_matrices, turn
from .frames import F, about, along

R_WB = rotation_matrices(1, seed=51)[0]
BODIES = {"a": Body(1.0, (1, 1, 1), com=(0.1, 0, 0), position=(1, 2, 3), rotation=R_WB, points={"tip": (0.5, 0, 0)})}


def attached(driver):
    joints = {
        "A": Revolute("ground", "a", point=(0, 0, 0)),
        "S": Prismatic("ground", "a", point=(0, 0, 0)),
        "D": driver,
    }
    return System(BODIES, joints).joints["D"]


@pytest.mark.parametrize("t", [0.0, 0.3, 2.0, 7.0])
def test_a_driven_angle_is_compared_modulo_whole_turns(t):
    driver = attached(Driver("A", lambda t: 0.2 + 5.0 * t))
    for error in (0.0, 0.1, -0.1):
        residual = driver.residual(F, F @ about("z", 0.2 + 5.0 * t + error), jnp.array(t))
        np.testing.assert_allclose(residual, [error], atol=1e-12)


def test_a_driven_distance_is_not():
    driver = attached(Driver("S", lambda t: 10.0 * t))
    np.testing.assert_allclose(driver.residual(F, F @ along(z=10.0), jnp.array(1.0)), [0.0], atol=1e-14)
    np.testing.assert_allclose(driver.residual(F, F @ along(z=0.0), jnp.array(1.0)), [-10.0], atol=1e-14)


def test_a_number_holds_the_coordinate():
    for value in (0.3, 1, jnp.array(0.3)):
        driver = attached(Driver("A", value))
        np.testing.assert_allclose(driver.residual(F, F @ about("z", float(value)), jnp.array(5.0)), [0.0], atol=1e-14)


@pytest.mark.parametrize(("point", "place"), [(None, (0.1, 0, 0)), ("tip", (0.5, 0, 0)), ((0, 1, 2), (0, 1, 2))])
def test_a_body_driver_moves_a_point_along_a_world_direction(point, place):
    axis = np.array([1.0, 2.0, -2.0])
    driver = attached(BodyDriver("a", lambda t: 3.0 * t, axis=axis, point=point))
    ground, port = driver.ports
    body = BODIES["a"].pose @ along(0.0, 1.0, 0.0)
    position = np.asarray(body.p + body.R @ jnp.array(place, float)) @ axis / 3.0
    np.testing.assert_allclose(
        driver.residual(ground.frame, body @ port.frame, jnp.array(2.0)), [position - 6.0], atol=1e-13
    )


def test_a_body_driver_turns_from_the_reference_pose_over_many_turns():
    axis = np.array([1.0, 2.0, -2.0])
    driver = attached(BodyDriver("a", lambda t: 3.0 * t, axis=axis, rotation=True))
    ground, port = driver.ports
    for t in (0.0, 1.0, 10.0):
        body = type(F)(jnp.ones(3), jnp.array(turn(axis, 3.0 * t + 0.1) @ R_WB))
        np.testing.assert_allclose(driver.residual(ground.frame, body @ port.frame, jnp.array(t)), [0.1], atol=1e-12)


@pytest.mark.parametrize(
    ("make", "phrase"),
    [
        (
            lambda: attached(Driver("B", 0.0)),
            "Joint 'D' refers to joint 'B', which is not in the system. Joints: A, S.",
        ),
        (lambda: Driver("A", lambda t: jnp.ones(2)), "Driver('A') function has shape (2,). Give one number"),
        (lambda: BodyDriver("a", lambda t: (t, t), axis="x"), "BodyDriver('a') function has shape (2,)"),
        (
            lambda: BodyDriver("ground", 0.0, axis="x"),
            "BodyDriver('ground') drives the ground, which does not move. Name a",
        ),
        (
            lambda: BodyDriver("a", 0.0, axis="x", point="tip", rotation=True),
            "a rotation belongs to the whole body. Leave",
        ),
        (
            lambda: BodyDriver("a", 0.0, axis=(0, 0, 0)),
            "BodyDriver('a') has axis [0.0, 0.0, 0.0], which has no direction",
        ),
        (
            lambda: attached(BodyDriver("b", 0.0, axis="x")),
            "Joint 'D' connects to body 'b', which is not in the system",
        ),
        (lambda: attached(BodyDriver("a", 0.0, axis="x", point="top")), "Points: com, tip. Did you mean 'tip'?"),
    ],
)
def test_bad_drivers_are_explained(make, phrase):
    with pytest.raises(ModelError) as refusal:
        make()
    assert phrase in str(refusal.value)
