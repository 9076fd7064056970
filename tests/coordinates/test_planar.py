"""The plane: constant mass, no velocity terms, and no body outside of it."""

import jax.numpy as jnp
import numpy as np
import pytest

from jaxmb import Body, Gravity, ModelError, Planar, System, rod

from ..oracles import turn


def test_mass_is_constant_and_forces_are_the_weight():
    body = Body(2.0, (1.0, 1.0, 1.5), com=(0.3, 0.1, 0.0), position=(1, 2, 0), rotation=turn([0, 0, 1], 0.6))
    system = System({"a": body}, forces={"g": Gravity((1.0, -9.81, 5.0))}, coordinates=Planar())
    state = system.state(omega={"a": (0, 0, 3.0)}, velocity={"a": (1, 2, 0)})
    np.testing.assert_allclose(state.v, [1, 2, 3], atol=1e-14)
    com = np.array([1, 2, 0]) + turn([0, 0, 1], 0.6) @ [0.3, 0.1, 0.0]
    np.testing.assert_allclose(state.q, [com[0], com[1], 0.6], atol=1e-14)
    terms = system.equations().terms(state.t, state.q, state.v)
    np.testing.assert_allclose(terms.M, np.diag([2.0, 2.0, 1.5]), atol=1e-15)
    np.testing.assert_allclose(terms.Q, [2.0, -19.62, 0.0], atol=1e-14)
    np.testing.assert_allclose(terms.mass.inverse_times(jnp.eye(3)), np.diag([0.5, 0.5, 1 / 1.5]), atol=1e-15)


@pytest.mark.parametrize(
    "body",
    [
        rod((0, 0, 1), (1, 0, 1), mass=1.0),
        rod((0, 0, 0), (1, 0, 1), mass=1.0),
        Body(1.0, (1, 1, 1), com=(0, 0, 0.1), position=(0, 0, 0)),
    ],
)
def test_a_body_out_of_the_plane_is_refused(body):
    with pytest.raises(
        ModelError, match=r"Body 'a' stands at .* which Planar coordinates cannot express; place it where they"
    ):
        System({"a": body}, coordinates=Planar())
