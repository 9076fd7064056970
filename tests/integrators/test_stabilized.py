"""The solver that wraps another one: what it must not break."""

import diffrax
import numpy as np
import pytest

import jaxmb as mb

from ..models import door, pendulum


@pytest.mark.parametrize("solver", [diffrax.Tsit5(), diffrax.Dopri5(), diffrax.Bosh3()], ids=lambda s: type(s).__name__)
def test_first_same_as_last_solvers_see_the_corrected_slope(solver):
    """With a stale slope the energy of a projected run drifts at the order of the step; it must stay near the tolerance."""
    system = pendulum()
    sol = mb.simulate(system, system.state(), t1=2.0, dt_save=0.2, solver=solver, rtol=1e-8, atol=1e-8)
    energy = np.asarray(sol.energy.total)
    assert np.max(np.abs(energy - energy[0])) < 2e-6
    assert np.max(sol.violation.position) < 1e-12


def test_free_body_has_no_constraints_to_watch():
    """A thrown ball: m = 0 rows, parabola."""
    system = mb.System({"ball": mb.sphere((0, 0, 0), radius=0.1, mass=1.0)}, forces={"gravity": mb.Gravity()})
    sol = mb.simulate(system, system.state(velocity={"ball": (1.0, 0, 2.0)}), t1=1.0, dt_save=0.5)
    t = np.asarray(sol.t)
    expected = np.stack([t, 0 * t, 2 * t - 4.905 * t**2], axis=1)
    assert np.max(np.abs(sol.body("ball").position - expected)) < 1e-9


def test_three_hinges_on_a_door_count_as_constant_rank():
    system = door(hinges=3)
    state = system.state(omega={"door": (0, 0, 1.0)}, velocity={"door": (0, 0.45, 0)})
    sol = mb.simulate(system, state, t1=7.0, rtol=1e-4, atol=1e-4)
    assert bool(sol.ok), "more than a turn at loose tolerance is no singular configuration"
    assert abs(float(sol.joint("hinge2").angle[-1]) - (7.0 - 2 * np.pi)) < 1e-3
