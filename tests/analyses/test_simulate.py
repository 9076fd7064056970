"""`simulate` on mechanisms with a closed form, its statuses and its messages."""

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import ellipj, ellipk

import jaxmb as mb
from jaxmb.analyses import simulate as module

from ..models import door, pendulum, spatial_loop


@pytest.fixture(scope="module")
def swing():
    system = pendulum()
    return mb.simulate(system, system.state(), t1=2.0, dt_save=0.1, rtol=1e-11, atol=1e-11)


def angle_from_vertical(t):
    """A rod let go from the horizontal: sin(angle / 2) = k sn(K - w t, k^2) with w^2 = 3 g / (2 L)."""
    k2 = 0.5
    sn = ellipj(ellipk(k2) - np.sqrt(1.5 * 9.81) * t, k2)[0]
    return 2 * np.arcsin(np.sqrt(k2) * sn)


def test_pendulum_agrees_with_elliptic_functions(swing):
    expected = angle_from_vertical(np.asarray(swing.t)) - np.pi / 2
    assert np.max(np.abs(swing.joint("hinge").angle - expected)) < 1e-9
    assert swing.t.shape == (21,)
    assert bool(swing.ok) and swing.message == "Reached the end."


def test_reaction_of_the_pendulum_agrees_with_closed_form(swing):
    """Along the rod: m (g cos(angle) + w^2 L / 2); the hinge takes no torque about its axis."""
    angle = angle_from_vertical(np.asarray(swing.t))
    rate2 = 3 * 9.81 * np.cos(angle)
    along = np.stack([np.sin(angle), -np.cos(angle), 0 * angle], axis=1)
    tension = -np.sum(np.asarray(swing.reaction("hinge").force) * along, axis=1)
    assert np.max(np.abs(tension - (9.81 * np.cos(angle) + rate2 / 2))) < 1e-7
    assert np.max(np.abs(swing.reaction("hinge").torque[:, 2])) < 1e-9
    assert np.all(swing.reaction("hinge").unique)


def test_numbers_change_without_compiling_again():
    system, state = pendulum(), pendulum().state()
    mb.simulate(system, state, t1=0.5, rtol=1e-6, atol=1e-6)
    before = module._run._cached._cache_size()
    mb.simulate(pendulum(length=1.3, mass=2.0), pendulum(length=1.3).state(), t1=0.7, rtol=1e-5, atol=1e-4)
    assert module._run._cached._cache_size() == before


def test_vmap_equals_loop_and_jit_equals_eager():
    def tip(length):
        system = pendulum(length=length)
        return mb.simulate(system, system.state(), t1=0.5, rtol=1e-9, atol=1e-9).final.point("rod", "end")

    lengths = jnp.array([0.7, 1.0, 1.6])
    loop = jnp.stack([tip(length) for length in lengths])
    assert np.max(np.abs(jax.vmap(tip)(lengths) - loop)) < 1e-12
    assert np.max(np.abs(eqx.filter_jit(tip)(lengths[0]) - loop[0])) < 1e-11


def test_fixed_steps_converge_at_the_order_of_the_solver():
    system = pendulum()
    exact = angle_from_vertical(np.array([1.0]))[0] - np.pi / 2

    def error(dt):
        sol = mb.simulate(system, system.state(), t1=1.0, dt=dt, solver=diffrax.Bosh3(), max_steps=4096)
        return abs(float(sol.joint("hinge").angle[-1]) - exact)

    order = np.log2(error(0.02) / error(0.01))
    assert 2.7 < order < 3.3


def test_statistics_count_evaluations():
    system = pendulum()
    options = dict(t1=1.0, rtol=1e-6, atol=1e-6, solver=diffrax.Tsit5())
    free = mb.simulate(system, system.state(), stabilization=mb.NoStabilization(), **options).stats
    assert int(free.right_hand_sides) == 7 * (int(free.steps) + int(free.rejected))
    projected = mb.simulate(system, system.state(), **options).stats
    assert int(projected.right_hand_sides) == 7 * (int(projected.steps) + int(projected.rejected))
    assert int(projected.newton_iterations) == int(projected.steps)


def test_redundant_door_does_not_need_to_know_its_rank():
    """Two hinges on a vertical axis: turning freely, angle = rate t, inside jit as well."""
    system = door()

    @jax.jit
    def angle(rate):
        arm = jnp.array([0.45, 0.0, 0.0])
        omega = jnp.stack([jnp.zeros(()), jnp.zeros(()), rate])
        state = system.state(omega={"door": omega}, velocity={"door": jnp.cross(omega, arm)})
        sol = mb.simulate(system, state, t1=1.0)
        return sol.joint("hinge0").angle[-1]

    assert abs(angle(0.8) - 0.8) < 1e-9


def test_unassembled_start_names_the_joint():
    system = pendulum()
    state = system.state()
    with pytest.raises(
        mb.SimulationError, match=r"violates the constraints by 3\.2e-02 \(worst: joint 'hinge', row x\)"
    ):
        mb.simulate(system, mb.State(state.t, state.q.at[0].add(0.032), state.v), t1=1.0)
    with pytest.raises(mb.SimulationError, match=r"of the velocities by .* assemble_state"):
        mb.simulate(system, mb.State(state.t, state.q, state.v.at[0].add(0.5)), t1=1.0)


