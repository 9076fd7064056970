"""Events in whole runs: impacts, locks, stops, their derivatives and batches."""

import functools

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import jaxmb as mb

from .models import parallelogram, pendulum, spatial_loop

TIGHT = dict(rtol=1e-10, atol=1e-10)


def bounce(restitution=0.7, length=1.0, limit=-1.9, t1=2.0, **options):
    """A rod let go from the horizontal against an end stop of its hinge."""
    system = pendulum(length=length)
    events = {"stop": mb.Event(mb.LowerLimit("hinge", limit), mb.Impact(restitution))}
    return mb.simulate(system, system.state(), t1=t1, events=events, **{**TIGHT, **options})


def bounce_truth(restitution, length, limit, t1):
    """The same by an equation of the angle alone, in another integrator with its own events."""

    def touching(t, y):
        return y[0] - limit

    touching.terminal, touching.direction = True, -1
    t, y, times = 0.0, np.zeros(2), []
    while t < t1:
        out = solve_ivp(lambda t, y: [y[1], -1.5 * 9.81 / length * np.cos(y[0])], (t, t1), y, events=touching,
                        method="DOP853", rtol=1e-12, atol=1e-12)  # fmt: skip
        t, y = out.t[-1], out.y[:, -1].copy()
        if out.status == 1:
            times.append(t)
            y = np.array([limit, -restitution * y[1]])
    return times, y


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({}, id="Dopri8"),
        pytest.param(dict(solver=diffrax.Tsit5()), id="Tsit5", marks=pytest.mark.slow),
        pytest.param(dict(dt=0.02), id="fixed", marks=pytest.mark.slow),
        pytest.param(dict(solver=mb.Radau(5)), id="Radau", marks=pytest.mark.slow),
        pytest.param(dict(solver=mb.Adams()), id="Adams", marks=pytest.mark.slow),
    ],
)
def test_bouncing_pendulum_agrees_with_its_equation(options):
    sol = bounce(ts=jnp.linspace(0.0, 2.0, 21), **options)
    times, (angle, rate) = bounce_truth(0.7, 1.0, -1.9, 2.0)
    assert len(times) == 2
    np.testing.assert_allclose(sol.events.of("stop"), times, atol=2e-9)
    np.testing.assert_allclose(sol.joint("hinge").angle[-1], angle, atol=1e-8)
    np.testing.assert_allclose(sol.joint("hinge").angle_rate[-1], rate, atol=1e-7)
    assert np.all(np.asarray(sol.joint("hinge").angle) > -1.9 - 1e-9)
    assert str(sol.events).count("stop") == 2 and np.nanmax(sol.violation.position) < 1e-10


@pytest.mark.slow
def test_derivatives_are_right_across_impacts():
    """End position after two impacts, by restitution, length and the place of the stop."""

    def end(p):
        return bounce(p[0], p[1], p[2]).final.point("rod", "end")[0]

    p, h = np.array([0.7, 1.0, -1.9]), 1e-5
    run = eqx.filter_jit(end)
    differences = [float(run(p + h * e) - run(p - h * e)) / (2 * h) for e in np.eye(3)]
    np.testing.assert_allclose(jax.grad(run)(jnp.asarray(p)), differences, rtol=1e-5)


@pytest.mark.slow
def test_a_stop_gives_time_and_state_of_the_event_with_their_derivatives():
    """The time is proportional to the square root of the length, and the angular speed follows from the energy."""

    def fall(length):
        system = pendulum(length=length)
        events = {"low": mb.Event(lambda x: x.joint("hinge").angle + 1.5, mb.Stop())}
        sol = mb.simulate(system, system.state(), t1=2.0, events=events, gradient="forward", **TIGHT)
        return sol.t[-1], sol.end.joint("hinge").angle_rate, sol.status

    (t, rate, status), (dt, drate, _) = jax.jvp(fall, (1.0,), (1.0,))
    assert status == mb.Status.event
    assert abs(float(rate) + np.sqrt(3 * 9.81 * np.sin(1.5))) < 1e-8
    assert abs(float(dt) - 0.5 * float(t)) < 1e-8 and abs(float(drate) + 0.5 * float(rate)) < 1e-7


