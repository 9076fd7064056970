"""Formulations and stabilizations side by side on one mechanism."""

import csv
import dataclasses
import io
import itertools
import json
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import diffrax
import jax
import jax.numpy as jnp
import numpy as np
from rich import box
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
from ..stabilization import Alternatives, Baumgarte, CoordinatePartitioning, NoStabilization, Projection, Stabilization
from ..state import State
from ..status import Status, status_name

#: Runs are not repeated for a better median when they have taken this long together (s).
ENOUGH = 0.2
CAPTION = (
    "error: largest difference to the reference, relative; |Phi|, |Phi'|, |Phi''|: largest constraint norms; energy: largest "
    "change of energy minus work (J); RHS: evaluations of the right-hand side; run: median after compilation."
)
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
    """A table of cells; all of them are one compiled program, which took `compile_s`."""

    cells: tuple[Cell, ...]
    compile_s: float
    title: str

    def table(self) -> Table:
        """The comparison for a terminal, one section for each stabilization."""
        table = Table(title=self.title, title_justify="left", box=box.SIMPLE_HEAD, padding=0, show_edge=False)
        table.caption, table.caption_justify = f"{CAPTION} Compilation, one program: {self.compile_s:.1f} s.", "left"
        table.add_column("formulation", no_wrap=True)
        for name in ("error", "|Phi|", "|Phi'|", "|Phi''|", "energy", "RHS", "run ms"):
            table.add_column(name, justify="right", no_wrap=True)
        for stabilization in dict.fromkeys(cell.stabilization for cell in self.cells):
            rows = [cell for cell in self.cells if cell.stabilization == stabilization]
            table.add_section()
            table.add_row(f"[bold]{stabilization}[/bold]")
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
    if cell.status != "successful":
        return [f" {cell.formulation}: [yellow]{cell.status.replace('_', ' ')}[/yellow]", *[""] * 5, _count(cell), ""]
    floats = (
        cell.error,
        cell.violation_position,
        cell.violation_velocity,
        cell.violation_acceleration,
        cell.energy_error,
    )
    shown = ["-" if x != x else f"{x:.0e}" for x in floats]
    return [f" {cell.formulation}", *shown, _count(cell), f"{1e3 * cell.run_s:.1f}"]


def _count(cell: Cell) -> str:
    return str(cell.right_hand_sides) if cell.right_hand_sides >= 0 else "-"


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
    max_steps: int = 1_000,
    title: str = "",
    progress: bool = False,
) -> Comparison:
    """Run every formulation with every stabilization and report cost and accuracy.

    `error(solution)` measures the distance to a reference (NaN without). Run time is the median of `repeats` runs after
    compilation, of fewer where they take long. The solver is `Dopri5()` by default, as in the literature. Not for use
    inside jit: it takes times.
    """
    if repeats < 1 or not formulations or not stabilizations:
        raise ModelError("compare needs at least one formulation, one stabilization and one repeat.")
    solver = diffrax.Dopri5() if solver is None else solver
    ts = jnp.linspace(state.t, t1, 101) if ts is None else jnp.asarray(ts)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    console = Console(stderr=True)

    def run(k: int, l: int) -> tuple[Solution, float]:
        choice = Choice(tuple(formulations), jnp.asarray(k))
        stabilization = Alternatives(tuple(stabilizations), jnp.asarray(l))
        started = time.perf_counter()
        sol = simulate(
            system, state, t1=t1, ts=ts, formulation=choice, stabilization=stabilization, solver=solver,
            rtol=rtol, atol=atol, max_steps=max_steps, throw=False,
        )  # fmt: skip
        jax.block_until_ready(sol.q)
        return sol, time.perf_counter() - started

    with Progress(*columns, console=console, transient=True, disable=not (progress and console.is_terminal)) as bar:
        task = bar.add_task("compiling", total=len(formulations) * len(stabilizations))
        first = run(0, 0)[1]
        compile_s = first - run(0, 0)[1]
        cells = []
        for (l, stabilization), (k, formulation) in itertools.product(
            enumerate(stabilizations), enumerate(formulations)
        ):
            bar.update(task, description=f"{describe(stabilization)}, {describe(formulation)}")
            sol, took = run(k, l)
            times = [took]
            while bool(sol.ok) and len(times) < repeats and sum(times) < ENOUGH:
                times.append(run(k, l)[1])
            cells.append(_cell(sol, times, describe(formulation), describe(stabilization), error))
            bar.advance(task)
    return Comparison(tuple(cells), compile_s, title)


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
    """Class name, with its numbers where they are not the defaults, as Baumgarte(5, 5)."""

    def shown(choice) -> list[str]:
        values = [getattr(choice, field.name) for field in dataclasses.fields(choice)]
        return [
            f"{float(x):g}" if isinstance(x, jax.Array) else str(x) for x in values if x is not None and not callable(x)
        ]

    name, numbers = type(choice).__name__, shown(choice)
    return name if numbers == shown(type(choice)()) else f"{name}({', '.join(numbers)})"


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
