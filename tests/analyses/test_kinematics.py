"""Driven motions against closed forms: slider-crank, Bricard's linkage, a redundant four-bar, an arm."""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.optimize

import jaxmb as mb
from jaxmb.functions import Tabulated
from jaxmb.mechanisms.bricard import bricard
from jaxmb.mechanisms.slider_crank import slider_crank
from jaxmb.status import status_name

from ..models import door

TS = np.linspace(0.0, 1.0, 25)


def over_time(f, ts=TS):
    """f, its rate and its acceleration at the times."""
    rate = jax.jacfwd(f)
    return [np.asarray(x) for x in jax.jit(jax.vmap(lambda t: (f(t), rate(t), jax.jacfwd(rate)(t))))(jnp.asarray(ts))]


def assert_motion(found, closed_form, ts=TS):
    """1e-10 in position, 1e-9 in velocity, 1e-8 in acceleration."""
    for x, expected, atol in zip(found, over_time(closed_form, ts), (1e-10, 1e-9, 1e-8), strict=True):
        np.testing.assert_allclose(x, expected, rtol=0, atol=atol)


def of_point(motion, body, point):
    found = motion.point_motion(body, point)
    return found.position, found.velocity, found.acceleration


# Slider-crank and Bricard.


def crank_angle(t):
    return 0.3 * jnp.sin(5.0 * t) + 2.0 * jnp.pi * t


@pytest.mark.slow
def test_a_slider_crank_moves_as_its_closed_form():
    system = slider_crank().with_joints(motor=mb.Driver("O", crank_angle))
    motion = mb.kinematics(system, ts=TS, guess=system.state())
    pin, wrist = np.array([0.1732, -0.1]), 0.663
    radius, rod, start = np.hypot(*pin), np.hypot(wrist - pin[0], pin[1]), np.arctan2(pin[1], pin[0])

    def slider(t):
        phi = start + crank_angle(t)
        x = radius * jnp.cos(phi) + jnp.sqrt(rod**2 - (radius * jnp.sin(phi)) ** 2)
        return jnp.stack([x + 0.72 - wrist, 0.0 * t, 0.0 * t])

    assert_motion(of_point(motion, "slider", "com"), slider)

    def rod_spin(t):
        phi = start + crank_angle(t)
        return jnp.stack([0.0 * t, 0.0 * t, -jnp.arcsin(radius * jnp.sin(phi) / rod)])

    _, omega, alpha = over_time(rod_spin)
    np.testing.assert_allclose(motion.body("rod").omega, omega, atol=1e-9)
    np.testing.assert_allclose(motion.body("rod").alpha, alpha, atol=1e-8)
    np.testing.assert_allclose(motion.joint("O").angle, crank_angle(TS), atol=1e-10)


def bricard_angle(t):
    return 1.7 * (1.0 - jnp.cos(2.0 * jnp.pi * t)) + 0.3 * jnp.sin(2.0 * jnp.pi * t)


def test_bricards_linkage_moves_as_its_closed_form():
    """31 rows for 30 speeds, of which one more is redundant in every pose than a count says."""
    system = bricard().with_joints(motor=mb.Driver("P1", bricard_angle))
    motion = mb.kinematics(system, ts=TS, guess=system.state())

    def P3(t):
        s, c = jnp.sin(bricard_angle(t)), jnp.cos(bricard_angle(t))
        second = s / (1.0 + s)
        # The cosine passes zero where the second hinge is at a right angle, which it does not reach here.
        return jnp.stack([c / (1.0 + s), -jnp.sqrt(1.0 - second**2), -second])

    assert_motion(of_point(motion, "rod2", "end"), P3)
    assert np.ptp(bricard_angle(TS)) > 3.0
    for name in ("P3", "P5"):
        np.testing.assert_allclose(np.abs(motion.joint(name).angle), np.abs(bricard_angle(TS)), atol=1e-10)


# A four-bar whose hinges are redundant: 21 rows of rank 18. All of its tests run in one program.


class Swing(eqx.Module):
    """1.2 + rate t + amplitude sin(4 t)."""

    rate: jax.Array
    amplitude: jax.Array

    def __call__(self, t):
        return 1.2 + self.rate * t + self.amplitude * jnp.sin(4.0 * t)


RATE, AMPLITUDE, COUPLER = 6.0, 0.2, 1.5


def sketch():
    """Where the links roughly are, with the elbow up."""
    B, C, D = (0.4, 0.9, 0), (1.8, 1.2, 0), (1.6, 0, 0)
    rods = {"crank": ((0, 0, 0), B), "coupler": (B, C), "rocker": (D, C)}
    return mb.System({name: mb.rod(*ends, mass=1.0) for name, ends in rods.items()}).state()


