"""Figures of a comparison. They are made without pyplot, so that no window opens and no state is left."""

import itertools
from collections.abc import Sequence

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

from ..studies.comparison import Cell, Comparison

LEVELS = (
    ("position", "|Phi|  (m, rad)"),
    ("velocity", "|Phi'|  (m/s, rad/s)"),
    ("acceleration", "|Phi''|  (m/s², rad/s²)"),
)
MARKERS = "os^Dv*PX"
#: Norms below this are rounding; a logarithmic axis ends here.
FLOOR = 1e-17


def color(k: int, count: int):
    """Colors that can be told apart: the ten of matplotlib, more only if needed."""
    return colormaps["tab10"](k) if count <= 10 else colormaps["tab20"](k % 20)


def work_precision(comparison: Comparison) -> Figure:
    """Error over run time: a color for each formulation, a marker for each stabilization, a line through tolerances."""
    figure, axes = new_figure(8.5, 5.5)
    formulations, stabilizations = comparison.names("formulation"), comparison.names("stabilization")
    for (k, f), (l, s) in itertools.product(enumerate(formulations), enumerate(stabilizations)):
        cells = [c for c in comparison.select(formulation=f, stabilization=s) if c.ok and c.error == c.error]
        cells.sort(key=lambda c: c.tolerance)
        times, errors = [1e3 * c.run_s for c in cells], [max(c.error, FLOOR) for c in cells]
        style = {"color": color(k, len(formulations)), "marker": MARKERS[l % len(MARKERS)], "lw": 0.8, "ms": 6}
        axes.plot(times, errors, **style)
    handles = [axes.plot([], [], color=color(k, len(formulations)), lw=3)[0] for k in range(len(formulations))]
    markers = [axes.plot([], [], "k", ls="", marker=MARKERS[l % len(MARKERS)])[0] for l in range(len(stabilizations))]
    axes.set(xscale="log", yscale="log", xlabel="run time (ms)", ylabel="largest error to the reference, relative")
    axes.set_title(comparison.title)
    plain_numbers(axes.xaxis)
    ran = {cell.formulation for cell in comparison.cells if cell.ok}
    legend(axes, handles + markers, [f if f in ran else f"{f} (failed)" for f in formulations] + stabilizations)
    return figure


def grouped_bars(comparison: Comparison, quantity: str, label: str, title: str = "") -> Figure:
    """A group of bars for each tolerance (or stabilization, when there is one tolerance), a bar for each formulation."""
    by = "tolerance" if len(comparison.names("tolerance")) > 1 else "stabilization"
    groups, everything = comparison.names(by), comparison.names("formulation")
    formulations = [f for f in everything if any(cell.ok for cell in comparison.select(formulation=f))]
    figure, axes = new_figure(9.5, 4.2)
    width = 0.85 / max(1, len(formulations))
    values = []
    for k, f in enumerate(formulations):
        heights = [_only(comparison.select(**{by: g, "formulation": f}), quantity) for g in groups]
        values += heights
        places = np.arange(len(groups)) + (k - (len(formulations) - 1) / 2) * width
        axes.bar(places, heights, width, label=f, color=color(everything.index(f), len(everything)))
    known = [x for x in values if x == x and x > 0]
    if known and max(known) > 20 * min(known):
        axes.set_yscale("log")
        axes.set_ylim(bottom=min(known) / 2)
        plain_numbers(axes.yaxis)
    axes.grid(visible=False, axis="x", which="both")
    axes.set_xticks(np.arange(len(groups)), [tolerance_text(g) if isinstance(g, float) else g for g in groups])
    axes.set(xlabel=by, ylabel=label, title=title, xlim=(-0.6, len(groups) - 0.4))
    legend(axes)
    return figure


def constraint_norms(cells: Sequence[Cell], names: Sequence[str], title: str = "") -> Figure:
    """The norms of the constraints over time at three levels, a line for each cell."""
    figure = Figure(figsize=(9.5, 7.5), layout="constrained")
    panels = figure.subplots(3, 1, sharex=True)
    for axes, (level, label) in zip(panels, LEVELS, strict=True):
        for k, cell in enumerate(cells):
            norm = np.maximum(getattr(cell.history, level), FLOOR)
            axes.semilogy(cell.history.t, norm, color=color(k, len(cells)), lw=1.2, label=names[k])
        axes.set_ylabel(label)
        axes.grid(alpha=0.3)
    panels[0].set_title(title)
    panels[-1].set_xlabel("time (s)")
    legend(panels[0])
    return figure


def drift(cells: Sequence[Cell], names: Sequence[str], title: str = "") -> Figure:
    """The violation of positions after the start, a line for each cell, dashed so that those below can be seen."""
    figure, axes = new_figure(9.5, 4.5)
    for k, cell in enumerate(cells):
        norm = np.maximum(cell.history.position[1:], FLOOR)
        style = {"color": color(k, len(cells)), "lw": 1.5, "ls": (0, (4, 1 + k % 4)) if k else "-"}
        axes.semilogy(cell.history.t[1:], norm, label=names[k], **style)
    axes.set(xlabel="time (s)", ylabel=LEVELS[0][1], title=title)
    legend(axes)
    return figure


def plain_numbers(axis: Axis) -> None:
    """Numbers without powers on a logarithmic axis: 1, 2 and 5 if it has few decades."""
    low, high = axis.get_view_interval()
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 1e3 * low else (1,)))
    axis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axis.set_minor_formatter(NullFormatter())


def tolerance_text(tolerance: float) -> str:
    """All tolerances alike, as 1e-03 and 1e-06."""
    return np.format_float_scientific(tolerance, trim="-", exp_digits=2)


def new_figure(width: float, height: float) -> tuple[Figure, Axes]:
    """One pair of axes with a grid, nothing clipped."""
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots()
    axes.grid(alpha=0.3, which="both")
    axes.set_axisbelow(True)
    return figure, axes


def legend(axes: Axes, handles: Sequence = (), labels: Sequence[str] = ()) -> None:
    """A legend beside the axes, where it hides nothing."""
    if not handles:
        handles, labels = axes.get_legend_handles_labels()
    if handles:
        axes.legend(handles, labels, loc="upper left", bbox_to_anchor=(1.01, 1.0), fontsize=8, frameon=False)


def _only(cells: Sequence[Cell], quantity: str) -> float:
    """The number of the one cell there is; NaN without one, or if it failed."""
    return float(getattr(cells[0], quantity)) if cells and cells[0].ok else float("nan")
