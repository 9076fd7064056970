"""Adams methods against closed forms, SciPy, trusted trajectories and finite differences."""

import functools

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import jaxmb as mb
from jaxmb.integrators.adams import Adams
from jaxmb.mechanisms import get_mechanism

from ..models import pendulum, spatial_loop


def measured_order(steps, errors):
    """From three step sizes: the slopes of the error tend linearly to the order."""
    steps = np.asarray(steps)
    slope = np.log(errors[:-1] / errors[1:]) / np.log(steps[:-1] / steps[1:])[:, None]
    middle = np.sqrt(steps[:-1] * steps[1:])
    return slope[1] + middle[1] * (slope[1] - slope[0]) / (middle[0] - middle[1])


@eqx.filter_jit
def adaptive(f, y0, t1, tolerance, ts=None, jump_ts=None, adjoint=None, args=None, first=1e-3):
    solver = Adams().at_tolerances(tolerance, tolerance)
    controller = solver.controller(tolerance, tolerance, 1e-13)
    if jump_ts is not None:
        controller = diffrax.ClipStepSizeController(controller, jump_ts=jump_ts, store_rejected_steps=None)
    return diffrax.diffeqsolve(
        diffrax.ODETerm(f), solver, 0.0, t1, first, y0, args, stepsize_controller=controller, max_steps=4096,
        saveat=diffrax.SaveAt(ts=ts, t1=ts is None, solver_state=True),
        adjoint=diffrax.RecursiveCheckpointAdjoint() if adjoint is None else adjoint,
    )  # fmt: skip


def kepler(t, y, args):
    r = jnp.sqrt(y[0] ** 2 + y[1] ** 2)
    return jnp.stack([y[2], y[3], -y[0] / r**3, -y[1] / r**3])


def orbit(eccentricity):
    e = eccentricity
    return jnp.stack([1.0 - e, jnp.zeros(()), jnp.zeros(()), jnp.sqrt((1 + e) / (1 - e))])


# --- order ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", range(1, 13))
def test_fixed_order_converges_with_order_k_plus_1(k):
    """y = exp(t), written so that the Jacobian is small: the high orders are stable only for such steps."""

    @eqx.filter_jit
    def end(h):
        return diffrax.diffeqsolve(
            diffrax.ODETerm(lambda t, y, args: jnp.exp(t) + 0.05 * (y - jnp.exp(t))), Adams(order=k), 0.0, 10.0, h, jnp.ones(()),
            stepsize_controller=diffrax.ConstantStepSize(), max_steps=100,
        ).ys[0]  # fmt: skip

    steps = 10.0 / np.array([30, 36, 45])
    errors = np.array([abs(float(end(jnp.asarray(h))) / np.exp(10.0) - 1.0) for h in steps])
    assert abs(measured_order(steps, errors[:, None])[0] - (k + 1)) < 0.1


@pytest.mark.parametrize("k", [1, 4, 8, 12])
def test_unequal_steps_have_the_same_order(k):
    """One step of y' = y after exact ones over an irregular grid has an error of the order k + 2, also before its end."""
    solver, term = Adams(order=k), diffrax.ODETerm(lambda t, y, args: y)
    grid = np.concatenate([[0.0], np.cumsum(np.random.default_rng(0).uniform(0.6, 1.4, 12)[:k])])

    @eqx.filter_jit
    def last(h):
        t = h * (grid - grid[-1])
        state = solver.init(term, t[0], t[1], jnp.exp(t[0]), None)
        for n in range(k):
            y1, _, dense, state, _ = solver.step(term, t[n], t[n + 1], jnp.exp(t[n]), None, state, False)
        between = 0.3 * t[-2]
        value = solver.interpolation_cls(t0=t[-2], t1=t[-1], **dense).evaluate(between)
        return y1 - 1.0, value - jnp.exp(between)

    steps = np.array([0.1, 0.08, 0.06]) if k < 8 else np.array([0.3, 0.25, 0.2])
    errors = np.abs([last(jnp.asarray(h)) for h in steps])
    assert np.all(np.abs(measured_order(steps, errors) - (k + 2)) < 0.2)