def test_direct_method_refuses_redundant_rows_by_name():
    system = door()
    with pytest.raises(
        mb.SimulationError, match=r"KKT\(\) cannot solve this system: 10 constraint rows, rank 5"
    ) as caught:
        mb.simulate(system, system.state(), t1=1.0, formulation=mb.KKT())
    assert "hinge0.x" in str(caught.value) and "UdwadiaKalaba()" in str(caught.value)


def test_a_force_that_becomes_nan_stops_the_run_where_it_does():
    force = mb.Applied("rod", lambda t: jnp.stack([jnp.where(t > 0.4, jnp.nan, 0.0), 0.0 * t, 0.0 * t]))
    system = pendulum().with_forces(broken=force)
    sol = mb.simulate(system, system.state(), t1=1.0, ts=jnp.linspace(0, 1.0, 11), throw=False)
    assert sol.status == mb.Status.not_finite
    assert abs(float(sol.reached) - 0.4) < 1e-6
    assert np.all(np.isnan(sol.q[5:])) and np.all(np.isfinite(sol.q[:4]))
    with pytest.raises(mb.SimulationError, match=r"Stopped at t = 0\.4 .* NaN or infinite"):
        mb.simulate(system, system.state(), t1=1.0)


def test_too_few_steps_is_a_status():
    system = pendulum()
    sol = mb.simulate(system, system.state(), t1=5.0, max_steps=4, throw=False)
    assert sol.status == mb.Status.max_steps
    assert 0.0 < float(sol.reached) < 5.0


def test_gimbal_lock_is_a_status():
    """xyz angles lock when the second angle passes 90 degrees: a rod that swings about y through a vertical."""
    system = mb.System(
        {"rod": mb.rod((0, 0, 0), (1, 0, 0), mass=1.0)},
        {"hinge": mb.Revolute("ground", "rod", point=(0, 0, 0), axis="y")},
        {"gravity": mb.Gravity((0, 0, -9.81))},
        coordinates=mb.EulerAngles("xyz"),
    )
    sol = mb.simulate(system, system.state(), t1=2.0, throw=False)
    assert sol.status == mb.Status.coordinate_singularity
    assert float(sol.reached) < 0.5


def test_rank_change_at_an_aligned_start_is_a_status():
    """A four-bar folded flat: rank is lost at the start only."""
    system = mb.System(
        {
            "a": mb.rod((0, 0, 0), (1, 0, 0), mass=1.0),
            "b": mb.rod((1, 0, 0), (3, 0, 0), mass=1.0),
            "c": mb.rod((2, 0, 0), (3, 0, 0), mass=1.0),
        },
        {
            "A": mb.PlanarRevolute("ground", "a", point=(0, 0, 0)),
            "B": mb.PlanarRevolute("a", "b", point=(1, 0, 0)),
            "C": mb.PlanarRevolute("b", "c", point=(3, 0, 0)),
            "D": mb.PlanarRevolute("ground", "c", point=(2, 0, 0)),
        },
        coordinates=mb.Planar(),
    )
    state = system.state(
        velocity={"a": (0, 0.5, 0), "b": (0, 1.0, 0), "c": (0, 0.5, 0)}, omega={"a": (0, 0, 1.0), "c": (0, 0, 1.0)}
    )
    sol = mb.simulate(system, state, t1=1.0, throw=False)
    assert sol.status == mb.Status.rank_change


@pytest.mark.parametrize(
    ("options", "phrase"),
    [
        (dict(ts=[0.0, 1.0], dt_save=0.1), "both ts and dt_save"),
        (dict(ts=[0.5, 0.2]), "do not increase"),
        (dict(dt_save=0.3), "does not divide"),
        (dict(solver=diffrax.Euler()), "no error estimate"),
        (dict(solver=diffrax.KenCarp4()), "whose stages it cannot take"),
        (dict(rtol=0.0), "must be positive"),
        (dict(dt=-0.1), "a step must be positive"),
        (dict(max_steps=0), "at least 1"),
        (dict(gradient="backward"), "'reverse', 'forward' or 'direct'"),
    ],
)
def test_bad_choices_are_refused(options, phrase):
    system = pendulum()
    with pytest.raises(mb.ModelError, match=phrase):
        mb.simulate(system, system.state(), **{"t1": 1.0, **options})


def test_end_before_start_is_refused():
    system = pendulum()
    with pytest.raises(mb.ModelError, match="after the start"):
        mb.simulate(system, system.state(t=2.0), t1=1.0)


@pytest.mark.slow
def test_driver_work_balances_energy():
    """A driven crank of a redundant loop: what the driver puts in is what the energy gains."""
    system, state = spatial_loop()
    driven = system.with_joints(motor=mb.Driver("A", lambda t: 1.2 + 1.5 * t))
    start = mb.assemble_state(driven, state)
    sol = mb.simulate(driven, start, t1=1.0, dt_save=0.1, rtol=1e-10, atol=1e-10)
    energy = sol.energy
    assert np.ptp(np.asarray(energy.total)) > 1.0
    assert np.max(np.abs(energy.total - energy.work - energy.total[0])) < 1e-7
    assert np.max(np.abs(sol.joint("A").angle - (1.2 + 1.5 * sol.t))) < 1e-9
