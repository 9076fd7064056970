"""What became NaN is named, with the time."""

import time

import jax.numpy as jnp
import pytest

import jaxmb as mb
from jaxmb.analyses.culprits import culprits

from ..models import pendulum, spatial_loop


def with_bad_force(until=0.3):
    system, state = spatial_loop()
    good = mb.Applied("crank", lambda t: jnp.stack([0 * t, 1.0 + 0 * t, 0 * t]))
    bad = mb.Applied("rocker", lambda t: jnp.stack([jnp.sqrt(until - t), 0 * t, 0 * t]))
    return system.with_forces(good=good, bad=bad), state


def test_a_force_that_becomes_nan_is_named_with_its_time():
    """sqrt(0.3 - t) from t = 0.3 s on, on a redundant loop; a second run, compiled, is over at once."""
    system, state = with_bad_force()
    with pytest.raises(mb.SimulationError, match=r"Stopped at t = 0\.3 s: force 'bad' became NaN"):
        mb.simulate(system, state, t1=1.0, rtol=1e-6, atol=1e-6)
    started = time.perf_counter()
    sol = mb.simulate(system, state, t1=1.0, rtol=1e-6, atol=1e-6, throw=False)
    assert sol.status == mb.Status.not_finite and abs(float(sol.reached) - 0.3) < 1e-6
    assert time.perf_counter() - started < 10.0
    assert int(sol.stats.steps) + int(sol.stats.rejected) < 500


def test_a_joint_is_named_too_and_what_depends_on_the_place():
    system = pendulum().with_joints(guide=mb.Driver("hinge", lambda t: jnp.where(t > -1.0, jnp.nan, 0.0)))
    assert culprits(system, system.state(), 1.0) == ("joint 'guide'",)
    falling = pendulum().with_forces(
        tip=mb.JointForce("hinge", lambda angle, rate, t: jnp.where(angle < 0, jnp.nan, 0.0))
    )
    state = falling.state(omega={"rod": (0, 0, -1.0)}, velocity={"rod": (0, -0.5, 0)})
    assert culprits(falling, state, 1.0) == ("force 'tip'",)


def test_nobody_is_accused_without_cause():
    system, state = spatial_loop()
    assert culprits(system, state, 1.0) == ()


def test_a_generalized_system_names_its_term():
    system = mb.GeneralizedSystem(
        lambda q, v, p: 0.5 * jnp.sum(v**2), force=lambda q, v, t, p: jnp.array([jnp.nan]), coordinates=("x",)
    )
    assert culprits(system, system.state([0.0]), 1.0) == ("the term Q",)