#: For each k the span (s) and two numbers of steps between which the error is neither rounding nor out of its asymptotic range.
MODELS = {
    "pendulum": (
        lambda: (pendulum(), pendulum().state()),
        {
            1: (1.0, 400, 560),
            2: (1.0, 220, 320),
            3: (1.0, 320, 440),
            4: (1.0, 160, 200),
            5: (0.8, 128, 160),
            6: (1.0, 128, 160),
        },
    ),
    "four-bar": (
        spatial_loop,
        {
            1: (1.0, 800, 1120),
            2: (1.0, 760, 1000),
            3: (1.0, 640, 900),
            4: (1.0, 520, 640),
            5: (0.5, 640, 800),
            6: (1.0, 640, 760),
        },
    ),
    "bricard": (
        lambda: get_mechanism("bricard").build(),
        {
            1: (2.0, 400, 560),
            2: (2.0, 200, 280),
            3: (2.0, 160, 224),
            4: (2.0, 120, 160),
            5: (2.0, 160, 200),
            6: (2.0, 160, 200),
        },
    ),
}


@functools.cache
def truth(name, t1):
    system, state = MODELS[name][0]()
    return system, state, mb.simulate(system, state, t1=t1, dt_save=t1 / 4, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("k", [1, 4, *(pytest.param(k, marks=pytest.mark.slow) for k in (2, 3, 5, 6))])
@pytest.mark.parametrize("name", MODELS)
def test_order_of_positions_speeds_and_multipliers(name, k):
    """With projection, redundant rows and all: the order is that of the method for q, v and lam. From k = 7 on double
    precision leaves no room: steps short enough for the asymptotic range (and for stability) have errors of the order
    of rounding. For these there is the next test."""
    t1, *counts = MODELS[name][1][k]
    system, state, exact = truth(name, t1)
    errors = []
    for n in counts:
        sol = mb.simulate(system, state, t1=t1, dt_save=t1 / 4, solver=Adams(order=k), dt=t1 / n)
        pairs = ((sol.q, exact.q), (sol.v, exact.v), (sol.lam, exact.lam))
        errors.append([float(jnp.sqrt(jnp.mean((a - b) ** 2))) for a, b in pairs])
    order = np.log(np.divide(*errors)) / np.log(counts[1] / counts[0])
    assert np.all(np.abs(order - (k + 1)) < 0.2), order


@pytest.mark.parametrize("k", [5, 12, *(pytest.param(k, marks=pytest.mark.slow) for k in range(1, 12) if k != 5)])
def test_polynomial_motions_are_exact_up_to_the_order(k):
    """A multistep method has the order of the polynomials that it integrates exactly [Dahlquist], which rounding does not hide.
    A sledge on two parallel guides (redundant) under the force (d + 1) t^d has the speed t^(d+1): exact for d = k with the
    corrector of order k + 1, not for d = k + 1; its position for d = k - 1, because the slope is that of the
    predicted speed, of order k."""
    guides = {f"guide{i}": mb.Prismatic("ground", "sledge", point=(0, i, 0), axis="x") for i in range(2)}

    @functools.partial(jax.jit, static_argnums=1)
    def errors(d, steps):
        force = mb.Applied("sledge", lambda t: (d + 1) * t**d * jnp.array([1.0, 0.0, 0.0]))
        system = mb.System({"sledge": mb.sphere((0, 0, 0), radius=0.5, mass=1.0)}, guides, {"push": force})
        sol = mb.simulate(system, system.state(), t1=1.0, solver=Adams(order=k), dt=1.0 / steps, throw=False)
        return jnp.abs(jnp.stack([sol.q[-1, 0] - 1 / (d + 2), sol.v[-1, 0] - 1.0]))

    exact, inexact = 1e-12, 1e-10
    position, speed = errors(k - 1.0, 20)
    assert position < exact and speed < exact
    position, speed = errors(jnp.asarray(float(k)), 20)
    assert position > inexact and speed < exact
    assert errors(k + 1.0, 20)[1] > inexact


# --- adaptive ---------------------------------------------------------------------------------------------------------


def test_agrees_with_scipy_at_half_its_evaluations():
    """Three turns of an eccentric orbit, at times between the steps; counted against DOP853 and RK45."""
    y0 = orbit(0.5)
    ts = np.linspace(0.0, 6 * np.pi, 200)
    exact = solve_ivp(
        lambda t, y: np.asarray(kepler(t, y, None)), (0, ts[-1]), y0, "DOP853", ts, rtol=1e-13, atol=1e-13
    )
    out = adaptive(kepler, y0, ts[-1], 1e-8, ts=jnp.asarray(ts))
    assert np.max(np.abs(out.ys - exact.y.T)) < 1e-4  # the phase error of 1e-8 a step, as of the others
    evaluations = 2 * int(out.stats["num_steps"])
    assert evaluations < 0.7 * 1022 and evaluations < 0.55 * 1214
    assert int(np.sum(out.solver_state.orders)) == int(out.stats["num_accepted_steps"])


@pytest.mark.parametrize("tolerance", [1e-4, 1e-7, 1e-10])
def test_error_follows_the_tolerance(tolerance):
    out = adaptive(lambda t, y, args: jnp.stack([y[1], -y[0]]), jnp.array([1.0, 0.0]), 20.0, jnp.asarray(tolerance))
    error = np.max(np.abs(out.ys[0] - np.array([np.cos(20.0), -np.sin(20.0)])))
    assert 1e-3 * tolerance < error < 200 * tolerance


def test_values_between_steps_are_as_accurate_as_steps():
    ts = jnp.linspace(0.0, 20.0, 777)
    out = adaptive(lambda t, y, args: jnp.stack([y[1], -y[0]]), jnp.array([1.0, 0.0]), 20.0, 1e-10, ts=ts)
    assert int(out.stats["num_accepted_steps"]) < 300
    assert np.max(np.abs(out.ys[:, 0] - np.cos(ts))) < 2e-8


def test_the_start_takes_few_steps_and_survives_a_first_step_of_any_size():
    """A run that is over when the order has just grown costs less than one of SciPy's RK45, which needs no start. (Not so where
    derivatives vanish at the start, by which the order is misled: y' = y cos t takes 56 evaluations instead of 44.)"""
    one_step_method = solve_ivp(lambda t, y: -(y**2), (0, 0.5), [1.0], "RK45", rtol=1e-9, atol=1e-9)
    for first in (1e-6, 1e-2, 3.0):
        out = adaptive(lambda t, y, args: -(y**2), jnp.ones(()), 0.5, 1e-9, first=jnp.asarray(first))
        assert abs(float(out.ys[0]) - 1 / 1.5) < 1e-8
        assert 2 * int(out.stats["num_steps"]) < one_step_method.nfev


def test_a_jump_forgets_the_past():
    """y' = 1 up to t = 1 and -5 y after it; told of the jump, the order starts at 1 and the step across it is exact."""

    def field(t, y, args):
        return jnp.where(t < 1.0, jnp.cos(3 * t), -5.0 * y)

    at_1 = np.sin(3.0) / 3
    told = adaptive(field, jnp.zeros(()), 2.0, 1e-9, jump_ts=jnp.array([1.0]))
    assert abs(float(told.ys[0]) - at_1 * np.exp(-5.0)) < 1e-9
    assert int(told.solver_state.orders[0]) == 2 and int(told.stats["num_rejected_steps"]) < 8
    solver, term = Adams(), diffrax.ODETerm(lambda t, y, args: -y)
    state = solver.init(term, 0.0, 0.1, jnp.ones(()), None)
    for n in range(5):
        _, _, _, state, _ = solver.step(term, 0.1 * n, 0.1 * (n + 1), jnp.exp(-0.1 * n), None, state, False)
    assert int(state.order) > 3 and int(state.known) == 5
    fresh = solver.step(term, 0.5, 0.6, jnp.asarray(7.0), None, solver.init(term, 0.5, 0.6, jnp.ones(()), None), False)
    jumped = solver.step(term, 0.5, 0.6, jnp.asarray(7.0), None, state, True)
    assert float(jumped[0]) == float(fresh[0]) and int(jumped[3].known) == 1


def test_a_kink_that_nobody_tells_of_lowers_the_order():
    out = adaptive(lambda t, y, args: jnp.where(t < 1.0, y, -y), jnp.ones(()), 2.0, 1e-8)
    assert abs(float(out.ys[0]) - 1.0) < 2e-6 and int(out.stats["num_steps"]) < 150


def test_backwards_in_time():
    solver = Adams().at_tolerances(1e-9, 1e-9)
    out = diffrax.diffeqsolve(
        diffrax.ODETerm(lambda t, y, args: y * jnp.cos(t)), solver, 2.0, 0.0, -1e-3, jnp.exp(jnp.sin(2.0)),
        stepsize_controller=solver.controller(1e-9, 1e-9, 1e-13),
    )  # fmt: skip
    assert abs(float(out.ys[0]) - 1.0) < 1e-7


def test_plain_controller_and_fixed_steps_find_an_order_too():
    """Without tolerances of its own it is a diffrax solver like others: the order is that of the smallest error."""
    term = diffrax.ODETerm(lambda t, y, args: y * jnp.cos(t))
    for controller, dt, error in (
        (diffrax.PIDController(rtol=1e-7, atol=1e-7), 1e-3, 1e-5),
        (diffrax.ConstantStepSize(), 0.02, 1e-5),
    ):
        out = diffrax.diffeqsolve(
            term, Adams(), 0.0, 5.0, dt, jnp.ones(()), stepsize_controller=controller,
            saveat=diffrax.SaveAt(t1=True, solver_state=True),
        )  # fmt: skip
        assert abs(float(out.ys[0]) - np.exp(np.sin(5.0))) < error
        assert int(out.solver_state.order) > 4


def test_a_batch_equals_a_loop():
    def end(e):
        out = adaptive(kepler, orbit(e), 6.0, 1e-8)
        return out.ys[0], out.stats["num_steps"], out.solver_state.orders

    values = jnp.array([0.0, 0.2, 0.6])
    together = jax.vmap(end)(values)
    alone = [end(e) for e in values]
    for k, one in enumerate(alone):
        assert np.max(np.abs(together[0][k] - one[0])) < 1e-12
        assert int(together[1][k]) == int(one[1]) and np.array_equal(together[2][k], one[2])


def test_derivatives():
    """Of the end state with respect to start, parameter and end time: reverse = forward = exact."""

    def end(p, adjoint):
        out = adaptive(lambda t, y, a: a * y * jnp.cos(t), p[0], p[2], 1e-10, adjoint=adjoint, args=p[1])
        return out.ys[0]

    p = jnp.array([1.3, 0.7, 2.0])
    value = 1.3 * np.exp(0.7 * np.sin(2.0))
    exact = np.array([value / 1.3, value * np.sin(2.0), value * 0.7 * np.cos(2.0)])
    reverse = jax.grad(lambda p: end(p, diffrax.RecursiveCheckpointAdjoint()))(p)
    forward = jax.jacfwd(lambda p: end(p, diffrax.ForwardMode()))(p)
    assert np.max(np.abs(reverse - exact)) < 1e-7 and np.max(np.abs(forward - reverse)) < 1e-8
    batch = jax.vmap(jax.grad(lambda p: end(p, diffrax.RecursiveCheckpointAdjoint())))(jnp.stack([p, 0.5 * p]))
    assert np.max(np.abs(batch[0] - reverse)) < 1e-8 and np.all(np.isfinite(batch))


@pytest.mark.parametrize("wrong", [{"max_order": 0}, {"order": 13}])
def test_orders_are_1_to_12(wrong):
    with pytest.raises(mb.ModelError, match="Use an order from 1 to 12"):
        Adams(**wrong)
    with pytest.raises(mb.ModelError, match=r"Adams\(order=4\) takes fixed steps, but none were given"):
        Adams(order=4).controller(1e-6, 1e-6, 1e-13)


# --- mechanisms -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "t1", "share"),
    [("simple-pendulum", 10.0, 0.3), ("slider-crank", 2.0, 0.9), ("flyball-governor", 0.1, 0.3)],
)
def test_fewer_right_hand_sides_than_dopri5(name, t1, share):
    """At 1e-8 with projection, rejected steps counted."""
    system, state = get_mechanism(name).build()
    adams, dopri5 = (
        mb.simulate(system, state, t1=t1, solver=solver, rtol=1e-8, atol=1e-8) for solver in (Adams(), diffrax.Dopri5())
    )
    assert int(adams.stats.right_hand_sides) == 2 * int(adams.stats.steps + adams.stats.rejected)
    assert int(adams.stats.right_hand_sides) < share * int(dopri5.stats.right_hand_sides)
    assert int(jnp.sum(adams.stats.orders)) == int(adams.stats.steps)
    assert np.max(np.abs(adams.q[-1] - dopri5.q[-1])) < 2e-5


