"""Generalized-alpha: order, damping, constraints, scaling, derivatives."""

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmb as mb
from jaxmb.formulations.deflated import null_space
from jaxmb.integrators import generalized_alpha as module
from jaxmb.integrators.field import Carried, Field, FieldTerm
from jaxmb.integrators.generalized_alpha import HHT, GeneralizedAlpha
from jaxmb.mechanisms import get_mechanism
from jaxmb.status import Status

from ..models import pendulum, spatial_loop
from ..truths.closed_forms import swinging
from .orders import build, errors, run, walk

SOLVERS = {"index 2": GeneralizedAlpha(), "index 3": GeneralizedAlpha(index=3), "HHT": HHT(-0.1)}
slow = pytest.mark.slow


@pytest.mark.parametrize(
    ("name", "solver"),
    [
        ("pendulum", "index 2"),
        ("pendulum", "index 3"),
        ("loop", "index 2"),
        pytest.param("pendulum", "HHT", marks=slow),
        pytest.param("loop", "HHT", marks=slow),
        pytest.param("bricard", "HHT", marks=slow),
        pytest.param("Euler parameters", "index 2", marks=slow),
        pytest.param("Euler parameters", "index 3", marks=slow),
        pytest.param("loop", "index 3", marks=slow),
        pytest.param("bricard", "index 2", marks=slow),
        pytest.param("bricard", "index 3", marks=slow),
        pytest.param("damped and driven", "index 2", marks=slow),
    ],
)
def test_second_order_in_positions_speeds_and_multipliers(name, solver):
    # The loop is fast for a hundredth of a second, where HHT needs shorter steps to show its order.
    dt = 0.002 if (name, solver) == ("loop", "HHT") else 0.01
    coarse, fine = (run(name, SOLVERS[solver], step) for step in (dt, dt / 2))
    order = np.log2(errors(name, coarse) / errors(name, fine))
    assert np.all(np.abs(order - 2) < 0.2), order
    for sol in (coarse, fine):
        assert np.max(sol.violation.position) < 1e-13
        if solver != "index 3":
            assert np.max(sol.violation.velocity) < 1e-11


@pytest.mark.parametrize("solver", ["index 2", "index 3"])
def test_its_own_multipliers_are_of_second_order_from_the_first_step(solver):
    """The hinge of a pendulum: lam along the rod is known in closed form, and nothing is smoothed by a solve afterwards."""
    system = pendulum()
    worst = []
    for dt, count in ((0.02, 20), (0.01, 40)):
        (q, v, *_), history = walk(SOLVERS[solver], system, system.state(), dt, count)
        angle, rate = swinging(dt * np.arange(1, count + 1), np.pi / 2, 1.5 * 9.81)
        # M a + J' lam = Q for the centre of mass, 0.5 m along the rod, which hangs at this angle from the vertical.
        a = -1.5 * 9.81 * np.sin(angle)
        along = 9.81 * np.cos(angle) + 0.5 * rate**2
        across = 9.81 * np.sin(angle) + 0.5 * a
        J = np.array([system.equations().terms(0.0, q[k], v[k]).J for k in range(count)])
        force = -np.einsum("kmn,km->kn", J, history.lam)[:, :2]
        expected = np.stack(
            [-along * np.sin(angle) + across * np.cos(angle), along * np.cos(angle) + across * np.sin(angle)], axis=1
        )
        worst.append(np.max(np.abs(force - expected)))
    assert abs(np.log2(worst[0] / worst[1]) - 2) < 0.2, worst


def amplification(solver, frequency, dt):
    """The linear map of (q, v, spread) in a step of an oscillator."""
    system = mb.GeneralizedSystem(
        lambda q, v, p: 0.5 * v[0] ** 2, lambda q, p: 0.5 * p * q[0] ** 2, parameters=frequency**2, coordinates=("x",)
    )
    equations = system.equations()
    terms = FieldTerm(Field(equations, mb.Deflated(), mb.NoStabilization()))
    zero, none = jnp.zeros(()), jnp.zeros(0)
    carried = Carried(null_space(jnp.zeros((0, 1))), ())

    @jax.jit
    def step(x):
        y = (x[:1], x[1:2], zero, zero)
        vdot = -(frequency**2) * x[:1]
        history = module.History(
            jnp.zeros((), bool), vdot, x[2:], vdot, zero + dt, none, zero, jnp.eye(1), jnp.zeros((0, 1)), 0 * vdot
        )
        y, _, _, history, _ = solver.step(terms, zero, zero + dt, y, carried, history, jnp.zeros((), bool))
        return jnp.concatenate([y[0], y[1], history.spread])

    scale = np.array([1.0, 1 / dt, 1 / dt**3])
    return np.stack([np.asarray(step(jnp.asarray(scale * e))) / scale for e in np.eye(3)], axis=1)


