"""Driver forces against closed forms, the torques of simulated runs, the balance of power, and finite differences."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmb as mb

from ..models import pendulum, spatial_loop


def swing(t):
    return 0.3 + 0.8 * jnp.sin(2.0 * t)


def torque(t):
    return 3.0 + 2.0 * np.cos(4.0 * t)


def loaded_loop():
    """The redundant loop with a known torque on its crank."""
    system, state = spatial_loop()
    # A law is a resistance, so the torque that drives has a minus.
    motor = mb.JointForce("A", mb.Actuator(lambda t: -(3.0 + 2.0 * jnp.cos(4.0 * t))))
    return system, mb.simulate(system.with_forces(motor=motor), state, t1=0.5, dt_save=0.05)


@pytest.fixture(scope="module")
def loop():
    return loaded_loop()


def test_torque_of_a_driven_pendulum_is_that_of_the_closed_form():
    system = pendulum(length=1.3, mass=2.0).with_joints(motor=mb.Driver("hinge", swing))
    motion = mb.kinematics(system, ts=np.linspace(0.0, 3.0, 31), guess=system.state())
    t = np.asarray(motion.t)
    angle, acceleration = 0.3 + 0.8 * np.sin(2 * t), -3.2 * np.sin(2 * t)
    expected = 2.0 * 1.3**2 / 3 * acceleration + 2.0 * 9.81 * 0.65 * np.cos(angle)
    found = mb.inverse_dynamics(system, motion)
    np.testing.assert_allclose(found.driver("motor"), expected, atol=1e-10)
    assert found.overactuated == ()
    assert found.message == "Forces were found at all times."


def test_a_simulated_motion_gives_its_torque_back(loop):
    system, sol = loop
    found = mb.inverse_dynamics(system.with_joints(motor=mb.Driver("A", 0.0)), sol)
    assert np.ptp(np.asarray(sol.joint("A").angle)) > 0.1
    np.testing.assert_allclose(found.driver("motor"), torque(np.asarray(sol.t)), atol=1e-8)
    assert bool(jnp.all(found.reaction("motor").unique)), "the hinges are redundant, the motor is not"
    # The reactions are those of the run; the motor's torque is a force there and a reaction here.
    np.testing.assert_allclose(found.reaction("C").force, sol.reaction("C").force, atol=1e-8)
    assert not bool(found.reaction("C").unique[0])


def test_two_motors_on_one_freedom_share_the_load_and_say_so(loop):
    system, sol = loop
    twice = system.with_joints(first=mb.Driver("A", 0.0), second=mb.Driver("D", 0.0))
    found = mb.inverse_dynamics(twice, sol)
    assert found.overactuated == ("first", "second")
    assert "Drivers first, second share their load" in found.message
    power = sum(found.driver(n) * sol.joint(j).angle_rate for n, j in (("first", "A"), ("second", "D")))
    np.testing.assert_allclose(power, torque(np.asarray(sol.t)) * sol.joint("A").angle_rate, atol=1e-8)
    # The smallest: no other pair with the same power has a smaller norm, so the pair is in proportion to the rates.
    rates = np.stack([sol.joint("A").angle_rate, sol.joint("D").angle_rate])[:, 1:]
    pair = np.stack([found.driver("first"), found.driver("second")])[:, 1:]
    assert np.max(np.abs(rates)) > 0.1
    np.testing.assert_allclose(pair[0] * rates[1], pair[1] * rates[0], atol=1e-8)


def test_an_undriven_freedom_that_moves_otherwise_is_named(loop):
    system, sol = loop
    with pytest.raises(
        mb.SimulationError, match=r"No constraint forces make this motion.*'(crank|coupler|rocker)' is out of"
    ):
        mb.inverse_dynamics(system, sol)
    found = mb.inverse_dynamics(system, sol, throw=False)
    assert bool(found.status == mb.Status.not_balanced)
    assert np.all(np.isnan(found.lam)), "never a plausible number"
    assert np.all(found.residual > 1e-3)


def test_a_motion_of_other_joints_is_refused(loop):
    _, sol = loop
    other, _ = spatial_loop(length=1.4)
    with pytest.raises(mb.SimulationError, match=r"does not satisfy the joints of this system.*row [B-D]\..* open by"):
        mb.inverse_dynamics(other.with_joints(motor=mb.Driver("A", 0.0)), sol)
    with pytest.raises(mb.ModelError, match=r"7 and 6\. Give a motion of the same bodies"):
        mb.inverse_dynamics(pendulum(), sol)


def test_a_motion_that_is_not_a_number_is_said_to_be(loop):
    system, sol = loop
    broken = mb.SampledMotion(sol.t, sol.q.at[3].set(jnp.nan), sol.v, sol.a, system)
    with pytest.raises(mb.SimulationError, match=r"At t = 0\.15 s the motion or a force is not a number"):
        mb.inverse_dynamics(system.with_joints(motor=mb.Driver("A", 0.0)), broken)


def test_names_that_are_no_drivers_are_refused(loop):
    system, sol = loop
    found = mb.inverse_dynamics(system.with_joints(motor=mb.Driver("A", 0.0)), sol)
    with pytest.raises(mb.ModelError, match=r"Asked for driver 'moter'.*Drivers: motor\. Did you mean 'motor'\?"):
        found.driver("moter")


@pytest.mark.slow
def test_power_of_the_motor_is_the_rate_of_the_energy_and_gradients_hold():
    """On the redundant loop, through kinematics; the motor's largest torque by mass and length against central differences."""
    ts = jnp.linspace(0.0, 1.0, 11)

    def run(mass, length):
        system, state = spatial_loop(mass=mass, length=length, angle=0.3)
        driven = system.with_joints(motor=mb.Driver("A", swing))
        motion = mb.kinematics(driven, ts=ts, guess=state, throw=False)
        return driven, motion, mb.inverse_dynamics(driven, motion, throw=False)

    driven, motion, found = run(1.0, 1.5)
    assert bool(found.ok)

    def energy(t):
        at = mb.kinematics(driven, ts=t, guess=motion[0].state)
        kinetic, potential = jax.vmap(driven.equations().energies)(at.q, at.v)
        return np.asarray(kinetic + potential)

    # Fourth order in one path: t - 2h, t - h, t + h, t + 2h for each inner time.
    h, inner = 1e-3, np.asarray(ts)[1:-1]
    E = energy(np.sort((inner[:, None] + h * np.array([-2, -1, 1, 2])[None, :]).ravel())).reshape(-1, 4)
    rate = (8 * (E[:, 2] - E[:, 1]) - (E[:, 3] - E[:, 0])) / (12 * h)
    power = np.asarray(found.driver("motor") * motion.joint("A").angle_rate)[1:-1]
    np.testing.assert_allclose(power, rate, atol=1e-7)

    largest = jax.jit(lambda p: jnp.max(jnp.abs(run(p[0], p[1])[2].driver("motor"))))
    p, eps = jnp.array([1.0, 1.5]), 1e-5
    central = [(largest(p + eps * e) - largest(p - eps * e)) / (2 * eps) for e in jnp.eye(2)]
    np.testing.assert_allclose(jax.grad(largest)(p), central, rtol=1e-6)
