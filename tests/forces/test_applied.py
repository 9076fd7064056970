"""Given forces and torques: frames, points of application and time."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmb import Applied, Body, ModelError, System

from ..oracles import rotation_matrices, turn
from .frames import loads, motion

R = rotation_matrices(1, seed=91)[0]


def test_components_are_in_world_axes_or_in_those_of_the_body():
    for frame, axes in (("world", np.eye(3)), ("body", R)):
        force = Applied("a", (1, 2, 3), torque=(4, 5, 6), frame=frame)
        ((f, tau),) = loads(force, motion((7, 8, 9), R))
        np.testing.assert_allclose(f, axes @ [1, 2, 3], atol=1e-14)
        np.testing.assert_allclose(tau, axes @ [4, 5, 6], atol=1e-14)


def test_functions_of_time():
    force = Applied("a", lambda t: (t, 0, 1), torque=lambda t: jnp.stack([t, t, t**2]))
    for t in (0.0, 2.0):
        ((f, tau),) = loads(force, motion(), t=jnp.asarray(t, float))
        np.testing.assert_allclose(f, [t, 0, 1])
        np.testing.assert_allclose(tau, [t, t, t**2])


def test_the_point_of_application_gives_the_moment_about_the_centre_of_mass():
    """On a turned body, in Q of the whole system, moved away from its reference pose."""
    com, tip, F, tau = (
        np.array([0.1, 0.2, 0.3]),
        np.array([1.0, -0.5, 0.2]),
        np.array([3.0, -1, 2]),
        np.array([0.1, 0.2, 0.3]),
    )

    def body():
        return Body(1.0, (1, 1, 1), com=com, position=(1, 2, 3), rotation=R, points={"tip": tip})

    system = System(
        {name: body() for name in "abc"},
        forces={
            "world": Applied("a", F, torque=tau, at="tip"),
            "body": Applied("b", F, torque=tau, at=tip, frame="body"),
            "com": Applied("c", F),
        },
    )

    @jax.jit
    def Q(turns):
        equations, state = system.equations(), system.state()
        return equations.terms(state.t, equations.retract(state.q, turns), jnp.zeros(18)).Q.reshape(3, 6)

    for angle in (0.0, 1.2):
        turns = jnp.array(np.tile([0, 0, 0, 0, 0, angle], 3))
        R_WB = R @ turn([0, 0, 1], angle)
        world, own, center = np.asarray(Q(turns))
        np.testing.assert_allclose(world[:3], F, atol=1e-14)
        np.testing.assert_allclose(world[3:], np.cross(tip - com, R_WB.T @ F) + R_WB.T @ tau, atol=1e-13)
        np.testing.assert_allclose(own[:3], R_WB @ F, atol=1e-13)
        np.testing.assert_allclose(own[3:], np.cross(tip - com, F) + tau, atol=1e-13)
        np.testing.assert_allclose(center, [*F, 0, 0, 0], atol=1e-13)


@pytest.mark.parametrize(
    ("make", "phrase"),
    [
        (
            lambda: Applied("a", (1, 2, 3), frame="joint"),
            "has frame 'joint', which is neither 'world' nor 'body'. Use one",
        ),
        (lambda: Applied("ground", (1, 2, 3)), "Applied force acts on 'ground', which does not move. Name a body."),
        (lambda: Applied("a", (1, 2)), "Applied force on 'a' has shape (2,). Give 3 numbers, or a function of time"),
        (lambda: Applied("a", lambda t: 2 * t), "Applied force on 'a' has shape ()"),
        (lambda: Applied("a", torque=5.0), "Applied torque on 'a' has shape ()"),
        (
            lambda: System({"a": Body(1.0, (1, 1, 1))}, forces={"f": Applied("b", (1, 2, 3))}),
            "Force 'f' connects to body 'b'",
        ),
    ],
)
def test_bad_input_is_explained(make, phrase):
    with pytest.raises(ModelError) as refusal:
        make()
    assert phrase in str(refusal.value)
