"""Formulations and stabilizations side by side on one mechanism."""

import csv
import dataclasses
import io
import json
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import diffrax
import jax
import jax.numpy as jnp
import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from ..analyses.simulate import simulate
from ..errors import ModelError
from ..formulations import ALL_FORMULATIONS
from ..formulations.choice import Choice
from ..formulations.deflated import Deflated
from ..ports import replace
from ..solution import Solution
from ..stabilization import Baumgarte, CoordinatePartitioning, NoStabilization, Projection, Stabilization
from ..state import State
from ..status import Status, status_name

STABILIZATIONS = (NoStabilization(), Baumgarte(), CoordinatePartitioning(), Projection())


@dataclasses.dataclass(frozen=True)
class Cell:
    """One run: what it cost and how far off it is. Numbers are NaN where the run failed."""

    formulation: str
    stabilization: str
    status: str
    error: float
    """Largest difference to the reference, relative to the size of each output (1 if that is smaller)."""
    violation_position: float
    violation_velocity: float
    violation_acceleration: float
    energy_error: float
    """Largest change of total energy minus work (J)."""
    right_hand_sides: int
    steps: int
    newton_iterations: int
    run_s: float
    """Median wall time of a run after compilation."""


@dataclasses.dataclass(frozen=True)
class Comparison:
    """A table of cells; `compile_s` is per stabilization, since all formulations are in one program."""

    cells: tuple[Cell, ...]
    compile_s: dict[str, float]
    title: str

    def table(self) -> Table:
        """The comparison for a terminal, one section for each stabilization."""
        table = Table(title=self.title, title_justify="left")
        table.add_column("formulation")
        for name in ("error", "|Phi|", "|Phi'|", "|Phi''|", "energy J", "RHS", "steps", "run ms"):
            table.add_column(name, justify="right")
        for stabilization, compiled in self.compile_s.items():
            rows = [cell for cell in self.cells if cell.stabilization == stabilization]
            table.add_section()
            table.add_row(f"[bold]{stabilization}[/bold] (compile {compiled:.1f} s)")
            for cell in rows:
                table.add_row(*_row(cell))
        return table

    def to_csv(self) -> str:
        out = io.StringIO()
        writer = csv.DictWriter(out, [field.name for field in dataclasses.fields(Cell)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(dataclasses.asdict(cell) for cell in self.cells)
        return out.getvalue()

    def to_json(self) -> str:
        cells = [{k: None if v != v else v for k, v in dataclasses.asdict(cell).items()} for cell in self.cells]
        return json.dumps({"title": self.title, "compile_s": self.compile_s, "cells": cells}, indent=1)

    def __str__(self) -> str:
        console = Console(width=140, file=io.StringIO(), force_terminal=False)
        console.print(self.table())
        return console.file.getvalue()  # pyright: ignore[reportAttributeAccessIssue]


def _row(cell: Cell) -> list[str]:
    name = f"  {cell.formulation}"
    if cell.status not in ("successful", "max_steps", "step_collapse"):
        return [name, f"[yellow]refused: {cell.status.replace('_', ' ')}[/yellow]"]
    if cell.status != "successful":
        return [
            name,
            f"[red]{cell.status.replace('_', ' ')}[/red]",
            *[""] * 4,
            str(cell.right_hand_sides),
            str(cell.steps),
        ]
    floats = (
        cell.error,
        cell.violation_position,
        cell.violation_velocity,
        cell.violation_acceleration,
        cell.energy_error,
    )
    counts = (str(cell.right_hand_sides), str(cell.steps), f"{1e3 * cell.run_s:.1f}")
    return [name, *("-" if x != x else f"{x:.0e}" for x in floats), *counts]


def compare(
    system,
    state: State,
    *,
    t1: float,
    ts=None,
    formulations: Sequence = ALL_FORMULATIONS,
    stabilizations: Sequence[Stabilization] = STABILIZATIONS,
    solver: diffrax.AbstractSolver | None = None,
    rtol: float = 1e-6,
    atol: float = 1e-6,
    error: Callable[[Solution], float] | None = None,
    repeats: int = 3,
    max_steps: int = 10_000,
    title: str = "",
    progress: bool = False,
) -> Comparison:
    """Run every formulation with every stabilization and report cost and accuracy.

    `error(solution)` measures the distance to a reference (NaN without). Run time is the median of `repeats` runs after
    compilation. The solver is `Dopri5()` by default, as in the literature. Not for use inside jit: it takes times.
    """
    if repeats < 1 or not formulations or not stabilizations:
        raise ModelError("compare needs at least one formulation, one stabilization and one repeat.")
    solver = diffrax.Dopri5() if solver is None else solver
    ts = jnp.linspace(state.t, t1, 101) if ts is None else jnp.asarray(ts)
    cells, compile_s = [], {}
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not (progress and console.is_terminal)) as bar:
        task = bar.add_task("compare", total=len(formulations) * len(stabilizations))
        for stabilization in stabilizations:

            def run(k: int, stabilization=stabilization) -> tuple[Solution, float]:
                choice = Choice(tuple(formulations), jnp.asarray(k))
                started = time.perf_counter()
                sol = simulate(
                    system, state, t1=t1, ts=ts, formulation=choice, stabilization=stabilization, solver=solver,
                    rtol=rtol, atol=atol, max_steps=max_steps, throw=False,
                )  # fmt: skip
                jax.block_until_ready(sol.q)
                return sol, time.perf_counter() - started

            label = describe(stabilization)
            bar.update(task, description=f"{label}: compiling")
            _, first = run(0)
            compile_s[label] = first - run(0)[1]
            for k, formulation in enumerate(formulations):
                bar.update(task, description=f"{label}, {describe(formulation)}")
                runs = [run(k) for _ in range(repeats)]
                sol = _with_shared_outputs(runs[0][0])
                cells.append(_cell(sol, [t for _, t in runs], describe(formulation), label, error))
                bar.advance(task)
    return Comparison(tuple(cells), compile_s, title)


def _with_shared_outputs(sol: Solution) -> Solution:
    """The same run with the bias of its stabilization as a Baumgarte of its numbers (zero for the others), so that one compiled
    program of the outputs serves all stabilizations."""
    if isinstance(sol.stabilization, Baumgarte):
        return sol
    return replace(sol, stabilization=Baumgarte(0.0, 0.0))


def _cell(sol: Solution, times: list[float], formulation: str, stabilization: str, error) -> Cell:
    nan = float("nan")
    numbers = dict.fromkeys(
        ("error", "violation_position", "violation_velocity", "violation_acceleration", "energy_error"), nan
    )
    if bool(sol.ok):
        violation, energy = sol.violation, sol.energy
        balance = energy.total - energy.work
        motion = replace(sol, formulation=Deflated())  # positions and speeds do not depend on it
        numbers = {
            "error": nan if error is None else float(error(motion)),
            "violation_position": float(jnp.max(violation.position)),
            "violation_velocity": float(jnp.max(violation.velocity)),
            "violation_acceleration": float(jnp.max(violation.acceleration)),
            "energy_error": float(jnp.max(jnp.abs(balance - balance[0]))),
        }
    return Cell(
        formulation=formulation,
        stabilization=stabilization,
        status=status_name(sol.status),
        **numbers,
        right_hand_sides=int(sol.stats.right_hand_sides),
        steps=int(sol.stats.steps),
        newton_iterations=int(sol.stats.newton_iterations),
        run_s=statistics.median(times) if sol.status == Status.successful else nan,
    )


def describe(choice) -> str:
    """Class name with the numbers that matter, as Baumgarte(10, 10)."""
    values = [getattr(choice, field.name) for field in dataclasses.fields(choice)]
    shown = [
        f"{float(x):g}" if isinstance(x, jax.Array) else str(x) for x in values if x is not None and not callable(x)
    ]
    return f"{type(choice).__name__}({', '.join(shown)})" if shown else type(choice).__name__


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


def write(path, text: str) -> None:
    """Write a report; the file is complete or not there."""
    path = Path(path)
    temporary = path.with_name(f".{path.name}.tmp")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(path)