def test_rows_after_a_stop_are_nan_and_the_message_names_it():
    system = pendulum()
    events = {"low": mb.Event(mb.LowerLimit("hinge", -1.5), mb.Stop())}
    sol = mb.simulate(system, system.state(), t1=1.0, dt_save=0.1, events=events)
    assert bool(sol.ok) and sol.message.startswith("Event 'low' ended the run at t = 0.47")
    assert np.all(np.isfinite(sol.q[:5])) and np.all(np.isnan(sol.q[5:]))
    assert abs(float(sol.end.joint("hinge").angle) + 1.5) < 1e-8


def wheels(inertia=(2.0, 1.0)):
    """Two wheels on one axis: a clutch between them, a detent that holds the second."""
    bodies = {
        name: mb.Body(1.0, (J, J, J), position=(0, 0, z)) for name, J, z in zip("ab", inertia, (0.0, 1.0), strict=True)
    }
    joints = {name.upper(): mb.Revolute("ground", name, point=(0, 0, z)) for name, z in (("a", 0.0), ("b", 1.0))}
    joints |= {"clutch": mb.Coupler("A", "B", ratio=1.0), "detent": mb.Driver("B", 0.0)}
    return mb.System(bodies, joints)


def geneva(inertia=(2.0, 1.0), t1=4.0, **options):
    """The first wheel takes the second along between its angles 0.5 and 1.5; else the second is held."""
    system = wheels(inertia)
    events = {
        "engage": mb.Event(
            lambda x: x.joint("A").angle - 0.5, (mb.Release("detent"), mb.Lock("clutch")), direction="rising"
        ),
        "leave": mb.Event(
            lambda x: x.joint("A").angle - 1.5, (mb.Release("clutch"), mb.Lock("detent")), direction="rising"
        ),
    }
    state = system.state(omega={"a": (0, 0, 1.0)})
    return mb.simulate(system, state, t1=t1, events=events, released=("clutch",), **{**TIGHT, **options})


def test_lock_and_release_keep_angular_momentum():
    """1 rad/s up to 0.5 rad, then 2/3 rad/s together for 1 rad, then the second is held again."""
    sol = geneva(t1=3.0, dt_save=0.25)
    np.testing.assert_allclose(sol.events.of("engage"), [0.5], atol=1e-9)
    np.testing.assert_allclose(sol.events.of("leave"), [2.0], atol=1e-9)
    t = np.asarray(sol.t)
    together = np.clip(t - 0.5, 0.0, 1.5) / 1.5
    np.testing.assert_allclose(sol.joint("A").angle, np.minimum(t, 0.5) + 2 / 3 * np.maximum(t - 0.5, 0), atol=1e-9)
    np.testing.assert_allclose(sol.joint("B").angle, together, atol=1e-9)
    assert np.nanmax(sol.violation.position) < 1e-10 and np.nanmax(sol.violation.velocity) < 1e-10
    kinetic = np.asarray(sol.energy.kinetic)
    np.testing.assert_allclose(kinetic[[0, 4, -1]], [1.0, 2 / 3, 4 / 9], atol=1e-9)


@pytest.mark.slow
def test_derivative_through_lock_and_release():
    """After the clutch the first wheel turns at J1 / (J1 + J2)."""

    def angle(J):
        return geneva((J, 1.0), t1=3.0, gradient="forward").final.joint("A").angle

    J = 2.0
    share = J / (J + 1)
    value, slope = jax.jvp(angle, (J,), (1.0,))
    assert abs(float(value) - (0.5 + share * 2.5)) < 1e-8
    assert abs(float(slope) - 2.5 / (J + 1) ** 2) < 1e-7


