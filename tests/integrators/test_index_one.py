"""The index-1 DAE forms: order, drift, redundancy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmb as mb
from jaxmb.integrators.index_one import IndexOneDAE
from jaxmb.status import Status

from ..models import pendulum
from .orders import build, errors, run, truth

FREE = mb.NoStabilization()
slow = pytest.mark.slow


@pytest.mark.parametrize(
    ("name", "form", "dt"),
    [
        ("pendulum", "explicit", 0.04),
        ("pendulum", "implicit", 0.04),
        ("bricard", "implicit", 0.05),
        pytest.param("loop", "explicit", 0.005, marks=slow),
        pytest.param("loop", "implicit", 0.005, marks=slow),
        pytest.param("bricard", "explicit", 0.05, marks=slow),
        pytest.param("Euler parameters", "explicit", 0.04, marks=slow),
        pytest.param("Euler parameters", "implicit", 0.04, marks=slow),
    ],
)
def test_fifth_order_in_positions_speeds_and_multipliers(name, form, dt):
    coarse, fine = (run(name, IndexOneDAE(form), h, stabilization=FREE) for h in (dt, dt / 2))
    order = np.log2(errors(name, coarse) / errors(name, fine))
    assert np.all(np.abs(order - 5) < 0.2), order


@slow
def test_positions_drift_unless_they_are_stabilized():
    """The rows hold as accelerations only: what errors leave grows, and a projection takes it away."""
    system, state = build("pendulum")
    options = {"t1": 8.0, "ts": np.linspace(0.0, 8.0, 9), "solver": IndexOneDAE(), "rtol": 1e-5, "atol": 1e-5}
    free = mb.simulate(system, state, stabilization=FREE, **options)
    projected = mb.simulate(system, state, **options)
    position = np.asarray(free.violation.position)
    assert position[-1] > 1e-5 and position[-1] > 3 * position[2] > 0
    assert np.max(free.violation.acceleration) < 1e-9
    assert np.max(projected.violation.position) < 1e-7


@slow
def test_baumgarte_enters_the_rows():
    system, state = build("pendulum")
    options = {"t1": 8.0, "solver": IndexOneDAE(), "rtol": 1e-5, "atol": 1e-5}
    free, damped = (
        mb.simulate(system, state, stabilization=s, **options).violation.position[-1]
        for s in (FREE, mb.Baumgarte(5.0, 5.0))
    )
    assert damped < 0.2 * free


@slow
def test_adaptive_steps_follow_the_tolerance():
    system, state = build("pendulum")
    exact = truth("pendulum")
    found = {}
    for tol in (1e-5, 1e-9):
        sol = mb.simulate(system, state, t1=exact.t[-1], solver=IndexOneDAE(), rtol=tol, atol=tol)
        found[tol] = np.max(np.abs(sol.q[-1] - exact.q[-1])), int(sol.stats.steps)
        assert int(sol.stats.right_hand_sides) > 20 * int(sol.stats.steps)
    assert found[1e-5][0] < 1e-4 and found[1e-9][0] < 1e-8
    assert 1e4 ** (1 / 5) * 0.5 < found[1e-9][1] / found[1e-5][1] < 1e4 ** (1 / 5) * 2


@slow
@pytest.mark.parametrize(
    ("form", "gradient", "derive"), [("explicit", "forward", jax.jacfwd), ("implicit", "reverse", jax.grad)]
)
def test_derivatives(form, gradient, derive):
    @jax.jit
    def height(p):
        system = pendulum(length=p[0], gravity=p[1])
        options = {"t1": 0.3, "dt": 0.1, "solver": IndexOneDAE(form), "gradient": gradient, "throw": False}
        return mb.simulate(system, system.state(), **options).body("rod").position[-1, 1]

    p = jnp.array([1.0, 9.81])
    steps = 1e-5 * p
    differences = [(height(p.at[k].add(s)) - height(p.at[k].add(-s))) / (2 * s) for k, s in enumerate(steps)]
    np.testing.assert_allclose(jax.jit(derive(height))(p), differences, rtol=1e-6)


def test_hopeless_steps_end_with_a_status():
    system, state = build("pendulum")
    impatient = IndexOneDAE(max_iterations=1)
    sol = mb.simulate(system, state, t1=1.0, dt=0.5, solver=impatient, stabilization=FREE, throw=False)
    assert bool(sol.status == Status.newton_failure)


def test_forms_are_named():
    with pytest.raises(mb.ModelError, match="form='both'"):
        IndexOneDAE("both")
