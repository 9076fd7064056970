"""The report of a comparison: its table and the plots that engineers expect."""

import itertools

from ..studies.comparison import CAPTION, Cell, Comparison
from .plots import constraint_norms, drift, grouped_bars, work_precision
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
            picture = Picture("Down and left is better.", work_precision(part))
            blocks += [Heading(f"Error over cost, {coordinates}, {solver}"), picture]
        blocks += [Heading(f"Cost, {coordinates}, {solver}"), *_bars(part)]
        blocks += [Heading(f"Constraints, {coordinates}, {solver}"), *_norms(part)]
    rows = [[_text(getattr(cell, name)) for name in COLUMNS] for cell in comparison.cells]
    blocks += [
        Heading("All numbers"),
        Grid("Failed runs have a reason instead of numbers.", list(COLUMNS.values()), rows),
    ]
    return Report(comparison.title or "Comparison", tuple(blocks))


def _bars(part: Comparison) -> list[Block]:
    several = len(part.names("tolerance")) > 1
    groups = [(s, Comparison(tuple(part.select(stabilization=s)), "")) for s in part.names("stabilization")]
    out: list[Block] = []
    for title, cells in groups if several else [("", part)]:
        for quantity, label in (("run_s", "run time (s)"), ("right_hand_sides", "right-hand sides")):
            out.append(Picture(f"{label} {title}", grouped_bars(cells, quantity, label, title)))
    return out


def _norms(part: Comparison) -> list[Block]:
    tightest = Comparison(tuple(part.select(tolerance=min(part.names("tolerance")))), "")
    best = max(tightest.names("formulation"), key=lambda f: sum(c.ok for c in tightest.select(formulation=f)))
    cells = tightest.select(formulation=best)
    norms = constraint_norms(cells, [c.stabilization for c in cells], best)
    out: list[Block] = [Picture("Norms at three levels, by stabilization", norms)]
    for stabilization in tightest.names("stabilization"):
        lines: list[Cell] = tightest.select(stabilization=stabilization)
        figure = drift(lines, [c.formulation for c in lines], stabilization)
        out.append(Picture(f"Drift by formulation, {stabilization}", figure))
    return out


def _text(value) -> str:
    if isinstance(value, float):
        return "-" if value != value else f"{value:.3g}"
    return str(value)
