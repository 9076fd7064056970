"""A run stops at a singular configuration, where motions branch, and nowhere else; at any tolerance, with any solver."""

import diffrax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmb as mb
from jaxmb.mechanisms import four_bar, get_mechanism, n_four_bar, n_four_bar_start

from . import closed_forms as truth

TOLERANCES = (1e-4, 1e-6, 1e-8, 1e-10)
SINGULAR = ("n-four-bar-1", "n-four-bar-2", "four-bar-case-1-gravity", "slider-crank-relative")
REGULAR = (
    "mcpherson-simplified",
    "mcpherson-overconstrained",
    "double-pendulum",
    "double-pendulum-gravity",
    "four-bar-case-1",
    "four-bar-case-2",
    "four-bar-case-2-gravity",
    "spatial-four-bar",
    "simple-pendulum",
    "simple-pendulum-spatial",
    "andrews-squeezer",
    "bricard",
    "slider-crank",
    "scotch-yoke",
    "slider-crank-relative-printed",
    "slider-crank-free",
)


def assert_stops(solution, mechanism, tolerance):
    """At the first singular configuration: shortly before it, with nothing after it, and right up to there."""
    reference = mechanism.read_reference()
    reached = float(solution.reached)
    assert bool((solution.status == mb.Status.singular_configuration) | (solution.status == mb.Status.rank_change)), (
        reached
    )
    assert 0.6 * mechanism.singular_at < reached < mechanism.singular_at + 1e-4 + 10 * tolerance
    after = reference["t"] > reached
    assert np.all(np.isnan(solution.q[after])) and np.all(np.isnan(solution.v[after]))
    assert np.all(np.isfinite(solution.q[~after]))
    outputs = {column: np.asarray(x) for column, x in mechanism.outputs(solution).items() if column in reference}
    scale = {column: max(1.0, np.abs(reference[column]).max()) for column in outputs}
    for column, x in outputs.items():
        assert np.abs(x - reference[column])[~after].max() < 1e3 * tolerance * scale[column], column


@pytest.mark.parametrize("name", ["n-four-bar-2", "slider-crank-relative"])
def test_stops_at_the_first_singular_configuration(solve, name):
    for tolerance in TOLERANCES:
        assert_stops(solve(name, tolerance, "Dopri8"), get_mechanism(name), tolerance)


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["Dopri8", "Tsit5", "Dopri5"])
@pytest.mark.parametrize("name", ["n-four-bar-10", "four-bar-case-1-60deg", "four-bar-case-1-reversed", *SINGULAR])
def test_stops_at_the_first_singular_configuration_of_others(solve, name, solver):
    for tolerance in (1e-3, *TOLERANCES):
        assert_stops(solve(name, tolerance, solver), get_mechanism(name), tolerance)


@pytest.mark.parametrize("windows", [1, 2, 10, 40])
@pytest.mark.slow
def test_the_catalog_knows_the_time(windows):
    at = truth.quarter_turn(1.0, truth.n_four_bar_constant(windows))
    assert get_mechanism(f"n-four-bar-{windows}").singular_at == pytest.approx(at, abs=1e-4)


@pytest.mark.slow
def test_three_squares_at_any_speed():
    """Three singular values vanish at once, in a fifth of a second or a half."""
    system = n_four_bar(windows=3)
    for speed in (1.0, 4.0, 8.0):
        at = truth.quarter_turn(speed, truth.n_four_bar_constant(3))
        for tolerance in (1e-3, 1e-5, 1e-7, 1e-9):
            state = n_four_bar_start(system, speed)
            sol = mb.simulate(system, state, t1=2.0, rtol=tolerance, atol=tolerance, throw=False)
            assert not bool(sol.ok)
            assert 0.6 * at < float(sol.reached) < at + 1e-3


@pytest.mark.parametrize("name", REGULAR)
@pytest.mark.slow
def test_no_false_alarm(solve, name):
    for tolerance in (1e-3, 1e-6):
        assert solve(name, tolerance).message == "Reached the end."


