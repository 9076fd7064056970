"""Formulations, stabilizations, coordinates, tolerances and solvers side by side on one mechanism."""

import dataclasses
import itertools
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from ..analyses.simulate import simulate
from ..coordinates import Coordinates
from ..errors import ModelError
from ..formulations import ALL_FORMULATIONS
from ..formulations.choice import Choice
from ..formulations.deflated import Deflated
from ..ports import replace
from ..solution import Solution
from ..stabilization import Alternatives, Baumgarte, CoordinatePartitioning, NoStabilization, Projection, Stabilization
from ..state import State
from ..status import status_name
from ..system import System
from .comparison import Cell, Comparison, History

#: Runs are not repeated for a better median when they have taken this long together (s).
ENOUGH = 0.6
STABILIZATIONS = (NoStabilization(), Baumgarte(), CoordinatePartitioning(), Projection())


def compare(
    system,
    state: State,
    *,
    t1: float,
    ts=None,
    formulations: Sequence | None = None,
    stabilizations: Sequence[Stabilization] | None = None,
    pairs: Sequence[tuple[Any, Stabilization]] | None = None,
    coordinates: Sequence[Coordinates] | None = None,
    tolerances: Sequence[float] = (1e-6,),
    solvers: Sequence[diffrax.AbstractSolver] | None = None,
    error: Callable[[Solution], float] | None = None,
    repeats: int = 3,
    max_steps: int = 1_000,
    singular: str = "stop",
    title: str = "",
    progress: bool = False,
) -> Comparison:
    """Run every formulation with every stabilization, in all coordinates, at all tolerances (relative and absolute), with
    all solvers, and report cost and accuracy.

    `formulations` and `stabilizations` are by default all of them; `pairs` are given instead of both when each formulation has
    a stabilization of its own. `coordinates` are by default those of the system, `solvers` `Dopri5()`, as in the literature.
    `error(solution)` measures the distance to a reference (NaN without). Run time is the median of `repeats` runs after
    compilation, of fewer where they take long. There is one program for each of the coordinates and solvers: formulations
    that differ by their numbers only, and tolerances, share it. Not for use inside jit: it takes times.
    """
    solvers = (diffrax.Dopri5(),) if solvers is None else solvers
    pairs = _pairs(formulations, stabilizations, pairs)
    if repeats < 1 or not (pairs and tolerances and solvers):
        raise ModelError("compare needs at least one formulation, stabilization, tolerance, solver and repeat.")
    variants = _variants(system, state, coordinates)
    ts = jnp.linspace(state.t, t1, 101) if ts is None else jnp.asarray(ts)
    methods, drift_control = (_Menu(members) for members in zip(*pairs, strict=True))
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    cells = []
    with Progress(*columns, console=console, transient=True, disable=not (progress and console.is_terminal)) as bar:
        count = len(variants) * len(solvers) * len(tolerances) * len(pairs)
        task = bar.add_task("compiling", total=count)
        for (kind, (model, start)), solver in itertools.product(variants.items(), solvers):

            def run(k: int, tolerance: float, model=model, start=start, solver=solver):
                choice, alternatives = Choice(*methods.pick(k)), Alternatives(*drift_control.pick(k))
                started = time.perf_counter()
                sol = simulate(
                    model, start, t1=t1, ts=ts, formulation=choice, stabilization=alternatives, solver=solver,
                    rtol=tolerance, atol=tolerance, max_steps=max_steps, singular=singular, throw=False,
                )  # fmt: skip
                jax.block_until_ready(sol.q)
                return sol, time.perf_counter() - started

            bar.update(task, description="compiling")
            first = run(0, tolerances[0])[1]
            compile_s = None
            for tolerance in tolerances:
                solutions: dict[int, Solution] = {}
                times: dict[int, list[float]] = {k: [] for k in range(len(pairs))}
                # In turns, so that what else the machine does falls on all of them alike.
                for turn, k in itertools.product(range(repeats), range(len(pairs))):
                    if turn and not (bool(solutions[k].ok) and sum(times[k]) < ENOUGH):
                        continue
                    name = f"{describe(pairs[k][0])}, {describe(pairs[k][1])}, {kind}, {tolerance:g}"
                    bar.update(task, description=name, advance=0 if turn else 1)
                    solutions[k], took = run(k, tolerance)
                    times[k].append(took)
                if compile_s is None:  # the first run has been repeated by now, without compilation
                    compile_s = max(0.0, first - times[0][0])
                for k, sol in solutions.items():
                    names = (describe(pairs[k][0]), describe(pairs[k][1]), kind, type(solver).__name__)
                    cells.append(_cell(names, tolerance, sol, statistics.median(times[k]), compile_s, error))
    return Comparison(tuple(cells), title)


