"""The report of a comparison: its table and the plots that engineers expect."""

import itertools

from ..studies.comparison import CAPTION, Cell, Comparison
from .plots import constraint_norms, drift, grouped_bars, tolerance_text, work_precision
from .report import Block, Grid, Heading, Picture, Prose, Report

COLUMNS = {
    "formulation": "formulation",
    "stabilization": "stabilization",
    "coordinates": "coordinates",
    "solver": "solver",
    "tolerance": "tolerance",
    "error": "error",
    "violation_position": "|Phi|",
    "violation_velocity": "|Phi'|",
    "violation_acceleration": "|Phi''|",
    "energy_error": "energy (J)",
    "right_hand_sides": "RHS",
    "steps": "steps",
    "newton_iterations": "Newton",
    "run_s": "run (s)",
    "compile_s": "compile (s)",
    "reason": "reason of failure",
}


def comparison_report(comparison: Comparison) -> Report:
    """Error over cost, bars of time and of right-hand sides, constraint norms, drift, and all numbers."""
    blocks: list[Block] = [Prose(CAPTION)]
    for coordinates, solver in itertools.product(comparison.names("coordinates"), comparison.names("solver")):
        part = Comparison(tuple(comparison.select(coordinates=coordinates, solver=solver)), comparison.title)
        if any(cell.error == cell.error for cell in part.cells):
            tolerances = ", ".join(map(tolerance_text, part.names("tolerance")))
            picture = Picture(f"Down and left is better; lines join the tolerances {tolerances}.", work_precision(part))
            blocks += [Heading(f"Error over cost, {coordinates}, {solver}"), picture]
        blocks += [Heading(f"Cost, {coordinates}, {solver}"), *_bars(part)]
        blocks += [Heading(f"Constraints, {coordinates}, {solver}"), *_norms(part)]
    # What is the same everywhere needs no column.
    same = [name for name in ("coordinates", "solver", "compile_s") if len(comparison.names(name)) == 1]
    columns = {name: title for name, title in COLUMNS.items() if name not in same}
    rows = [[_text(getattr(cell, name)) for name in columns] for cell in comparison.cells]
    everywhere = "".join(f" {COLUMNS[name]}: {_text(comparison.names(name)[0])}." for name in same)
    caption = f"Failed runs have a reason instead of numbers; click on it to read all of it.{everywhere}"
    blocks += [Heading("All numbers"), Grid(caption, list(columns.values()), rows)]
    return Report(comparison.title or "Comparison", tuple(blocks))


def _bars(part: Comparison) -> list[Block]:
    several = len(part.names("tolerance")) > 1
    groups = [(s, Comparison(tuple(part.select(stabilization=s)), "")) for s in part.names("stabilization")]
    out: list[Block] = []
    for title, cells in groups if several else [("", part)]:
        for quantity, label in (("run_s", "run time (s)"), ("right_hand_sides", "evaluations of the right-hand side")):
            caption = ", ".join(filter(None, (label, title))) + "; no bar: the run failed"
            out.append(Picture(caption, grouped_bars(cells, quantity, label, title)))
    return out


def _norms(part: Comparison) -> list[Block]:
    tolerance = min(part.names("tolerance"))
    tightest = Comparison(tuple(part.select(tolerance=tolerance)), "")
    title = f"tolerance {tolerance_text(tolerance)}"
    best = max(tightest.names("formulation"), key=lambda f: sum(c.ok for c in tightest.select(formulation=f)))
    cells = tightest.select(formulation=best)
    norms = constraint_norms(cells, [_line(c, c.stabilization) for c in cells], f"{best}, {title}")
    out: list[Block] = [Picture("Norms at three levels, by stabilization", norms)]
    for stabilization in tightest.names("stabilization"):
        lines: list[Cell] = tightest.select(stabilization=stabilization)
        figure = drift(lines, [_line(c, c.formulation) for c in lines], f"{stabilization}, {title}")
        out.append(Picture(f"Drift by formulation, {stabilization}", figure))
    return out


def _line(cell: Cell, name: str) -> str:
    return name if cell.ok else f"{name}, to {cell.reached:.2g} s"


def _text(value) -> str:
    if isinstance(value, float):
        return "-" if value != value else f"{value:.3g}"
    return str(value)