@pytest.mark.parametrize("solver", ["Tsit5", "Dopri5"])
@pytest.mark.parametrize("name", ["simple-pendulum", "four-bar-case-2-gravity"])
@pytest.mark.slow
def test_no_false_alarm_with_other_solvers(solve, name, solver):
    for tolerance in (1e-3, 1e-6, 1e-10):
        assert solve(name, tolerance, solver).message == "Reached the end."


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["Tsit5", "Dopri5"])
@pytest.mark.parametrize("name", REGULAR)
def test_no_false_alarm_with_other_solvers_anywhere(solve, name, solver):
    for tolerance in (1e-3, 1e-6, 1e-10):
        assert solve(name, tolerance, solver).message == "Reached the end."


def flywheel():
    system = mb.System(
        {"wheel": mb.cylinder((0, 0, -0.1), (0, 0, 0.1), radius=0.5, mass=3.0)},
        {"axle": mb.Revolute("ground", "wheel", point=(0, 0, 0))},
    )
    return system, system.state(omega={"wheel": (0, 0, 20.0)})


def propeller():
    """A needle whose tilt row turns much faster than itself in the metric of its own inertia."""
    system = mb.System(
        {"rod": mb.rod((0, 0, 0), (1, 0, 0), mass=3.0)},
        {"hinge": mb.Revolute("ground", "rod", point=(0, 0, 0))},
        {"gravity": mb.Gravity((0, -9.81, 0))},
    )
    return system, system.state(omega={"rod": (0, 0, 20.0)}, velocity={"rod": (0, 10.0, 0)})


def top():
    system = mb.System(
        {"top": mb.cylinder((0, 0, 0), (0, 0.3, 0.8), radius=0.3, mass=3.0)},
        {"tip": mb.Spherical("ground", "top", point=(0, 0, 0))},
        {"gravity": mb.Gravity((0, 0, -9.81))},
    )
    return system, system.state(omega={"top": system.body("top").pose.R @ jnp.array([40.0, 0, 0])})


def sling():
    system = mb.System(
        {"stone": mb.point_mass((1, 0, 0), mass=1.0)},
        {"string": mb.Distance("ground", "stone", length=1.0)},
        {"gravity": mb.Gravity((0, -9.81, 0))},
        coordinates=mb.PointMass(planar=True),
    )
    return system, system.state(velocity={"stone": (0, 12.0, 0)})


@pytest.mark.parametrize("build", [flywheel, propeller, top, sling])
@pytest.mark.slow
def test_no_false_alarm_for_what_spins(build):
    """Its constraint directions turn far in a step, but nothing is singular."""
    system, state = build()
    for tolerance in (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8):
        sol = mb.simulate(system, state, t1=3.0, rtol=tolerance, atol=tolerance, throw=False)
        assert sol.message == "Reached the end.", tolerance


@pytest.mark.slow
def test_what_spins_is_not_made_slow():
    """Watching may limit a loose run to a few steps a turn, but must not cost a tight one any."""
    system, state = propeller()
    loose, tight = (mb.simulate(system, state, t1=3.0, rtol=tol, atol=tol, throw=False).stats for tol in (1e-3, 1e-8))
    assert int(loose.steps + loose.rejected) < 120
    assert int(tight.steps + tight.rejected) < 120


@pytest.mark.parametrize("ground", [1.99, 1.999, 2.01])
@pytest.mark.slow
def test_no_false_alarm_at_a_near_miss(ground):
    """Nearly a parallelogram: it passes close to the singular configuration, turns sharply there, and is never in it."""
    t = get_mechanism("four-bar-case-2").read_reference()["t"]
    system = four_bar(ground=ground, gravity=9.81)
    exact = mb.simulate(system, system.state(), t1=10.0, ts=t, rtol=1e-10, atol=1e-10)
    for tolerance in (1e-3, 1e-4, 1e-6):
        sol = mb.simulate(system, system.state(), t1=10.0, ts=t, rtol=tolerance, atol=tolerance, throw=False)
        assert sol.message == "Reached the end.", tolerance
    # The passage magnifies errors, but the motion is on its branch.
    np.testing.assert_allclose(sol.q, exact.q, atol=1e-2)


@pytest.mark.slow
def test_fixed_steps_stop_too():
    system = n_four_bar(windows=1)
    at = truth.quarter_turn(1.0, truth.n_four_bar_constant(1))
    sol = mb.simulate(system, n_four_bar_start(system), t1=2.0, dt=0.01, solver=diffrax.Tsit5(), throw=False)
    assert not bool(sol.ok)
    assert at - 0.02 < float(sol.reached) < at + 1e-3
