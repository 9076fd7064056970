"""Runs of the catalog agree with the trusted trajectories, reactions and energy included."""

import numpy as np
import pytest

import jaxmb as mb
from jaxmb.mechanisms import get_mechanism, simple_pendulum

from . import closed_forms as truth

#: Digits of each file that can be trusted (see the README beside the files), but at most 10: what rtol = 1e-13 delivers
#: after a few hundred steps.
DIGITS = {
    "mcpherson-simplified": 10,
    "mcpherson-overconstrained": 10,
    "double-pendulum": 10,
    "four-bar-case-1": 10,
    "four-bar-case-2": 10,
    "four-bar-case-2-gravity": 9,
    "four-bar-case-1-gravity": 10,
    "four-bar-case-1-60deg": 10,
    "four-bar-case-1-reversed": 9,
    "spatial-four-bar": 10,
    "simple-pendulum": 10,
    "simple-pendulum-spatial": 10,
    "n-four-bar-1": 10,
    "n-four-bar-2": 10,
    "andrews-squeezer": 10,
    "bricard": 10,
    "scotch-yoke": 10,
    "scotch-yoke-text": 10,
    "slider-crank-relative": 10,
    "slider-crank-relative-printed": 10,
    "slider-crank-free": 10,
}

#: Those of the default suite; the others are longer than it allows.
DEFAULT = ("mcpherson-overconstrained", "bricard", "four-bar-case-1", "n-four-bar-2", "simple-pendulum")
NAMES = [pytest.param(name, marks=() if name in DEFAULT else pytest.mark.slow) for name in DIGITS]

#: Columns whose file has fewer digits than the others of it.
COLUMN_DIGITS = {("spatial-four-bar", "E_dissipated"): 5}

#: Columns that are not outputs of a mechanism but notes on how the file was made.
NOTES = {"t", "phi_maxabs"}


def errors(name, run):
    """Largest error of each column, relative to the column's largest value (or that of the energies of the run, of which a
    total energy is a small difference; 1 for a column of zeros). Rows end shortly before a singular configuration."""
    mechanism = get_mechanism(name)
    reference = mechanism.read_reference()
    last = min(float(run.solution.reached), 0.985 * (mechanism.singular_at or np.inf))
    count = int(np.sum(np.asarray(run.solution.t) <= last))
    assert count > 5, run.solution.message
    out = {}
    for column in reference.keys() - NOTES:
        truth, value = reference[column][:count], run.outputs[column][:count]
        scale = max(np.abs(truth).max(), run.energy_scale if column.startswith("E") else 0.0)
        out[column] = np.abs(value - truth).max() / (scale if scale > 1e-9 else 1.0)
    return out


def assert_agrees(name, run, tolerance):
    wrong = {}
    for column, error in errors(name, run).items():
        allowed = max(tolerance, 10.0 ** -COLUMN_DIGITS.get((name, column), 16))
        if not error < allowed:
            wrong[column] = f"{error:.1e} > {allowed:.0e}"
    assert not wrong


@pytest.mark.parametrize("name", NAMES)
def test_eight_digits_at_1e_10(run, name):
    assert_agrees(name, run(name, 1e-10), 1e-8)


@pytest.mark.parametrize("name", NAMES)
def test_all_trusted_digits_at_1e_13(run, name):
    assert_agrees(name, run(name, 1e-13), 10.0 ** -DIGITS[name])


@pytest.mark.parametrize("name", NAMES)
def test_constraints_and_energy(run, name):
    result = run(name, 1e-10)
    assert np.nanmax(result.violation.position) < 1e-10
    assert np.nanmax(result.violation.velocity) < 1e-10
    assert np.nanmax(result.violation.acceleration) < 1e-10 * max(1.0, result.acceleration_scale)
    # Energy is of first order in the errors of positions and speeds, each times a large force or momentum.
    assert result.energy_error < 1e-7 * result.energy_scale
    tight = run(name, 1e-13)
    assert tight.energy_error < 3e-10 * tight.energy_scale


