"""Stiffness is told from explicit steps, and nothing else is taken for it."""

import diffrax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmb as mb
from jaxmb.integrators.stiffness import STIFF_STEPS, calm, tells_stiffness
from jaxmb.mechanisms import get_mechanism


def after_steps(decay, spin, count, solver=None, dt=1.0):
    """The counts after steps of y' = A y with A of eigenvalues -decay +- i spin (times the step)."""
    solver = diffrax.Dopri5() if solver is None else solver
    A = jnp.array([[-decay, spin], [-spin, -decay]])
    term = diffrax.ODETerm(lambda t, y, args: (A @ y[0], jnp.zeros(1)))
    found, y = calm(), (jnp.array([1.0, 0.5]), jnp.zeros(1))
    for _ in range(count):
        state = solver.init(term, 0.0, dt, y, None)
        y1, _, dense, _, _ = solver.step(term, 0.0, dt, y, None, state, False)
        found, y = found.after(solver, y, y1, dense["k"]), y1
    return found


@pytest.mark.parametrize("solver", [diffrax.Dopri5(), diffrax.Tsit5(), diffrax.Dopri8()])
def test_a_fast_decay_is_stiff_and_an_oscillation_is_not(solver):
    assert tells_stiffness(solver)
    assert bool(after_steps(2.5, 0.0, STIFF_STEPS, solver).found)
    assert not bool(after_steps(2.5, 0.0, STIFF_STEPS - 1, solver).found)
    assert not bool(after_steps(0.05, 2.5, STIFF_STEPS, solver).found)


def test_other_solvers_do_not_tell():
    assert not tells_stiffness(diffrax.Bosh3()) and not tells_stiffness(mb.Radau())


@pytest.mark.slow
def test_simulate_starts_again_with_a_stiff_solver_and_says_so():
    mechanism = get_mechanism("flyball-governor")
    system, state = mechanism.build()
    reference = mechanism.read_reference()
    ts = reference["t"][reference["t"] <= 1.0 + 1e-9]
    with pytest.warns(UserWarning, match=r"stiff at t = .*solver=Radau\(\)"):
        sol = mb.simulate(system, state, t1=ts[-1], ts=ts, rtol=1e-7, atol=1e-7)
    assert int(sol.stats.steps) < 400
    assert np.max(np.abs(np.asarray(sol.body("slider").position[:, 2]) - reference["s"][: len(ts)])) < 1e-6


@pytest.mark.slow
def test_an_explicit_solver_that_was_asked_for_is_kept_and_told_off():
    system, state = get_mechanism("flyball-governor").build()
    with pytest.raises(mb.SimulationError, match=r"stiff, so use solver=Radau\(\)"):
        mb.simulate(system, state, t1=1.0, solver=diffrax.Dopri5(), rtol=1e-5, atol=1e-5, max_steps=300)