def loop(length=COUPLER, rate=RATE, amplitude=AMPLITUDE, ts=TS, mass=1.0):
    """The driven loop's motion, from a sketch of its start."""
    lengths = {"crank": 1.0, "coupler": length, "rocker": 1.2}
    bodies = {name: mb.rod(length=l, mass=mass * l) for name, l in lengths.items()}
    joints = {
        "A": mb.Revolute("ground", "crank", at=(0, 0, 0), to="start"),
        "B": mb.Revolute("crank", "coupler", at="end", to="start"),
        "C": mb.Revolute("coupler", "rocker", at="end", to="end"),
        "D": mb.Revolute("ground", "rocker", at=(1.6, 0, 0), to="start"),
        "motor": mb.Driver("A", Swing(jnp.asarray(rate), jnp.asarray(amplitude))),
    }
    return mb.kinematics(mb.System(bodies, joints), ts=ts, guess=sketch(), throw=False)


def elbow(length, rate, amplitude, t):
    """Where coupler and rocker meet: the upper intersection of two circles."""
    angle = 1.2 + rate * t + amplitude * jnp.sin(4.0 * t)
    B = jnp.stack([jnp.cos(angle), jnp.sin(angle), 0.0 * t])
    along = jnp.array([1.6, 0.0, 0.0]) - B
    distance = jnp.sqrt(along @ along)
    a = (length**2 - 1.2**2 + distance**2) / (2 * distance)
    across = jnp.stack([-along[1], along[0], 0.0 * t])
    return B + (a * along + jnp.sqrt(length**2 - a**2) * across) / distance


def test_a_redundant_loop_moves_as_its_closed_form_whatever_its_masses():
    for mass in (1.0, 1e-6, 1e6):
        motion = loop(mass=mass)
        assert bool(motion.ok), motion.message
        assert_motion(of_point(motion, "coupler", "end"), functools.partial(elbow, COUPLER, RATE, AMPLITUDE))
    assert motion.message == "Reached the end."
    assert motion.final.point("coupler", "end").shape == (3,)


def test_few_times_lead_along_the_same_branch_as_many():
    """Six turns in 25 times."""
    motion = loop(ts=6 * TS)
    assert_motion(of_point(motion, "coupler", "end"), functools.partial(elbow, COUPLER, RATE, AMPLITUDE), ts=6 * TS)
    assert int(motion.trials.max()) > 1


@pytest.mark.slow
def test_a_lane_that_fails_does_not_spoil_the_others():
    lengths = jnp.array([1.45, 0.7, 1.5, 0.1, 1.7])

    @jax.jit
    def batch(lengths):
        return jax.vmap(loop)(lengths)

    motions = batch(lengths)
    np.testing.assert_array_equal(motions.ok, [True, False, True, False, True])
    np.testing.assert_array_equal(motions.status == mb.Status.unreachable, ~motions.ok)
    for k, length in enumerate(np.asarray(lengths)):
        alone = loop(length)
        np.testing.assert_allclose(motions.q[k], alone.q, atol=1e-11)
        np.testing.assert_allclose(motions.a[k], alone.a, atol=1e-8)
        np.testing.assert_array_equal(motions.trials[k], alone.trials)
    assert 0.0 < float(motions.reached[1]) < 1.0
    assert np.all(np.isnan(motions.q[3]))


OUTPUTS = [3, 11, 24]


WAY = np.cos(np.arange(TS.size))


@jax.jit
def elbow_motion(numbers):
    """Positions, velocities and accelerations of the elbow at some times; the last number moves each time its own way."""
    motion = loop(*numbers[:3], ts=TS + numbers[3] * WAY)
    return jnp.stack([x[jnp.array(OUTPUTS)] for x in of_point(motion, "coupler", "end")])


def closed_motion(numbers):
    f = functools.partial(elbow, *numbers[:3])
    ts = (TS + numbers[3] * WAY)[jnp.array(OUTPUTS)]
    return jnp.stack([jax.vmap(g)(ts) for g in (f, jax.jacfwd(f), jax.jacfwd(jax.jacfwd(f)))])


NUMBERS = jnp.array([COUPLER, RATE, AMPLITUDE, 0.0])


@pytest.mark.slow
@pytest.mark.parametrize("derivative", [jax.jacfwd, jax.jacrev])
def test_derivatives_by_lengths_drivers_and_times_are_those_of_the_closed_form(derivative):
    slopes = jax.jit(derivative(elbow_motion))
    expected = jax.jit(derivative(closed_motion))(NUMBERS)
    for x, y, atol in zip(slopes(NUMBERS), expected, (1e-10, 1e-9, 1e-8), strict=True):
        np.testing.assert_allclose(x, y, rtol=0, atol=atol * np.max(np.abs(y)))
    # What was not reached has no derivative: that of NaN is NaN, not zero.
    assert np.all(np.isnan(slopes(NUMBERS.at[0].set(0.7))[:, -1]))


@pytest.mark.slow
def test_the_second_derivative_is_that_of_the_closed_form():
    def by_length(f):
        return jax.jit(jax.jacfwd(jax.jacfwd(lambda length: f(NUMBERS.at[0].set(length))[0, 1])))(COUPLER)

    np.testing.assert_allclose(by_length(elbow_motion), by_length(closed_motion), atol=1e-9)