def hit(system, state, t1=0.6, restitution=1.0, **options):
    """A point of the coupler on a wall."""
    wall = mb.Gap("coupler", "middle", (0.0, 0.55, 0.0), (0.0, 1.0, 0.0))
    return mb.simulate(
        system, state, t1=t1, events={"wall": mb.Event(wall, mb.Impact(restitution))}, **{**TIGHT, **options}
    )


def test_elastic_impact_on_a_redundant_loop_keeps_the_energy():
    sol = hit(*spatial_loop(), dt_save=0.05)
    assert int(sol.events.count) >= 1, str(sol.events)
    energy = np.asarray(sol.energy.total)
    assert np.max(np.abs(energy - energy[0])) < 1e-7
    assert np.all(np.asarray(sol.point("coupler", "middle"))[:, 1] > 0.55 - 1e-9)


@pytest.mark.slow
def test_derivatives_across_an_impact_on_a_redundant_loop():
    def end(p):
        return hit(*spatial_loop(mass=p[0], length=p[1]), restitution=p[2]).final.point("coupler", "middle")[1]

    p, h = np.array([1.0, 1.5, 0.8]), 1e-5
    run = eqx.filter_jit(end)
    differences = [float(run(p + h * e) - run(p - h * e)) / (2 * h) for e in np.eye(3)]
    np.testing.assert_allclose(jax.grad(run)(jnp.asarray(p)), differences, rtol=1e-5, atol=1e-7)


@pytest.mark.slow
def test_64_runs_in_a_batch_equal_the_loop():
    """Runs with no, one or several impacts, one after another and all at once."""

    def run(p):
        sol = bounce(p[0], 1.0, p[1], t1=1.2, rtol=1e-7, atol=1e-7)
        return sol.final.point("rod", "end"), sol.events.count, sol.events.times[:5]

    parameters = np.stack([np.linspace(0.2, 1.0, 64), np.linspace(-3.3, -1.0, 64)], axis=1)
    position, count, times = eqx.filter_jit(jax.vmap(run))(parameters)
    one = eqx.filter_jit(run)
    for k, p in enumerate(parameters):
        expected = one(p)
        np.testing.assert_allclose(position[k], expected[0], rtol=0, atol=1e-11)
        np.testing.assert_allclose(times[k], expected[2], rtol=0, atol=1e-11)
        assert int(count[k]) == int(expected[1])
    assert len(set(np.asarray(count).tolist())) >= 3


@pytest.mark.slow
def test_simultaneous_events_happen_in_the_order_given():
    """Both at 0.25 s: what the first sets, the second doubles; the other way round it does not."""

    def spin(order):
        system = mb.System({"ball": mb.sphere((0, 0, 0), radius=0.1, mass=1.0)})
        actions = {
            "set": mb.Change(lambda x: (x.q, x.v.at[0].set(1.0))),
            "double": mb.Change(lambda x: (x.q, 2.0 * x.v)),
        }
        events = {name: mb.Event(mb.AtTime(0.25), actions[name]) for name in order}
        sol = mb.simulate(system, system.state(), t1=1.0, events=events)
        np.testing.assert_allclose(sol.events.times[:2], 0.25, atol=1e-12)
        assert [sol.events.names[int(k)] for k in sol.events.index[:2]] == list(order)
        return float(sol.final.position("ball")[0])

    assert abs(spin(("set", "double")) - 1.5) < 1e-10
    assert abs(spin(("double", "set")) - 0.75) < 1e-10


@pytest.mark.slow
def test_bounces_without_end_are_a_status():
    system = mb.System({"ball": mb.sphere((0, 0, 0.5), radius=0.1, mass=1.0)}, forces={"gravity": mb.Gravity()})
    floor = mb.Event(mb.Gap("ball", "com", (0, 0, 0), (0, 0, 1.0)), mb.Impact(0.5))
    sol = mb.simulate(system, system.state(), t1=5.0, events={"floor": floor}, max_events=20, throw=False)
    assert sol.status == mb.Status.max_events and "max_events" in sol.message
    # Times of flight halve: the ball comes to rest at three times the time of its first fall.
    assert abs(float(sol.reached) - 3 * np.sqrt(2 * 0.5 / 9.81)) < 1e-4