@pytest.mark.parametrize(("name", "error"), [("simple-pendulum", 1e-8), ("bricard", 1e-8)])
def test_trusted_trajectories(name, error):
    mechanism = get_mechanism(name)
    exact = mechanism.read_reference()
    system, state = mechanism.build()
    sol = mb.simulate(system, state, t1=mechanism.t1, ts=exact["t"], solver=Adams(), rtol=1e-11, atol=1e-11)
    found = mechanism.outputs(sol)
    for column in found.keys() & exact.keys():
        assert np.max(np.abs(found[column] - exact[column])) < error
    assert np.max(sol.violation.position) < 1e-12


@pytest.mark.slow
def test_gradient_through_a_redundant_mechanism():
    """Reverse and forward mode against central differences, with projection and adaptive steps."""

    def height(length, gradient="reverse"):
        system, state = spatial_loop(length=length)
        sol = mb.simulate(
            system, state, t1=0.4, solver=Adams(), rtol=1e-11, atol=1e-11, gradient=gradient, max_steps=512
        )
        return sol.final.point("coupler", "middle")[1]

    reverse = float(eqx.filter_jit(jax.grad(height))(1.5))
    forward = float(eqx.filter_jit(jax.jacfwd(functools.partial(height, gradient="forward")))(1.5))
    step = 1e-4
    value = eqx.filter_jit(height)
    differences = (float(value(1.5 + step)) - float(value(1.5 - step))) / (2 * step)
    assert abs(reverse - differences) < 1e-6 * max(1.0, abs(differences)) and abs(forward - reverse) < 1e-8


@pytest.mark.slow
def test_reverse_mode_sees_the_steps_that_were_taken():
    """Reverse mode computes the steps again, with other rounding. Whatever the tolerance, that must not change a choice of order
    or step: the derivative would be that of two runs patched together."""

    def height(length, tolerance, gradient):
        system = pendulum(length=length)
        options = {"solver": Adams(), "rtol": tolerance, "atol": tolerance, "max_steps": 512, "gradient": gradient}
        return mb.simulate(system, system.state(), t1=1.0, **options).final.point("rod", "end")[1]

    reverse = eqx.filter_jit(jax.grad(functools.partial(height, gradient="reverse")))
    forward = eqx.filter_jit(jax.jacfwd(functools.partial(height, gradient="forward")))
    for tolerance in jnp.asarray(10.0 ** np.linspace(-5.0, -12.0, 15)):
        assert abs(float(reverse(1.5, tolerance) - forward(1.5, tolerance))) < 1e-11
