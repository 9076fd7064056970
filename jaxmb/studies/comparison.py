"""What a comparison found: a table of runs, for the terminal and for files."""

import csv
import dataclasses
import io
import itertools
import json
import math
from typing import Any, NamedTuple

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table

CAPTION = (
    "error: largest difference to the reference, relative; |Phi|, |Phi'|, |Phi''|: largest constraint norms; energy: largest "
    "change of energy minus work (J); RHS: evaluations of the right-hand side; Newton: iterations of the corrections; "
    "run: median after compilation."
)


class History(NamedTuple):
    """Positions and norms of the constraints at three levels over time (s)."""

    t: np.ndarray
    q: np.ndarray
    position: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray


@dataclasses.dataclass(frozen=True)
class Cell:
    """One run: what it cost and how far off it is. Numbers are NaN where the run failed."""

    formulation: str
    stabilization: str
    coordinates: str
    solver: str
    tolerance: float
    """Relative and absolute tolerance of the integrator."""
    status: str
    reason: str
    """Why it failed, in a sentence; empty for a run that did not."""
    reached: float
    """Time (s) it reached."""
    error: float
    """Largest difference to the reference, relative to the size of each output (1 if that is smaller)."""
    violation_position: float
    violation_velocity: float
    violation_acceleration: float
    energy_error: float
    """Largest change of total energy minus work (J)."""
    right_hand_sides: int
    steps: int
    rejected: int
    newton_iterations: int
    run_s: float
    """Median wall time of a run after compilation."""
    compile_s: float
    """Time it took to compile the program of this run, which it shares with all of its coordinates and solver."""
    history: History = dataclasses.field(repr=False, compare=False)
    """Also of a run that failed, up to where it came."""

    @property
    def ok(self) -> bool:
        return self.status == "successful"

    def numbers(self) -> dict[str, Any]:
        """Everything but the history."""
        return {f.name: getattr(self, f.name) for f in dataclasses.fields(self) if f.name != "history"}


@dataclasses.dataclass(frozen=True)
class Comparison:
    """The cells of a comparison, in the order in which they were run."""

    cells: tuple[Cell, ...]
    title: str

    def names(self, axis: str) -> list[Any]:
        """What there is along an axis, such as "formulation" or "tolerance", in order."""
        return list(dict.fromkeys(getattr(cell, axis) for cell in self.cells))

    def select(self, **wanted: Any) -> list[Cell]:
        """The cells with these values, as `select(formulation="KKT", tolerance=1e-6)`."""
        return [cell for cell in self.cells if all(getattr(cell, axis) == x for axis, x in wanted.items())]

    def table(self) -> Table:
        """The comparison for a terminal, a section for each choice but the formulation."""
        table = Table(title=self.title, title_justify="left", box=box.SIMPLE_HEAD, padding=0, show_edge=False)
        programs = {(cell.coordinates, cell.solver): cell.compile_s for cell in self.cells}
        compiled = ", ".join(f"{seconds:.1f} s" for seconds in programs.values())
        table.caption, table.caption_justify = f"{CAPTION} Compilation, {len(programs)} program(s): {compiled}.", "left"
        table.add_column("formulation", no_wrap=True)
        for name in ("error", "|Phi|", "|Phi'|", "|Phi''|", "energy", "RHS", "Newton", "run ms"):
            table.add_column(name, justify="right", no_wrap=True)
        shown = ["stabilization", *(a for a in ("coordinates", "solver", "tolerance") if len(self.names(a)) > 1)]
        for heading, cells in itertools.groupby(self.cells, lambda cell: [getattr(cell, axis) for axis in shown]):
            table.add_section()
            table.add_row(f"[bold]{', '.join(map(_short, heading))}[/bold]")
            for cell in cells:
                table.add_row(*_row(cell))
        return table

    def to_csv(self) -> str:
        rows = [cell.numbers() for cell in self.cells]
        out = io.StringIO()
        writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return out.getvalue()

    def to_json(self) -> str:
        cells = [{name: _json(value) for name, value in cell.numbers().items()} for cell in self.cells]
        return json.dumps({"title": self.title, "cells": cells}, indent=1)

    def to_html(self) -> str:
        """One self-contained page: the table and its plots."""
        from ..view.comparison import comparison_report

        return comparison_report(self).html()

    def __str__(self) -> str:
        console = Console(width=140, file=io.StringIO(), force_terminal=False)
        console.print(self.table())
        return console.file.getvalue()  # pyright: ignore[reportAttributeAccessIssue]


def _json(value):
    """JSON has neither NaN nor infinity."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _short(value) -> str:
    return value if isinstance(value, str) else f"{value:g}"


def _row(cell: Cell) -> list[str]:
    counts = [str(n) if n >= 0 else "-" for n in (cell.right_hand_sides, cell.newton_iterations)]
    if not cell.ok:
        return [f" {cell.formulation}: [yellow]{cell.status.replace('_', ' ')}[/yellow]", *[""] * 5, *counts, ""]
    floats = (
        cell.error,
        cell.violation_position,
        cell.violation_velocity,
        cell.violation_acceleration,
        cell.energy_error,
    )
    shown = ["-" if x != x else f"{x:.0e}" for x in floats]
    return [f" {cell.formulation}", *shown, *counts, f"{1e3 * cell.run_s:.1f}"]
