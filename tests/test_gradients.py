"""Gradients through builder, assembly, redundant solve and integrator: reverse = forward = central differences.

Fixed steps make the run itself a smooth function, so that differences are exact to rounding. The rule differentiates the
equations and not what a finite step leaves of them: with steps of 0.05 s that shows (1e-6), with half of it no longer. All exact
formulations are in one compiled program (`Choice`), chosen by a number.
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

MODELS = {  # builder, its parameters (mass, length, stiffness, initial angle), degrees of freedom, point that is watched
    "redundant": (spatial_loop, (1.0, 1.5, 20.0, 1.2), 1, ("coupler", "end")),
    "symmetric": (parallelogram, (1.0, 1.0, 20.0, -0.9), 1, ("coupler", "end")),
}
# The direct ones refuse these mechanisms, which are redundant.
NAMES = [type(f).__name__ for f in mb.EXACT_FORMULATIONS if f.tolerates_redundancy]


def formulations(dof):
    chosen = [f for f in mb.EXACT_FORMULATIONS if f.tolerates_redundancy]
    return tuple(type(f)(dof=dof) if f.needs_dof else f for f in chosen)


@functools.cache
def programs(name):
    """Value, reverse and forward derivative as functions of the parameters and the number of a formulation."""
    build, _, dof, (body, point) = MODELS[name]
    members = formulations(dof)

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
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("number", range(len(NAMES)), ids=NAMES)
def test_reverse_equals_forward_equals_differences(number, name):
    value, reverse, forward = programs(name)
    p, k = jnp.asarray(MODELS[name][1]), jnp.asarray(number)
    assert np.abs(value(p, k) - value(p, jnp.asarray(0))) < 1e-9
    expected = differences(name)
    assert np.all(np.abs(expected) > 1e-6) or name == "symmetric", "a derivative that vanishes would test nothing"
    scale = np.maximum(1.0, np.abs(expected))
    assert np.max(np.abs(reverse(p, k) - expected) / scale) < 1e-6
    assert np.max(np.abs(forward(p, k) - expected) / scale) < 1e-6


def test_default_gradient_on_a_redundant_loop():
    """What the quick start does, in the default suite: one reverse-mode gradient against central differences."""

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