def _pairs(formulations, stabilizations, pairs) -> list[tuple[Any, Stabilization]]:
    if pairs is not None:
        if formulations is not None or stabilizations is not None:
            raise ModelError("compare was given pairs, and formulations or stabilizations too. Give one or the other.")
        return list(pairs)
    formulations = ALL_FORMULATIONS if formulations is None else formulations
    stabilizations = STABILIZATIONS if stabilizations is None else stabilizations
    return [(formulation, stabilization) for stabilization in stabilizations for formulation in formulations]


class _Menu:
    """Members to choose from. Those that differ by their numbers only are one kind, which is compiled once."""

    def __init__(self, members: Sequence[Any]):
        self.members = [_with_arrays(member) for member in members]
        kinds = dict.fromkeys(jax.tree.structure(member) for member in self.members)
        self.kinds = list(kinds)
        self.samples = [next(m for m in self.members if jax.tree.structure(m) == kind) for kind in self.kinds]

    def pick(self, k: int) -> tuple[tuple[Any, ...], jax.Array]:
        """A member of each kind, that with number `k` among them, and where it stands."""
        member = self.members[k]
        index = self.kinds.index(jax.tree.structure(member))
        return tuple(member if i == index else sample for i, sample in enumerate(self.samples)), jnp.asarray(index)


def _with_arrays(member):
    """Its numbers as arrays, which a program takes as inputs; a Python number would be compiled in."""
    return jax.tree.map(lambda x: jnp.asarray(x, float) if eqx.is_array_like(x) else x, member)


def _variants(system, state: State, coordinates) -> dict[str, tuple[Any, State]]:
    """The system and its start in each of the coordinates, by their names."""
    if not isinstance(system, System):
        if coordinates is not None:
            raise ModelError(
                "compare was given coordinates for a GeneralizedSystem, which has its own. Leave coordinates out."
            )
        return {"generalized": (system, state)}
    if coordinates is None:
        return {"+".join(dict.fromkeys(map(describe, system.coordinates.values()))): (system, state)}
    others = [system.with_coordinates(kind) for kind in coordinates]
    return {describe(kind): (s, s.convert(state, system)) for kind, s in zip(coordinates, others, strict=True)}


def _cell(names: tuple[str, str, str, str], tolerance: float, sol: Solution, run_s, compile_s, error) -> Cell:
    violation, energy = sol.violation, sol.energy
    balance = energy.total - energy.work
    motion = replace(sol, formulation=Deflated())  # positions and speeds do not depend on it
    ok, nan = bool(sol.ok), float("nan")
    return Cell(
        *names,
        tolerance=float(tolerance),
        status=status_name(sol.status),
        reason="" if ok else sol.message,
        reached=float(sol.reached),
        error=float(error(motion)) if ok and error is not None else nan,
        violation_position=float(jnp.max(violation.position)) if ok else nan,
        violation_velocity=float(jnp.max(violation.velocity)) if ok else nan,
        violation_acceleration=float(jnp.max(violation.acceleration)) if ok else nan,
        energy_error=float(jnp.max(jnp.abs(balance - balance[0]))) if ok else nan,
        right_hand_sides=int(sol.stats.right_hand_sides),
        steps=int(sol.stats.steps),
        rejected=int(sol.stats.rejected),
        newton_iterations=int(sol.stats.newton_iterations),
        run_s=run_s if ok else nan,
        compile_s=compile_s,
        history=History(
            *(np.asarray(x) for x in (sol.t, sol.q, violation.position, violation.velocity, violation.acceleration))
        ),
    )


def describe(choice) -> str:
    """Class name, with its numbers where they are not the defaults, as Baumgarte(5, 5)."""

    def shown(choice) -> list[str]:
        values = [getattr(choice, field.name) for field in dataclasses.fields(choice)]
        return [
            f"{float(x):g}" if isinstance(x, jax.Array | float) else str(x)
            for x in values
            if x is not None and not callable(x)
        ]

    name, numbers = type(choice).__name__, shown(choice)
    try:
        default = shown(type(choice)())
    except TypeError:  # there is no default
        default = None
    return name if numbers == default else f"{name}({', '.join(numbers)})"


def reference_error(
    columns: Callable[[Solution], dict], reference: dict[str, np.ndarray]
) -> Callable[[Solution], float]:
    """The largest relative difference of a run's outputs to reference columns of the same names."""

    def error(sol: Solution) -> float:
        found = columns(sol)
        differences = [
            np.max(np.abs(np.asarray(found[name]) - reference[name])) / max(1.0, np.max(np.abs(reference[name])))
            for name in found
        ]
        return float(max(differences))

    return error
