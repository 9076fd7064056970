"""Springs between two points, also of length zero."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmb import Linear, PointToPoint, spring
from jaxmb.spatial import Pose

from .frames import T, loads, motion

FORCE = spring("a", "b", stiffness=10.0, free_length=0.5, damping=2.0, preload=1.0)


def test_the_force_pulls_along_the_line_by_length_and_rate():
    p, v = np.array([1.0, 2.0, -2.0]), np.array([0.5, 0.0, 0.3])
    rate = p @ v / 3.0
    tension = 10.0 * (3.0 - 0.5) + 2.0 * rate + 1.0
    (f, tau), (f_to, tau_to) = loads(FORCE, motion(), motion(p, v=v, w=(1, 2, 3)))
    np.testing.assert_allclose(f, tension * p / 3.0, rtol=1e-12)
    np.testing.assert_allclose(f_to, -tension * p / 3.0, rtol=1e-12)
    np.testing.assert_allclose([tau, tau_to], 0.0, atol=1e-12)


def test_energy_is_that_of_the_spring():
    energy = FORCE.energy(motion().pose, motion((1, 2, -2)).pose)
    assert float(energy) == pytest.approx(5.0 * 2.5**2 + 3.0)


@pytest.mark.parametrize("free", [0.0, 0.5])
def test_at_length_zero_nothing_is_nan_not_even_a_gradient(free):
    force = spring("a", "b", stiffness=10.0, free_length=free, damping=1.0)

    def total(force, p):
        there = motion(v=(1, 0, 0))
        there = type(there)(Pose(p, there.pose.R), there.v, there.w)
        parts = force.loads(motion(), there, t=T)
        return sum(jnp.sum(x) for load in parts for x in load) + force.energy(motion().pose, there.pose)

    for x in jax.tree.leaves(
        (loads(force, motion(), motion()), jax.jit(jax.grad(total, argnums=(0, 1)))(force, jnp.zeros(3)))
    ):
        assert np.all(np.isfinite(x))
    np.testing.assert_allclose(loads(force, motion(), motion())[1][0], 0.0)


def test_a_spring_without_free_length_is_smooth_through_zero():
    force = spring("a", "b", stiffness=10.0)
    for x in (1e-100, 1e-9, 0.1):
        np.testing.assert_allclose(loads(force, motion(), motion((x, 0, 0)))[1][0], [-10.0 * x, 0, 0], rtol=1e-12)


def test_any_law_serves():
    force = PointToPoint("a", "b", lambda x, xdot, t: t * x)
    np.testing.assert_allclose(loads(force, motion(), motion((0, 2, 0)))[1][0], [0, -0.8, 0])
    assert isinstance(PointToPoint("a", "b", Linear(2.0)).law, Linear)
