"""What the implicit methods share: the Jacobian is kept while it serves."""

import jax.numpy as jnp
import numpy as np
import pytest

import jaxmb as mb

from ..models import pendulum
from . import orders


def test_the_jacobian_is_kept_on_a_slow_motion():
    """A pendulum in small steps: three evaluations for each correction, one a step, and hardly ever a Jacobian."""
    system = pendulum()
    steps = 200
    sol = mb.simulate(system, system.state(), t1=0.2, dt=0.001, solver=mb.Radau(), rtol=1e-8, atol=1e-8)
    assert int(sol.stats.steps) == steps
    assert int(sol.stats.right_hand_sides) < steps * (1 + 3 * 2) + 10


@pytest.mark.slow
def test_a_hopeless_step_is_a_newton_failure():
    """With a force that changes its sign thousands of times in a step, and fixed steps that cannot be made smaller."""
    system = pendulum().with_forces(comb=mb.JointForce("hinge", lambda x, rate, t: 1e6 * jnp.cos(1e4 * x)))
    sol = mb.simulate(system, system.state(), t1=1.0, dt=0.5, solver=mb.Radau(max_iterations=2), throw=False)
    assert sol.status == mb.Status.newton_failure and np.all(np.isnan(sol.q[-1]))


@pytest.mark.slow
def test_steps_taken_alone_give_the_state_of_a_run():
    system, state = orders.build("pendulum")
    (q, _, _, _), _ = orders.walk(mb.Radau(), system, state, 0.01, 10)
    sol = mb.simulate(system, state, t1=0.1, dt=0.01, solver=mb.Radau(), stabilization=mb.NoStabilization())
    np.testing.assert_allclose(q[-1] / jnp.sign(q[-1][3]), sol.q[-1] / jnp.sign(sol.q[-1][3]), atol=1e-8)