# An arm whose end is driven along x piecewise and along y by a table: inverse kinematics of two links. One program again.

UPPER, FORE = 1.0, 0.8
TABLE = np.array([0.0, 0.2, 0.5, 0.9, 1.3, 1.5])


def along_x(t):
    """A cycloidal way from 1.3 to 0.9 in half a second, then rest; continuous up to the acceleration."""
    return 1.3 - 0.4 * jnp.where(t < 0.5, 2.0 * t - jnp.sin(4 * jnp.pi * t) / (2 * jnp.pi), 1.0)


def along_y(t):
    """A cubic, which a spline through some of its points is as well."""
    return 0.6 + 0.8 * t - 0.1 * t**3


def arm(ts, *, rise=along_y, axis="y", throw=True):
    joints = {
        "shoulder": mb.Revolute("ground", "upper", point=(0, 0, 0)),
        "elbow": mb.Revolute("upper", "fore", point=(UPPER, 0, 0)),
        "x": mb.BodyDriver("fore", along_x, axis="x", point="end"),
        "y": mb.BodyDriver("fore", Tabulated(TABLE, rise(TABLE)), axis=axis, point="end"),
    }
    bodies = {
        "upper": mb.rod((0, 0, 0), (UPPER, 0, 0), mass=1.0),
        "fore": mb.rod((UPPER, 0, 0), (UPPER, FORE, 0), mass=1.0),
    }
    system = mb.System(bodies, joints)
    return mb.kinematics(system, ts=ts, guess=system.state(), throw=throw)


def middle_joint(t):
    """The elbow, on the right-hand side of the way to the end."""
    end = jnp.stack([along_x(t), along_y(t), 0.0 * t])
    r = jnp.sqrt(end @ end)
    angle = jnp.arctan2(end[1], end[0]) - jnp.arccos((UPPER**2 + r**2 - FORE**2) / (2 * UPPER * r))
    return UPPER * jnp.stack([jnp.cos(angle), jnp.sin(angle), 0.0 * t])


def test_drivers_may_be_piecewise_and_tabulated():
    assert_motion(of_point(arm(TS), "upper", "end"), middle_joint)


def test_a_path_ends_with_the_table_and_raises_its_message():
    with pytest.raises(mb.SimulationError, match=r"Stopped at t = 1.5 s. .* NaN or infinite"):
        arm(2.0 * TS)


def test_a_path_ends_where_the_arm_is_stretched():
    motion = arm(TS, rise=lambda t: 0.6 + 2.0 * t, throw=False)
    stretched = scipy.optimize.brentq(lambda t: np.hypot(float(along_x(t)), 0.6 + 2.0 * t) - UPPER - FORE, 0.4, 0.5)
    assert status_name(motion.status) == "unreachable"
    assert float(motion.reached) == pytest.approx(stretched, abs=1e-5)
    assert "joint 'y' stays open: row drive" in motion.message


def test_a_freedom_that_is_not_driven_is_named():
    """Both drivers along x, so that the arm may still move along y."""
    with pytest.raises(
        mb.ModelError, match=r"at t = 0 s 1 of them are not \(free to move: upper, fore\). Add a Driver"
    ):
        arm(TS, rise=along_x, axis="x")
    motion = arm(TS, rise=along_x, axis="x", throw=False)
    assert status_name(motion.status) == "not_driven"
    assert np.all(np.isnan(motion.q))


# What is refused before anything is computed.


@pytest.mark.parametrize(
    ("change", "phrase"),
    [
        ({"solver": "newtn"}, "There are: newton, levenberg-marquardt, dogleg. Did you mean 'newton'?"),
        ({"max_steps": 0}, "max_steps=0; at least 1 is needed"),
        ({"ts": TS[::-1]}, "ts that do not increase from each time to the next"),
        ({"ts": [0.0, np.nan, 1.0]}, "ts that do not increase from each time to the next"),
        ({"ts": 1.0}, "ts of shape (); it must be a list of times"),
        ({"ts": []}, "ts of shape (0,); it must be a list of times"),
        (
            {"guess": mb.State(jnp.zeros(()), jnp.zeros(3), jnp.zeros(3))},
            "q, v of shapes (3,), (3,), but this system has (7,), (6,)",
        ),
    ],
)
def test_bad_questions_are_explained(change, phrase):
    system = door()
    with pytest.raises(mb.ModelError) as refusal:
        mb.kinematics(system, **({"ts": TS, "guess": system.state()} | change))
    assert phrase in str(refusal.value)


def test_too_few_rows_are_counted():
    system = door(1)
    with pytest.raises(mb.ModelError, match="has 6 speeds and 5 constraint rows, so at least 1 of them are free"):
        mb.kinematics(system, ts=TS, guess=system.state())
