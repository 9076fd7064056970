"""Planar four-bar: its two cases at the start."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmb.mechanisms import four_bar, get_mechanism


@pytest.mark.parametrize(
    "name, angles",
    [
        ("four-bar-case-1", (1.074, 0.0, 1.074)),
        ("four-bar-case-2", (1.104, -0.0268011329681668, 1.047580241511234)),
    ],
)
def test_angles_at_the_start(name, angles):
    _, state = get_mechanism(name).build()
    np.testing.assert_allclose(np.asarray(state.q).reshape(3, 3)[:, 2], angles, rtol=1e-14, atol=1e-14)


def test_the_loop_closes_for_every_crank_angle():
    """So the start has a derivative by the crank angle that satisfies the velocity constraints."""

    def start(theta):
        return four_bar(ground=1.9, theta1=theta).state()

    state, slope = jax.jvp(start, (1.104,), (1.0,))
    terms = four_bar(ground=1.9, theta1=1.104).equations().terms(jnp.zeros(()), state.q, slope.q)
    np.testing.assert_allclose(terms.Phi_dot, 0.0, atol=1e-14)
