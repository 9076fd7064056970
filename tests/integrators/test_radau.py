"""Radau IIA: its coefficients, its order on mechanisms, its derivatives, and what it costs on a stiff one."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmb as mb
from jaxmb.integrators.radau import Collocation
from jaxmb.mechanisms import get_mechanism

from ..models import pendulum, spatial_loop
from . import orders


def test_coefficients_are_the_published_ones():
    """Hairer and Wanner, table IV.5.6."""
    method, r = Collocation(3), np.sqrt(6)
    A = np.array(
        [
            [(88 - 7 * r) / 360, (296 - 169 * r) / 1800, (-2 + 3 * r) / 225],
            [(296 + 169 * r) / 1800, (88 + 7 * r) / 360, (-2 - 3 * r) / 225],
            [(16 - r) / 36, (16 + r) / 36, 1 / 9],
        ]
    )
    np.testing.assert_allclose(method.A, A, atol=1e-14)
    np.testing.assert_allclose(method.c, [(4 - r) / 10, (4 + r) / 10, 1], atol=1e-14)
    np.testing.assert_allclose(method.gamma, 1 / 3.6378342527444957, atol=1e-14)
    # Transformed back, the eigenvalues are A again.
    back = np.real((method.T * method.eigenvalues) @ method.T_inverse)
    np.testing.assert_allclose(back, A, atol=1e-13)


@pytest.mark.parametrize("stages", range(2, 8))
def test_quadrature_and_error_weights_have_their_orders(stages):
    method = Collocation(stages)
    for k in range(1, 2 * stages):
        assert abs(method.A[-1] @ method.c ** (k - 1) - 1 / k) < 1e-12
    for k in range(1, stages + 1):
        assert abs(method.gamma * (k == 1) + method.e @ method.c ** (k - 1)) < 1e-11
    assert abs(method.e @ method.c**stages) > 1e-6


def test_extrapolation_continues_polynomials():
    method = Collocation(3)
    values = 1.0 - 2 * method.nodes + method.nodes**3
    at = 1 + 0.4 * method.c
    np.testing.assert_allclose(method.extrapolation(jnp.asarray(0.4)) @ values, 1 - 2 * at + at**3, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name, fine", [("pendulum", 1.0), ("loop", 0.05), ("bricard", 1.0)])
@pytest.mark.parametrize("stages, step", [(2, 0.04), (3, 0.1)])
def test_order_in_positions_speeds_and_multipliers(name, fine, stages, step):
    """The loop passes its nearly stretched pose in a hundredth of a second, so its steps are shorter."""
    dts = fine * step * np.array([1.0, 0.5])
    solver = mb.Radau(stages)
    coarse, halved = (orders.errors(name, orders.run(name, solver, dt, rtol=1e-12, atol=1e-12)) for dt in dts)
    np.testing.assert_allclose(np.log2(coarse / halved), 2 * stages - 1, atol=0.2)


@pytest.mark.slow
@pytest.mark.parametrize("gradient", ["reverse", "forward"])
def test_derivatives_of_a_redundant_run(gradient):
    """With the spring stiff enough that the Jacobian matters."""

    def end(p):
        system, state = spatial_loop(mass=p[0], length=p[1], stiffness=p[2])
        sol = mb.simulate(system, state, t1=0.3, solver=mb.Radau(), rtol=1e-9, atol=1e-9, gradient=gradient)
        return sol.final.point("coupler", "middle")[1] + sol.work[-1]

    p, h = np.array([1.0, 1.5, 200.0]), 1e-4
    run = eqx.filter_jit(end)
    differences = [
        float(run(p + h * s * e) - run(p - h * s * e)) / (2 * h * s) for e, s in zip(np.eye(3), p, strict=True)
    ]
    found = (jax.grad if gradient == "reverse" else jax.jacfwd)(run)(jnp.asarray(p))
    np.testing.assert_allclose(found, differences, rtol=1e-5, atol=1e-9)


@pytest.mark.slow
def test_governor_at_a_twentieth_of_the_cost():
    """The error is that of the benchmark's output, the height of the slider."""
    mechanism = get_mechanism("flyball-governor")
    system, state = mechanism.build()
    reference = mechanism.read_reference()
    ts = reference["t"]

    def cost_and_error(solver, tolerance):
        sol = mb.simulate(system, state, t1=ts[-1], ts=ts, solver=solver, rtol=tolerance, atol=tolerance)
        error = np.max(np.abs(np.asarray(sol.body("slider").position[:, 2]) - reference["s"]))
        return int(sol.stats.right_hand_sides), error, np.max(sol.violation.position)

    from diffrax import Tsit5

    explicit, explicit_error, _ = cost_and_error(Tsit5(), 1e-4)
    stiff, error, violation = cost_and_error(mb.Radau(), 1e-5)
    assert error < 1e-5 and explicit_error < 1e-5 and violation < 1e-10
    assert 20 * stiff <= explicit, f"{explicit} / {stiff}"


def test_every_kind_of_coordinates_and_jit():
    """Inside jit the number of freedoms is not known; Euler parameters have a singular mass."""
    truth = float(pendulum_end(mb.Quaternion(), None))
    for kind in (mb.Quaternion(), mb.EulerParameters()):
        assert abs(float(eqx.filter_jit(pendulum_end)(kind, mb.Radau())) - truth) < 1e-6


def pendulum_end(kind, solver):
    system = pendulum(coordinates=kind)
    return mb.simulate(system, system.state(), t1=0.5, solver=solver, rtol=1e-8, atol=1e-8).final.point("rod", "end")[0]


def test_stages_are_checked():
    with pytest.raises(mb.ModelError, match="2 to 7"):
        mb.Radau(1)
