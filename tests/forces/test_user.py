"""A user's own force, with its reaction."""

import jax.numpy as jnp
import numpy as np

from jaxmb import UserForce

from .frames import T, loads, motion


def test_the_function_acts_on_the_second_body_and_the_opposite_on_the_first():
    force = UserForce("a", "b", lambda F, G, t: (t * (F.pose.p - G.pose.p), 0.5 * (F.w - G.w)))
    (f, tau), (f_to, tau_to) = loads(force, motion((1, 0, 0), w=(0, 0, 1)), motion((0, 2, 0), w=(1, 0, 0)))
    expected = 0.4 * np.array([1, -2, 0])
    np.testing.assert_allclose(f_to, expected, atol=1e-15)
    np.testing.assert_allclose(tau_to, [-0.5, 0, 0.5], atol=1e-15)
    np.testing.assert_allclose(f, -expected, atol=1e-15)
    # no net moment about the origin
    np.testing.assert_allclose(tau + tau_to + np.cross([1, 0, 0], f) + np.cross([0, 2, 0], f_to), 0.0, atol=1e-15)


def test_plain_numbers_are_enough():
    force = UserForce("a", "b", lambda F, G, t: ((0, 0, 1), (0, 0, 0)))
    ((f, tau), (f_to, _)) = loads(force, motion(), motion((1, 0, 0)), t=T)
    np.testing.assert_array_equal(f_to, [0, 0, 1])
    np.testing.assert_array_equal(f, [0, 0, -1])
    np.testing.assert_array_equal(tau, jnp.array([0, 1, 0]))