@pytest.mark.parametrize("restitution", [0.3, 0.0])
def test_bounces_down_to_rounding_are_a_status(restitution):
    """Whatever the number of events allowed: the rod does not fall through its stop when flights become too short to be seen."""
    sol = bounce(restitution, limit=-0.8, t1=1.5, max_events=1000, throw=False, rtol=1e-8, atol=1e-8)
    assert sol.status == mb.Status.max_events
    assert 1 <= int(sol.events.count) < 1000
    # The fall to the stop, and flights that become shorter by the restitution each.
    times = np.asarray(sol.events.of("stop"))
    flight = times[1] - times[0] if restitution else 0.0
    np.testing.assert_allclose(sol.reached, times[0] + flight / (1 - restitution), atol=0.02)


@pytest.mark.slow
def test_a_crossing_back_within_one_step_is_seen():
    """A free ball in a long step dips below zero for a moment."""
    system = mb.System(
        {"ball": mb.sphere((0, 0, 0), radius=0.1, mass=1.0)}, forces={"gravity": mb.Gravity((0, 0, 2.0))}
    )
    state = system.state(velocity={"ball": (0, 0, -1.0)})
    dip = mb.Event(lambda x: x.position("ball")[2] + 0.24)  # z = -t + t^2 is lowest, -0.25, at 0.5 s
    sol = mb.simulate(system, state, t1=1.0, dt=1.0, events={"dip": dip})
    np.testing.assert_allclose(sol.events.of("dip"), [0.4, 0.6], atol=1e-9)


@pytest.mark.slow
def test_half_a_turn_is_no_event():
    system = pendulum(gravity=0.0)
    state = system.state(omega={"rod": (0, 0, 2.0)}, velocity={"rod": (0, 1.0, 0)})
    sol = mb.simulate(system, state, t1=3.0, events={"up": mb.Event(mb.LowerLimit("hinge", 1.0))})
    np.testing.assert_allclose(sol.events.of("up"), [0.5], atol=1e-7)


@pytest.mark.slow
def test_generalized_system_and_gradient_free_functions():
    """A point on a line: coordinate by name."""
    system = mb.GeneralizedSystem(lambda q, v, p: 0.5 * jnp.sum(v**2), coordinates=("x",))
    sol = mb.simulate(
        system, system.state([0.0], [1.0]), t1=2.0, events={"one": mb.Event(lambda x: x.coordinate("x") - 1, mb.Stop())}
    )
    assert abs(float(sol.reached) - 1.0) < 1e-9


@functools.cache
def crank():
    return parallelogram()


@pytest.mark.parametrize(
    "event, phrase",
    [
        (lambda: mb.Event(lambda x: x.t, mb.Lock("foot9")), "joint 'foot9'.*Did you mean 'foot"),
        (lambda: mb.Event(lambda x: x.v), "must return one number"),
        (lambda: mb.Event(lambda x: x.t, mb.Impact(2.0)), "restitution=2"),
        (lambda: mb.Event(lambda x: x.t, mb.Impact(0.5), direction="rising"), "a gap closes"),
        (lambda: mb.Event(lambda x: x.t, direction="up"), "'falling', 'rising' or 'both'"),
        (lambda: mb.Event(lambda x: x.t, mb.Lock()), "names no joint"),
        (lambda: mb.Event(mb.UpperLimit("nowhere", 1.0)), "'nowhere'"),
    ],
)
def test_bad_events_are_refused(event, phrase, without_type_checks):
    system, state = crank()
    with pytest.raises(mb.ModelError, match=phrase):
        mb.simulate(system, state, t1=1.0, events={"it": event()})


def test_formulations_that_need_the_freedoms_refuse_locks():
    system, state = crank()
    with pytest.raises(mb.ModelError, match="degrees of freedom"):
        mb.simulate(system, state, t1=1.0, released=("foot1",), formulation=mb.NullSpaceQR())
