"""What every exact formulation must do on the systems of `systems.py`.

One program per formulation, compiled once: value, forward and reverse derivative, mapped over all small systems, those
to be refused among them.
"""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np

from jaxmb.formulations import Formulation
from jaxmb.status import Status

from .systems import DISTURBED, SMALL, solution

# What is tested is the algorithm, and compiling is all the cost: leave the optimizer out.
compiled = functools.partial(jax.jit, compiler_options={"xla_backend_optimization_level": 0})

COTANGENT = tuple(jnp.asarray(np.random.default_rng(0).normal(size=size)) for size in (6, 4))


def arrays(values):
    return tuple(jnp.asarray(value) for value in values)


def stack(systems):
    return tuple(jnp.stack(parts) for parts in zip(*map(arrays, systems), strict=True))


@functools.cache
def results(formulation: Formulation) -> dict:
    """By name of the system: (a, lam), status, tangents of (a, lam), gradients of COTANGENT . (a, lam)."""
    if formulation.needs_dof and formulation.dof is None:  # pyright: ignore
        formulation = dataclasses.replace(formulation, dof=3)

    def solve(*system):
        out = formulation.solve(*system)
        return (out.a, out.lam), out.status

    @compiled
    @jax.vmap
    def run(system, tangent):
        value, value_tangent, status = jax.jvp(solve, system, tangent, has_aux=True)
        _, pullback, _ = jax.vjp(solve, *system, has_aux=True)
        return value, status, value_tangent, pullback(COTANGENT)

    systems = [*(path.at() for path in SMALL.values()), *DISTURBED.values()]
    tangents = [*(path.tangent() for path in SMALL.values()), *[SMALL["redundant"].tangent()] * len(DISTURBED)]
    found = run(stack(systems), stack(tangents))
    return {name: jax.tree.map(lambda x: x[k], found) for k, name in enumerate([*SMALL, *DISTURBED])}  # noqa: B023


def assert_close(found, expected, tolerance):
    """Relative to the largest entry."""
    largest = np.max(np.abs(expected), initial=0.0)
    assert np.max(np.abs(np.asarray(found) - expected), initial=0.0) <= tolerance * largest


def assert_solution(a, lam, system, tolerance=1e-10):
    """Accelerations, minimum-norm multipliers and the equations themselves."""
    for found, expected in zip((a, lam), solution(*system), strict=True):
        assert_close(found, expected, tolerance)
    M, J, Q, gamma = system
    assert np.all(np.abs(M @ a + J.T @ lam - Q) <= tolerance * np.max(abs(M) @ abs(a) + abs(J.T) @ abs(lam) + abs(Q)))
    assert np.all(np.abs(J @ a - gamma) <= tolerance * np.max(abs(J) @ abs(a), initial=0.0))


def solves(formulation, name):
    value, status, _, _ = results(formulation)[name]
    assert status == Status.successful, Status[status]
    assert_solution(*value, SMALL[name].at())


def differentiates(formulation, name):
    """Forward and reverse derivatives equal finite differences of the truth along a path of constant rank."""
    _, _, tangents, gradients = results(formulation)[name]
    for found, expected in zip(tangents, SMALL[name].solution_tangent(), strict=True):
        assert_close(found, expected, 1e-6)
    pairs = [*zip(COTANGENT, tangents, strict=True)]
    forward = sum(np.vdot(c, t) for c, t in pairs)
    reverse = sum(np.vdot(g, t) for g, t in zip(gradients, SMALL[name].tangent(), strict=True))
    assert abs(forward - reverse) <= 1e-8 * sum(np.linalg.norm(c) * np.linalg.norm(t) for c, t in pairs)


def refuses(formulation, name, expected):
    """The status says why, and neither numbers nor derivatives are plausible."""
    value, status, tangents, gradients = results(formulation)[name]
    assert status == expected, Status[status]
    assert all(np.all(np.isnan(x)) for x in (*value, *tangents, *gradients))


def ignores_units(formulation, name):
    """Everything a million times larger or smaller; tolerances are relative, so the truth is held to the same."""
    scaled = [other for other in SMALL if other.startswith(f"{name}, 1e")]
    assert len(scaled) == 4
    for other in scaled:
        solves(formulation, other)


def survives_drift(formulation):
    """An error of the order of the disturbance, not the locked mechanism that the additional rank would mean."""
    for name in ("drifted", "drifted, light body"):
        (a, _), status, _, _ = results(formulation)[name]
        assert status == Status.successful, Status[status]
        assert_close(a, solution(*DISTURBED[name])[0], 1e-4)


def solves_alone(formulation, path, tolerance=1e-10):
    """Called once, not compiled, with the number of degrees of freedom left out."""
    out = formulation.solve(*arrays(path.at()))
    assert out.status == Status.successful, Status[out.status]
    assert_solution(out.a, out.lam, path.at(), tolerance)


def solves_compiled(formulation, path, dof, tolerance=1e-10):
    """The number of degrees of freedom given."""
    formulation = dataclasses.replace(formulation, dof=dof) if formulation.needs_dof else formulation
    out = compiled(formulation.solve)(*arrays(path.at()))
    assert out.status == Status.successful, Status[out.status]
    assert_solution(out.a, out.lam, path.at(), tolerance)
