"""A motion given by its numbers has the outputs of the run it was taken from."""

import jax.numpy as jnp
import numpy as np
import pytest

import jaxmb as mb
from jaxmb.trajectory import joints_of

from .models import loop_run


@pytest.fixture(scope="module")
def sol():
    return loop_run()


def test_a_sampled_motion_has_the_named_outputs_of_the_run(sol):
    copy = mb.SampledMotion(sol.t, sol.q, sol.v, sol.a, sol.system)
    np.testing.assert_array_equal(copy.body("coupler").acceleration, sol.body("coupler").acceleration)
    np.testing.assert_array_equal(copy.joint("A").angle_rate, sol.joint("A").angle_rate)
    np.testing.assert_array_equal(copy.final.point("coupler", "end"), sol.final.point("coupler", "end"))


def test_its_accelerations_are_those_given(sol):
    """Not those that the forces of the system would make."""
    still = mb.SampledMotion(sol.t, sol.q, 0 * sol.v, 0 * sol.a, sol.system)
    assert np.max(np.abs(sol.body("coupler").acceleration)) > 1.0
    assert np.max(np.abs(still.body("coupler").acceleration)) == 0.0


def test_joints_are_named_once_by_the_shares_of_their_rows(sol):
    rows = sol.system.equations().row_names
    shares = jnp.array([1.0 if row in ("B.x", "B.y", "D.z") else 0.01 for row in rows])
    assert joints_of(sol.system, shares) == ("B", "D")
