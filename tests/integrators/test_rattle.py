"""RATTLE: order, symmetry, and energy for ever."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmb as mb
from jaxmb.integrators.rattle import Rattle
from jaxmb.status import Status

from ..models import spatial_loop
from .orders import build, errors, run, walk

slow = pytest.mark.slow


@pytest.mark.parametrize(
    "name",
    [
        "pendulum",
        "loop",
        pytest.param("damped and driven", marks=slow),
        pytest.param("Euler parameters", marks=slow),
        pytest.param("bricard", marks=slow),
    ],
)
def test_second_order_in_positions_speeds_and_multipliers(name):
    coarse, fine = (run(name, Rattle(), dt) for dt in (0.01, 0.005))
    order = np.log2(errors(name, coarse) / errors(name, fine))
    assert np.all(np.abs(order - 2) < 0.2), order
    for sol in (coarse, fine):
        assert np.max(sol.violation.position) < 1e-13
        assert np.max(sol.violation.velocity) < 1e-12
    assert 5 < int(fine.stats.right_hand_sides) / int(fine.stats.steps) < 30


@slow
@pytest.mark.parametrize("name", ["loop", "Euler parameters"])
def test_the_same_way_back(name):
    """Steps from the end with the speeds reversed lead to the start: rounding is all that is lost."""
    system, state = build(name)
    (q, v, *_), _ = walk(Rattle(), system, state, 0.02, 30)
    assert np.max(np.abs(q[-1] - state.q)) > 0.3
    end = mb.State(state.t, q[-1], -v[-1])
    (q, v, *_), _ = walk(Rattle(), system, end, 0.02, 30)
    np.testing.assert_allclose(q[-1], state.q, rtol=0, atol=1e-11)
    np.testing.assert_allclose(v[-1], -state.v, rtol=0, atol=1e-10)


@slow
@pytest.mark.parametrize(("name", "dt", "band"), [("loop", 0.01, 0.2), ("bricard", 0.02, 2e-3)])
def test_energy_has_no_trend_in_1000_seconds(name, dt, band):
    """A line through the energy changes by less than a thousandth of the band in which it oscillates, and by less than the line
    is known: and the second half is as wide as the first."""
    system, state = build(name)
    times = np.arange(0.0, 1000.1, 0.5)
    sol = mb.simulate(system, state, t1=1000.0, ts=times, solver=Rattle(), dt=dt, max_steps=200_000)
    energy = np.asarray(sol.energy.total)
    energy = energy - energy[0]
    slope, offset = np.polyfit(times, energy, 1)
    around = energy - slope * times - offset
    uncertain = np.std(around) / (np.std(times) * np.sqrt(times.size))
    width = np.ptp(energy)
    assert width < band
    assert abs(slope) * 1000 < 0.01 * width
    assert abs(slope) < 3 * uncertain
    halves = [np.ptp(energy[:1001]), np.ptp(energy[1000:])]
    assert halves[0] == pytest.approx(halves[1], rel=0.05)
    assert np.max(sol.violation.position) < 1e-12


@slow
def test_derivatives_of_a_redundant_run():
    def height(p, gradient):
        system, state = spatial_loop(length=p[0], stiffness=p[1])
        sol = mb.simulate(system, state, t1=0.2, solver=Rattle(), dt=0.02, gradient=gradient, throw=False)
        return sol.body("coupler").position[-1, 1]

    p = jnp.array([1.5, 20.0])
    value = jax.jit(lambda p: height(p, "reverse"))
    steps = 1e-5 * p
    differences = [(value(p.at[k].add(s)) - value(p.at[k].add(-s))) / (2 * s) for k, s in enumerate(steps)]
    np.testing.assert_allclose(jax.jit(jax.grad(lambda p: height(p, "reverse")))(p), differences, rtol=1e-6)


def test_hopeless_steps_end_with_a_status():
    system, state = build("loop")
    sol = mb.simulate(system, state, t1=40.0, dt=20.0, solver=Rattle(), throw=False)
    assert bool(sol.status == Status.newton_failure)
    assert np.all(np.isnan(sol.q[-1]))


def test_needs_fixed_steps():
    system, state = build("pendulum")
    with pytest.raises(mb.ModelError, match="Rattle, which has no error estimate"):
        mb.simulate(system, state, t1=1.0, solver=Rattle())
