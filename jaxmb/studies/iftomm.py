"""The benchmark problems A01 to A05 of the IFToMM library: which solver reaches which error at which cost."""

import itertools
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from ..analyses.simulate import simulate
from ..errors import ModelError
from ..formulations.deflated import Deflated
from ..mechanisms import get_mechanism
from ..ports import replace
from ..solution import Solution, Stats
from ..stabilization import NoStabilization
from ..status import status_name
from .iftomm_problems import LONG, PAIRS, PROBLEMS, Levels, Problem, find_problem
from .iftomm_result import Benchmark, Curve, Point

#: Runs are not repeated for a better median when they have taken this long together (s).
ENOUGH = 1.0


def run_iftomm(
    problems: Sequence[str] | None = None,
    *,
    pairs: Sequence[str] | None = None,
    repeats: int = 5,
    quick: bool = False,
    progress: bool = False,
) -> Benchmark:
    """Run the problems (by default all of `PROBLEMS`) with their pairs at all levels, and report cost and error.

    Run time is the median of `repeats` runs after compilation, taken in turns with the others, of fewer where they take long.
    `quick` runs the two coarsest levels of each pair once, and not the long problems unless they are named.
    """
    if repeats < 1:
        raise ModelError(f"bench iftomm was given repeats={repeats}. Give at least 1.")
    everything = [key for key in PROBLEMS if not (quick and key in LONG)]
    chosen = {key: find_problem(key) for key in (everything if problems is None else problems)}
    for name in pairs or ():
        if name not in PAIRS:
            raise ModelError(f"bench iftomm was asked for the pair '{name}'. There are: {'; '.join(PAIRS)}.")
    levels = {
        key: {
            name: given[:2] if quick else given
            for name, given in problem.levels.items()
            if pairs is None or name in pairs
        }
        for key, problem in chosen.items()
    }
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    curves = []
    with Progress(*columns, console=console, transient=True, disable=not (progress and console.is_terminal)) as bar:
        total = sum(len(given) for table in levels.values() for given in table.values())
        task = bar.add_task("compiling", total=total)
        for key, problem in chosen.items():
            if bar.disable and progress:
                console.print(problem.title)

            def tell(what: str, advance: int = 0, title=problem.title):
                bar.update(task, description=f"{title}: {what}", advance=advance)

            points = run_problem(problem, levels[key], 1 if quick else repeats, tell)
            curves.append(
                Curve(key, problem.title, problem.kind, problem.outputs, problem.goals, problem.setting, points)
            )
            # Nothing of it is needed by the next problem, and each program keeps memory maps, whose number is limited.
            jax.clear_caches()
            eqx.clear_caches()
    return Benchmark(tuple(curves))


def run_problem(
    problem: Problem, levels: Levels, repeats: int = 1, tell: Callable[..., None] = lambda what, advance=0: None
) -> tuple[Point, ...]:
    """All pairs of a problem at their levels."""
    solve = solver_of(problem)
    measure = errors_of(problem)
    compile_s = {}
    for name, given in levels.items():
        tell(f"compiling {name}")
        compile_s[name] = solve(name, given[0])[1]
    cells = [(name, level) for name, given in levels.items() for level in given]
    solutions: dict[tuple[str, float], Solution] = {}
    times: dict[tuple[str, float], list[float]] = {cell: [] for cell in cells}
    # In turns, so that what else the machine does falls on all of them alike.
    for turn, cell in itertools.product(range(repeats), cells):
        if turn and not (bool(solutions[cell].ok) and sum(times[cell]) < ENOUGH):
            continue
        tell(f"{cell[0]} at {cell[1]:g}", 0 if turn else 1)
        solutions[cell], took = solve(*cell)
        times[cell].append(took)
    for name, given in levels.items():  # the first run of each has been repeated by now, without compilation
        compile_s[name] = max(0.0, compile_s[name] - times[name, given[0]][0])
    return tuple(
        _point(name, level, sol, measure(sol), statistics.median(times[name, level]), compile_s[name])
        for (name, level), sol in solutions.items()
    )


def run_setting(problem: Problem) -> tuple[Solution, "Errors"]:
    """The documented setting of a problem, and its errors."""
    sol, _ = solver_of(problem)(*problem.setting)
    return sol, errors_of(problem)(sol)


def solver_of(problem: Problem) -> Callable[[str, float], tuple[Solution, float]]:
    """A function from a pair's name and a level to a run at the times of the trusted trajectory and the time it took (s)."""
    mechanism = get_mechanism(problem.mechanism)
    system, state = mechanism.build()
    ts = mechanism.read_reference()["t"]

    def solve(name: str, level: float) -> tuple[Solution, float]:
        pair = PAIRS[name]
        steps: dict[str, Any] = {"dt": level} if pair.fixed else {"rtol": level, "atol": level}
        # A number of its own for each level would compile each level.
        limit = int(2 * ts[-1] / problem.levels[name][-1]) if pair.fixed else problem.max_steps
        started = time.perf_counter()
        sol = simulate(
            system, state, t1=ts[-1], ts=ts, solver=pair.solver, formulation=pair.formulation, max_steps=limit,
            singular=problem.singular, throw=False, **steps,
        )  # fmt: skip
        jax.block_until_ready(sol.q)
        return sol, time.perf_counter() - started

    return solve


class Errors(NamedTuple):
    """Largest differences to the trusted trajectory over all times, and the largest |Phi|."""

    position: float
    speed: float
    violation: float


def errors_of(problem: Problem) -> Callable[[Solution], Errors]:
    """What measures a run of this problem."""
    mechanism = get_mechanism(problem.mechanism)
    reference = mechanism.read_reference()
    wanted = (*problem.outputs, *problem.speeds)

    @eqx.filter_jit
    def measured(sol):
        equations = sol.system.equations()
        Phi = jax.vmap(lambda t, q, v: jnp.sqrt(jnp.sum(equations.terms(t, q, v).Phi ** 2)))(sol.t, sol.q, sol.v)
        return {name: x for name, x in mechanism.outputs(sol).items() if name in wanted}, Phi

    def errors(sol: Solution) -> Errors:
        if not bool(sol.ok):
            return Errors(np.nan, np.nan, np.nan)
        # The method is no part of what is measured, so all pairs share a program.
        none = jnp.zeros((), int)
        bare = replace(
            sol, formulation=Deflated(), stabilization=NoStabilization(), stats=Stats(none, none, none, none)
        )
        found, Phi = measured(bare)
        largest = {name: float(np.max(np.abs(np.asarray(x) - reference[name]))) for name, x in found.items()}
        return Errors(
            max(largest[name] for name in problem.outputs),
            max(largest[name] for name in problem.speeds),
            float(np.max(Phi)),
        )

    return errors


def _point(name: str, level: float, sol: Solution, errors: Errors, run_s: float, compile_s: float) -> Point:
    ok = bool(sol.ok)
    return Point(
        pair=name,
        level=float(level),
        fixed=PAIRS[name].fixed,
        status=status_name(sol.status),
        reason="" if ok else sol.message,
        error=errors.position,
        speed_error=errors.speed,
        violation=errors.violation,
        right_hand_sides=int(sol.stats.right_hand_sides),
        steps=int(sol.stats.steps),
        rejected=int(sol.stats.rejected),
        run_s=run_s if ok else float("nan"),
        compile_s=compile_s,
    )