@pytest.mark.parametrize("radius", [1.0, 0.8, 0.3, 0.0])
def test_fast_oscillations_are_damped_by_the_spectral_radius(radius):
    A = amplification(GeneralizedAlpha(radius), 1e3, 1.0)
    # At infinity two or three eigenvalues meet, which are apart by a root of 1 / (frequency dt)2 here.
    assert np.max(np.abs(np.linalg.eigvals(A))) == pytest.approx(radius, abs=0.011)


def test_slow_oscillations_are_hardly_damped():
    A = amplification(GeneralizedAlpha(0.8), 0.1, 1.0)
    assert 1 - 1e-4 < np.max(np.abs(np.linalg.eigvals(A))) < 1


@pytest.mark.parametrize("alpha", [0.0, -0.05, -0.3])
def test_hht_damps_as_published(alpha):
    A = amplification(HHT(alpha), 1e3, 1.0)
    assert np.max(np.abs(np.linalg.eigvals(A))) == pytest.approx((1 + alpha) / (1 - alpha), abs=3e-3)


@slow
@pytest.mark.parametrize("index", [2, 3])
def test_condition_does_not_depend_on_the_step(index, monkeypatch):
    """Unscaled, [M / (beta h2) ..., J'; J, 0] would have a condition number that grows as h^-4."""
    system, state = build("loop")
    found = []

    def spy(residual, guess, fill, *, matrix, **options):
        found.append(np.linalg.cond(np.asarray(matrix(guess) + fill)))
        return guess, real(residual, guess, fill, matrix=matrix, **options)[1]

    real = module.newton
    monkeypatch.setattr(module, "newton", spy)
    equations = system.equations()
    terms = FieldTerm(Field(equations, mb.Deflated(), mb.NoStabilization()))
    carried = Carried(null_space(equations.terms(state.t, state.q, state.v).J), ())
    y = (state.q, state.v, jnp.zeros(()), jnp.zeros(()))
    solver = GeneralizedAlpha(index=index)
    for dt in (1e-2, 1e-4, 1e-6):
        history = solver.init(terms, 0.0, dt, y, carried)
        solver.step(terms, 0.0, dt, y, carried, history, jnp.zeros((), bool))
    assert max(found) < 1.1 * min(found), found
    assert max(found) < 1e4


@slow
@pytest.mark.parametrize("index", [2, pytest.param(3, marks=slow)])
def test_adaptive_steps_follow_the_tolerance(index):
    system, state = build("loop")
    times = np.linspace(0.0, 0.8, 5)
    exact = mb.simulate(system, state, t1=0.8, ts=times, rtol=1e-11, atol=1e-11)
    sols = [
        mb.simulate(system, state, t1=0.8, ts=times, solver=GeneralizedAlpha(index=index), rtol=tol, atol=tol)
        for tol in (1e-4, 1e-7)
    ]
    found = [np.max(np.abs(sol.q - exact.q)) for sol in sols]
    assert found[0] < 1e-2 and found[1] < 1e-4
    assert np.max(sols[1].violation.position) < 1e-10
    # An error of the third order in the step asks for ten times the steps at a thousandth of the tolerance.
    assert int(sols[1].stats.steps) / int(sols[0].stats.steps) == pytest.approx(10, rel=0.3)
    assert int(sols[0].stats.rejected) < 0.4 * int(sols[0].stats.steps)
    # Steps take a matrix of as many columns as speeds and rows, some iterations, and little else.
    columns = state.v.size + (system.equations().terms(0.0, state.q, state.v).Phi.size if index == 2 else 0)
    tried = int(sols[1].stats.steps) + int(sols[1].stats.rejected)
    assert columns < int(sols[1].stats.right_hand_sides) / tried < columns + 15


@slow
def test_steps_far_above_explicit_stability():
    """The governor has an eigenvalue of -8100 1/s: an explicit step must be below 0.0004 s."""
    governor = get_mechanism("flyball-governor")
    system, state = governor.build()
    reference = governor.read_reference()
    some = slice(0, np.searchsorted(reference["t"], 2.0) + 1)
    times = reference["t"][some]
    sol = mb.simulate(system, state, t1=times[-1], ts=times, solver=GeneralizedAlpha(), dt=0.01)
    assert np.max(np.abs(governor.outputs(sol)["s"] - reference["s"][some])) < 2e-3
    lost = mb.simulate(system, state, t1=times[-1], ts=times, solver=diffrax.Tsit5(), dt=0.01, throw=False)
    assert not bool(lost.ok)


def coupler_height(solver, dt=None):
    def height(p, gradient):
        system, state = spatial_loop(length=p[0], stiffness=p[1], mass=p[2])
        sol = mb.simulate(
            system, state, t1=0.2, solver=solver, dt=dt, gradient=gradient, rtol=1e-5, atol=1e-5, throw=False
        )
        return sol.body("coupler").position[-1, 1]

    return height


