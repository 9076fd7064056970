"""A body without extent, in space and in the plane."""

import jax.numpy as jnp
import numpy as np
import pytest

from jaxmb import Applied, Body, Distance, Gravity, ModelError, PointMass, System, point_mass, rod

from ..oracles import accelerations


@pytest.mark.parametrize("planar", [False, True])
def test_a_mass_on_a_string_has_the_acceleration_of_a_pendulum(planar):
    L, angle, rate, g = 0.7, 0.4, 2.0, 9.81
    p = L * np.array([np.sin(angle), -np.cos(angle), 0.0])
    tangent = np.array([np.cos(angle), np.sin(angle), 0.0])
    system = System(
        {"bob": point_mass(p, mass=3.0)},
        {"string": Distance("ground", "bob", length=L)},
        {"gravity": Gravity((0, -g, 0))},
        coordinates=PointMass(planar=planar),
    )
    state = system.state(velocity={"bob": L * rate * tangent})
    size = 2 if planar else 3
    np.testing.assert_allclose(state.q, p[:size], atol=1e-15)
    terms = system.equations().terms(state.t, state.q, state.v)
    np.testing.assert_allclose(terms.M, 3.0 * np.eye(size))
    expected = -g * np.sin(angle) * tangent - L * rate**2 * p / L
    np.testing.assert_allclose(accelerations(terms), expected[:size], atol=1e-12)


def test_torques_do_nothing_and_need_no_inertia():
    system = System(
        {"a": Body(2.0)}, forces={"f": Applied("a", (1, 2, 3), torque=(4, 5, 6), at=(1, 0, 0))}, coordinates=PointMass()
    )
    terms = system.equations().terms(jnp.zeros(()), jnp.zeros(3), jnp.zeros(3))
    np.testing.assert_array_equal(terms.Q, [1, 2, 3])


@pytest.mark.parametrize(
    ("body", "kind"),
    [(rod((0, 0, 0), (0, 1, 0), mass=1.0), PointMass()), (point_mass((0, 0, 1), mass=1.0), PointMass(planar=True))],
)
def test_a_place_it_cannot_have_is_refused(body, kind):
    with pytest.raises(ModelError, match="which PointMass coordinates cannot express"):
        System({"a": body}, coordinates=kind)