@pytest.mark.slow
@pytest.mark.parametrize("t1", [1.0, 10.0])
def test_flyball_governor(run, t1):
    """Its stiffness, not its accuracy, makes it slow: 37,000 steps."""
    assert_agrees("flyball-governor", run("flyball-governor", 1e-10, t1=t1), 1e-8)


@pytest.mark.slow
def test_five_minutes_of_a_free_slider_crank(run):
    """After 91 turns the error has grown with time; the file itself is 4e-10 s late or early."""
    assert_agrees("slider-crank-free-long", run("slider-crank-free-long", 1e-12), 3e-9)


@pytest.mark.slow
def test_initial_accelerations_of_the_mcpherson_strut(run):
    """Of the centres of mass and angular, in world axes."""
    wanted = {
        "arm": ((0, 0, -0.100525291), (-0.670168605, 0, 0)),
        "knuckle": ((-0.0669676639, 0, -0.201050581), (0, 0.121759389, 1.88727053)),
        "top": ((-0.00152199236, 0, 0), (0, 0.121759389, 0)),
        "tie_rod": ((0.0152199236, 0.188727053, -0.106613260), (-0.426453041, 0, -0.0608796945)),
        "rack": ((0, 0.188727053, 0), (0, 0, 0)),
    }
    for name in ("mcpherson-simplified", "mcpherson-overconstrained"):
        starting = run(name, 1e-10).starting
        for body, (linear, angular) in wanted.items():
            np.testing.assert_allclose(starting[body][0], linear, rtol=3e-9, atol=1e-12)
            np.testing.assert_allclose(starting[body][1], angular, rtol=3e-9, atol=1e-12)


@pytest.mark.slow
def test_a_redundant_hinge_changes_nothing_that_is_unique(run):
    simple, doubled = run("mcpherson-simplified", 1e-13), run("mcpherson-overconstrained", 1e-13)
    for column, x in simple.outputs.items():
        np.testing.assert_allclose(doubled.outputs[column], x, rtol=0, atol=1e-10 * max(1.0, np.abs(x).max()))


@pytest.mark.slow
@pytest.mark.parametrize("tolerance, allowed", [(1e-10, 3e-8), (1e-13, 1e-10)])
def test_slider_crank_is_planar_and_right(run, tolerance, allowed):
    """It has no file: an equation of its crank angle is the truth. It hardly moves (0.06 rad/s, 5 steps in 2 s), so that
    atol rather than rtol decides on its digits."""
    result = run("slider-crank", tolerance)
    crank, rod = np.hypot(0.1732, 0.1), np.hypot(0.663 - 0.1732, 0.1)
    masses, inertias = (0.3361, 5.2493, 2.9956), (1312.9336e-6, 128107.26e-6)
    t = np.asarray(result.solution.t)
    phi, rate, x, dx = truth.slider_crank(t, crank, rod, masses, inertias, 0.005, np.arctan2(-0.1, 0.1732))
    for column, wanted in {"phi": phi, "phidot": rate, "x": x + 0.72 - 0.663, "xdot": dx}.items():
        np.testing.assert_allclose(result.outputs[column], wanted, rtol=0, atol=allowed * np.abs(wanted).max())


def test_bricard_moves_as_its_loop_must(run):
    outputs = run("bricard", 1e-10).outputs
    P3 = np.stack([outputs[f"P3{axis}"] for axis in "xyz"])
    np.testing.assert_allclose(P3, truth.bricard_corner(outputs["theta1"]), atol=1e-10)


def test_pendulum_of_another_length_and_amplitude():
    """The closed form at other numbers than those of the file, with the program that is already compiled."""
    system = simple_pendulum(length=0.7, angle=2.5, mass=3.0, gravity=1.62)
    t = get_mechanism("simple-pendulum").read_reference()["t"]
    sol = mb.simulate(system, system.state(), t1=t[-1], ts=t, rtol=1e-10, atol=1e-10)
    theta, _ = truth.swinging(t, 2.5, 1.62 / 0.7)
    np.testing.assert_allclose(sol.q, 0.7 * np.stack([np.sin(theta), -np.cos(theta)], axis=1), atol=1e-8)
