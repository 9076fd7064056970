"""What is observed of a small motion."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmb as mb
from jaxmb.analyses.moment import Moment, as_output
from tests.models import pendulum

LENGTH, OMEGA, ALPHA = 2.0, 0.7, -1.3


@pytest.fixture(scope="module")
def moment():
    """A rod along x that turns about z at a known rate and acceleration."""
    system = pendulum(length=LENGTH)
    state = system.state(velocity={"rod": (0, OMEGA * LENGTH / 2, 0)}, omega={"rod": (0, 0, OMEGA)})
    a = jnp.array([-(OMEGA**2) * LENGTH / 2, ALPHA * LENGTH / 2, 0, 0, 0, ALPHA])
    return Moment(state, system, a)


@pytest.mark.parametrize(("point", "radius"), [("end", LENGTH), ("com", LENGTH / 2), ((0.0, 0.0, 0.0), 0.0)])
def test_points_move_as_on_a_circle(moment, point, radius):
    if point == (0.0, 0.0, 0.0):
        point = moment.system.bodies["rod"].points["start"]
    np.testing.assert_allclose(moment.point("rod", point), [radius, 0, 0], atol=1e-14)
    np.testing.assert_allclose(moment.velocity("rod", point), [0, OMEGA * radius, 0], atol=1e-14)
    np.testing.assert_allclose(moment.acceleration("rod", point), [-(OMEGA**2) * radius, ALPHA * radius, 0], atol=1e-13)
    np.testing.assert_allclose(moment.motion.body("rod").alpha[0], [0, 0, ALPHA], atol=1e-14)


def test_a_joint_coordinate_is_an_output_by_name(moment):
    system, state = moment.system, moment.state
    turned = Moment(
        mb.State(state.t, system.equations().retract(state.q, jnp.array([0, 0, 0, 0, 0, 0.2])), state.v),
        system,
        moment.a,
    )
    for name, expected in (("hinge", 0.2), ("hinge.angle", 0.2), ("hinge.angle_rate", OMEGA)):
        np.testing.assert_allclose(as_output(system, "y", name)(turned), expected, atol=1e-14)
    own = as_output(system, "y", lambda m: m.state.q[0])
    np.testing.assert_allclose(own(moment), LENGTH / 2)


def test_outputs_made_again_are_the_same_and_compile_nothing(moment):
    first, second = (as_output(moment.system, "y", "hinge.angle") for _ in range(2))
    assert jax.tree.structure(first) == jax.tree.structure(second)
    assert jax.tree.structure(first) != jax.tree.structure(as_output(moment.system, "y", "hinge.angle_rate"))


@pytest.mark.parametrize(
    ("output", "message"),
    [
        (
            "hinge.angel",
            "output 'y' as 'hinge.angel', but joint 'hinge' has the coordinates: angle, angle_rate.*mean 'angle'",
        ),
        ("hing.angle", "output 'y' of joint 'hing', which is not in the system.*mean 'hinge'"),
        ("hing", "output 'y' of joint 'hing', which is not in the system.*mean 'hinge'"),
        ("weld", "joint 'weld' has the coordinates: none"),
        ("sleeve", "joint 'sleeve' has the coordinates: angle, .*angle_rate.*Choose one"),
        (3, "output 'y' as 3. Give a function of a moment"),
    ],
)
def test_a_wrong_output_is_refused_by_name(output, message):
    system = mb.System(
        {name: mb.rod((0, 0, 0), (1, 0, 0), mass=1.0) for name in ("rod", "tube", "foot")},
        {
            "hinge": mb.Revolute("ground", "rod", point=(0, 0, 0)),
            "sleeve": mb.Cylindrical("rod", "tube", point=(0, 0, 0)),
            "weld": mb.Fixed("ground", "foot", point=(0, 0, 0)),
        },
    )
    with pytest.raises(mb.ModelError, match=message):
        as_output(system, "y", output)


def test_a_generalised_system_has_no_joints_to_name():
    system = mb.GeneralizedSystem(lambda q, v, p: 0.5 * v[0] ** 2, coordinates=("x",))
    with pytest.raises(mb.ModelError, match="Give a function of a moment"):
        as_output(system, "y", "x")
