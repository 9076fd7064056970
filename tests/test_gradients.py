"""Gradients through builder, assembly, redundant solve and integrator: reverse = forward = central differences.

Fixed steps make the run itself a smooth function, so that differences are exact to rounding. The rule differentiates the
equations and not what a finite step leaves of them: with steps of 0.05 s that shows (1e-6), with half of it no longer. All exact
formulations of a mechanism are in one compiled program (`Choice`), chosen by a number.
"""

import functools

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmb as mb
from jaxmb.formulations.choice import Choice

from .models import parallelogram, spatial_loop

TOLERANT = [f for f in mb.EXACT_FORMULATIONS if f.tolerates_redundancy]
DIRECT = [f for f in mb.EXACT_FORMULATIONS if not f.tolerates_redundancy]
two_cranks = functools.partial(parallelogram, cranks=(0.0, 2.0), planar=True)
MODELS = {  # builder, its parameters (mass, length, stiffness, initial angle), point that is watched, formulations
    "redundant": (spatial_loop, (1.0, 1.5, 20.0, 1.2), ("coupler", "end"), TOLERANT),
    "symmetric": (parallelogram, (1.0, 1.0, 20.0, -0.9), ("coupler", "end"), TOLERANT),
    "independent": (two_cranks, (1.0, 1.0, 20.0, -0.9), ("coupler", "end"), DIRECT),
}
CASES = [(name, k, type(f).__name__) for name, (*_, members) in MODELS.items() for k, f in enumerate(members)]


@functools.cache
def programs(name):
    """Value, reverse and forward derivative as functions of the parameters and the number of a formulation."""
    build, _, (body, point), members = MODELS[name]
    members = tuple(type(f)(dof=1) if f.needs_dof else f for f in members)

    def outcome(p, number, gradient):
        system, state = build(*p)
        sol = mb.simulate(
            system, state, t1=0.5, dt=0.025, solver=diffrax.Dopri5(), formulation=Choice(members, number), gradient=gradient,
            max_steps=32,
        )  # fmt: skip
        x = sol.final.point(body, point)
        return x[0] + 2.0 * x[1]

    value = eqx.filter_jit(lambda p, k: outcome(p, k, "reverse"))
    reverse = eqx.filter_jit(lambda p, k: jax.grad(lambda p: outcome(p, k, "reverse"))(p))
    forward = eqx.filter_jit(lambda p, k: jax.jacfwd(lambda p: outcome(p, k, "forward"))(p))
    return value, reverse, forward


@functools.cache
def differences(name):
    """Central differences of the default's outcome (all formulations have the same, as is tested)."""
    value, _, _ = programs(name)
    p = np.array(MODELS[name][1])
    out = []
    for k in range(4):
        h = np.zeros(4)
        h[k] = 1e-5
        out.append((value(jnp.asarray(p + h), jnp.asarray(0)) - value(jnp.asarray(p - h), jnp.asarray(0))) / 2e-5)
    return np.array(out)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "number"), [case[:2] for case in CASES], ids=[f"{name}-{f}" for name, _, f in CASES])
def test_reverse_equals_forward_equals_differences(name, number):
    value, reverse, forward = programs(name)
    p, k = jnp.asarray(MODELS[name][1]), jnp.asarray(number)
    assert np.abs(value(p, k) - value(p, jnp.asarray(0))) < 1e-9
    expected = differences(name)
    assert np.all(np.abs(expected) > 1e-4), "a derivative that vanishes would test nothing"
    scale = np.maximum(1.0, np.abs(expected))
    assert np.max(np.abs(reverse(p, k) - expected) / scale) < 1e-6
    assert np.max(np.abs(forward(p, k) - expected) / scale) < 1e-6


@pytest.mark.slow
def test_default_gradient_on_a_redundant_loop():
    """What the quick start does: one reverse-mode gradient against central differences."""

    def outcome(length):
        system, state = spatial_loop(length=length)
        return mb.simulate(system, state, t1=0.3, dt=0.05, solver=diffrax.Dopri5(), max_steps=16).final.point(
            "coupler", "end"
        )[1]

    value = eqx.filter_jit(outcome)
    gradient = eqx.filter_jit(jax.grad(outcome))(1.5)
    expected = (value(1.5 + 1e-5) - value(1.5 - 1e-5)) / 2e-5
    assert abs(gradient - expected) < 1e-7


def test_forward_mode_on_a_default_run_says_what_to_do():
    system, state = spatial_loop()

    def outcome(t1):
        return mb.simulate(system, state, t1=t1, dt=0.05, solver=diffrax.Dopri5(), max_steps=16).final.point(
            "coupler", "end"
        )[1]

    with pytest.raises(mb.ModelError, match="gradient='forward'"):
        jax.jvp(outcome, (0.2,), (1.0,))
