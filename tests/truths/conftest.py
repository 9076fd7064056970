"""Runs of the catalog's mechanisms, shared by the tests of this folder.

A mechanism is compiled once per solver; tolerances are numbers to the program.
"""

import functools
from typing import Any, NamedTuple

import diffrax
import equinox as eqx
import numpy as np
import pytest

import jaxmb as mb
from jaxmb.mechanisms import get_mechanism


class Run(NamedTuple):
    """A run and what follows from it, as NumPy arrays. `energy_scale` (J) is the largest energy or work in it."""

    solution: Any
    outputs: dict[str, np.ndarray]
    violation: Any
    starting: dict[str, tuple[np.ndarray, np.ndarray]]
    energy_error: float
    energy_scale: float
    acceleration_scale: float


@eqx.filter_jit
def _evaluate(outputs, solution):
    bodies = getattr(solution.system, "bodies", {})
    motions = {name: solution.body(name) for name in bodies}
    starting = {name: (motion.acceleration[0], motion.alpha[0]) for name, motion in motions.items()}
    return outputs(solution), solution.violation, starting, solution.energy, solution.a


@functools.cache
def simulated(name: str, tolerance: float, solver: str = "Dopri8", t1: float | None = None):
    """The mechanism at the times of its reference (or a hundred), up to `t1`."""
    mechanism = get_mechanism(name)
    system, state = mechanism.build()
    times = mechanism.read_reference()["t"] if mechanism.reference else np.linspace(0.0, mechanism.t1, 101)
    if t1 is not None:
        times = times[times <= t1 + 1e-9]
    solver = getattr(diffrax, solver)()
    return mb.simulate(
        system, state, t1=times[-1], ts=times, rtol=tolerance, atol=tolerance, solver=solver, throw=False
    )


@functools.cache
def evaluated(name: str, tolerance: float, t1: float | None = None) -> Run:
    solution = simulated(name, tolerance, t1=t1)
    outputs, violation, starting, energy, a = _evaluate(get_mechanism(name).outputs, solution)
    total = np.asarray(energy.total - energy.work)
    parts = np.abs([energy.kinetic, energy.potential, energy.work])
    return Run(
        solution,
        {column: np.asarray(x) for column, x in outputs.items()},
        violation,
        {body: (np.asarray(linear), np.asarray(angular)) for body, (linear, angular) in starting.items()},
        float(np.nanmax(np.abs(total - total[0]))),
        float(np.nanmax(parts)),
        float(np.nanmax(np.abs(a))),
    )


@pytest.fixture(scope="session")
def run():
    """`run(name, tolerance)`: a run of a mechanism with the default formulation, stabilization and solver."""
    return evaluated


@pytest.fixture(scope="session")
def solve():
    """`solve(name, tolerance, solver)`: the bare solution."""
    return simulated