@slow
@pytest.mark.parametrize("index", [2, 3])
def test_derivatives_of_a_redundant_run(index):
    height = coupler_height(GeneralizedAlpha(index=index), dt=0.02)
    p = jnp.array([1.5, 20.0, 1.0])
    reverse = jax.jit(jax.grad(lambda p: height(p, "reverse")))(p)
    forward = jax.jit(jax.jacfwd(lambda p: height(p, "forward")))(p)
    value = jax.jit(lambda p: height(p, "reverse"))
    step = 1e-5 * p
    differences = [(value(p.at[k].add(s)) - value(p.at[k].add(-s))) / (2 * s) for k, s in enumerate(step)]
    np.testing.assert_allclose(reverse, differences, rtol=1e-5)
    np.testing.assert_allclose(forward, reverse, rtol=1e-9)


@slow
def test_derivatives_with_adaptive_steps():
    """Steps are chosen by the values alone, so the derivative is that of the steps taken: near the true one."""
    height, exact = coupler_height(GeneralizedAlpha()), coupler_height(diffrax.Dopri8(), dt=0.01)
    p = jnp.array([1.5, 20.0, 1.0])
    np.testing.assert_allclose(
        jax.jit(jax.grad(lambda p: height(p, "reverse")))(p),
        jax.jit(jax.grad(lambda p: exact(p, "reverse")))(p),
        rtol=3e-3,
    )


@slow
def test_vmap_equals_the_loop():
    def run(stiffness):
        system, state = spatial_loop(stiffness=stiffness)
        sol = mb.simulate(system, state, t1=0.2, solver=GeneralizedAlpha(), rtol=1e-5, atol=1e-5, throw=False)
        return sol.q[-1], sol.stats.steps

    stiffness = jnp.array([5.0, 20.0, 80.0])
    together = jax.jit(jax.vmap(run))(stiffness)
    one = jax.jit(run)
    for k, x in enumerate(stiffness):
        q, steps = one(x)
        np.testing.assert_allclose(together[0][k], q, rtol=0, atol=1e-11)
        assert int(steps) == int(together[1][k])


def test_hopeless_steps_end_with_a_status():
    system, state = build("loop")
    sol = mb.simulate(system, state, t1=40.0, dt=20.0, solver=GeneralizedAlpha(), throw=False)
    assert bool(sol.status == Status.newton_failure)
    assert float(sol.reached) < 40.0
    assert np.all(np.isnan(sol.q[-1]))


@slow
def test_failed_steps_are_taken_again_smaller():
    system, state = build("loop")
    impatient = GeneralizedAlpha(max_iterations=4)
    sol = mb.simulate(system, state, t1=0.8, solver=impatient, rtol=1e-2, atol=1e-2)
    assert int(sol.stats.rejected) > 5
    assert np.max(sol.violation.position) < 1e-12


@slow
def test_moving_constraints_do_work():
    """A crank turned against gravity and inertia: the work of the driver is the energy gained, to second order."""
    system = pendulum()
    driven = system.with_joints(motor=mb.Driver("hinge", lambda t: 0.3 * jnp.sin(4.0 * t)))
    start = mb.assemble_state(driven)
    gaps = []
    for dt in (0.02, 0.01):
        sol = mb.simulate(driven, start, t1=0.6, dt_save=0.2, solver=GeneralizedAlpha(), dt=dt)
        total = np.asarray(sol.energy.total)
        assert np.max(np.abs(total - total[0])) > 1.0
        gaps.append(np.max(np.abs(total - total[0] - sol.work)))
    assert gaps[1] < 1e-2
    assert abs(np.log2(gaps[0] / gaps[1]) - 2) < 0.3, gaps


@slow
def test_a_jump_makes_it_forget():
    system, state = build("pendulum")
    equations = system.equations()
    terms = FieldTerm(Field(equations, mb.Deflated(), mb.NoStabilization()))
    carried = Carried(null_space(equations.terms(state.t, state.q, state.v).J), ())
    y = (state.q, state.v, jnp.zeros(()), jnp.zeros(()))
    solver = GeneralizedAlpha()
    fresh = solver.init(terms, 0.0, 0.01, y, carried)
    wrong = jax.tree.map(lambda x: x + 7.0 if jnp.issubdtype(x.dtype, jnp.floating) else x, fresh)
    wrong = eqx.tree_at(lambda x: x.fresh, wrong, jnp.zeros((), bool))
    step = jax.jit(lambda history, jump: solver.step(terms, 0.0, 0.01, y, carried, history, jump)[0])
    np.testing.assert_array_equal(step(fresh, False)[1], step(wrong, True)[1])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: GeneralizedAlpha(1.2), "spectral_radius=1.2"),
        (lambda: GeneralizedAlpha(index=1), "index=1"),
        (lambda: HHT(-0.5), "alpha=-0.5"),
    ],
)
def test_bad_options_are_named(make, words):
    with pytest.raises(mb.ModelError, match=words):
        make()
