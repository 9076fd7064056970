"""The report of the IFToMM benchmark: curves, the cheapest runs, the documented settings, and which pair to use when."""

import math

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from ..studies.iftomm_problems import PAIRS
from ..studies.iftomm_result import CAPTION, Benchmark, Curve, Point, cheapest, count
from .plots import MARKERS, color, legend, new_figure, plain_numbers
from .report import Block, Grid, Heading, Picture, Prose, Report

TITLE = "IFToMM benchmarks A01 to A05: error over cost"
GOALS = ("coarse", "fine", "documented")
KINDS = {
    "smooth": "Smooth mechanisms",
    "singular": "Singular configurations on the way (singular='pass')",
    "stiff": "Stiff mechanisms",
}
INTRODUCTION = (
    "Each problem is run to its end (10 s; A03 0.05 s) with pairs of a solver and a formulation at several tolerances (relative "
    "and absolute alike), and compared at 101 times with a trajectory that was not made with this program. The error is the "
    "largest difference of the outputs over all times, in m. A pair that names no formulation has the default one with a "
    "projection after each step; methods that keep the constraints by themselves need neither. Times are medians of runs in "
    "turns after compilation, on one machine: compare them with each other only. The library's own limits of the error could not "
    "be read, so the coarse and the fine one are ours: 1e-3 m and 1e-6 m, 1e-5 m for the fine one of A02 and A05, and for A03, "
    "whose crank is 7 mm long, 1e-5 m and 1e-8 m. The third is the one that the documented setting is held to."
)


def iftomm_report(benchmark: Benchmark) -> Report:
    """Everything on one page."""
    blocks: list[Block] = [
        Prose(INTRODUCTION),
        Heading("Which pair to use when"),
        *(Prose(sentence) for sentence in advice(benchmark)),
        Heading("The cheapest run below each error"),
        Picture("Run time of the cheapest run with an error of at most the one asked for", cheapest_figure(benchmark)),
        _cheapest_grid(benchmark),
        Heading("The documented settings"),
        _settings_grid(benchmark),
    ]
    for curve in benchmark.curves:
        goals = ", ".join(f"{goal:g}" for goal in curve.goals)
        caption = f"Down and left is better. Lines join the levels of a pair; dashed: the errors asked for ({goals} m)."
        blocks += [Heading(curve.title), Picture(caption, curve_figure(curve)), _curve_grid(curve)]
    return Report(TITLE, tuple(blocks))


def advice(benchmark: Benchmark) -> list[str]:
    """A sentence for each kind of problem and error: the pair that is cheapest over all of its problems, from the numbers."""
    sentences = []
    for kind, title in KINDS.items():
        curves = [curve for curve in benchmark.curves if curve.kind == kind]
        parts = [part for k, goal in enumerate(GOALS) if (part := _part(curves, k, goal))]
        if parts:
            names = ", ".join(curve.title.split()[0] + curve.title.partition(",")[2] for curve in curves)
            sentences.append(f"{title} ({names}). {' '.join(parts)}")
    failed = [
        f"{point.setting} on {curve.title} ({point.status.replace('_', ' ')})"
        for curve in benchmark.curves
        for point in curve.points
        if not point.ok
    ]
    if failed:
        sentences.append(f"Runs that did not come to their end: {'; '.join(failed)}.")
    return sentences


def _part(curves: list[Curve], k: int, goal: str) -> str:
    ranking = _ranking(curves, k, "run_s")
    if not ranking:
        return ""
    (name, factor), *others = ranking
    words = f"For {goal} errors: {name}" + (f", {factor:.1f} times the cheapest on average" if factor > 1.05 else "")
    if others:
        words += f"; then {others[0][0]}, {others[0][1] / factor:.1f} times as long"
    counted = dict(_ranking(curves, k, "right_hand_sides"))
    fewest = next(iter(counted), name)
    if fewest != name and name in counted:
        words += f"; the fewest evaluations: {fewest}, {counted[fewest] / counted[name]:.2f} of those of {name}"
    return f"{words}."


def _ranking(curves: list[Curve], k: int, by: str) -> list[tuple[str, float]]:
    """Pairs that reach goal `k` on every one of the curves, the cheapest first, with their cost relative to the cheapest of each
    curve (geometric mean)."""
    factors: dict[str, list[float]] = {}
    for curve in curves:
        best = cheapest(curve.points, curve.goals[k], by)
        for name in curve.pairs:
            mine = cheapest(curve.of(name), curve.goals[k], by)
            if best is not None and mine is not None:
                factors.setdefault(name, []).append(getattr(mine, by) / getattr(best, by))
    means = {
        name: math.exp(float(np.mean(np.log(given)))) for name, given in factors.items() if len(given) == len(curves)
    }
    return sorted(means.items(), key=lambda entry: entry[1])


def curve_figure(curve: Curve) -> Figure:
    """Error over run time, and over evaluations."""
    figure = Figure(figsize=(11.5, 4.8), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    for axes, (quantity, label) in zip(
        panels, (("run_s", "run time (s)"), ("right_hand_sides", "evaluations of the right-hand side")), strict=True
    ):
        for k, name in enumerate(curve.pairs):
            points = sorted((p for p in curve.of(name) if getattr(p, quantity) > 0), key=lambda p: p.level)
            style = {"color": color(k, len(curve.pairs)), "marker": MARKERS[k % len(MARKERS)], "lw": 1.0, "ms": 5}
            axes.plot([getattr(p, quantity) for p in points], [p.error for p in points], label=name, **style)
        for goal in curve.goals:
            axes.axhline(goal, color="0.4", lw=0.8, ls="--")
        axes.set(xscale="log", yscale="log", xlabel=label)
        axes.grid(alpha=0.3)
        axes.tick_params(axis="x", labelsize=8)
        plain_numbers(axes.xaxis)
    panels[0].set_ylabel("largest error (m)")
    panels[0].set_title(curve.title, loc="left")
    legend(panels[1])
    return figure


def cheapest_figure(benchmark: Benchmark) -> Figure:
    """Bars of the run time of the cheapest run, a group for each problem, with the name of the pair."""
    figure, axes = new_figure(11.5, 5.0)
    width, heights = 0.27, []
    for k in range(len(GOALS)):
        for place, curve in enumerate(benchmark.curves):
            best = cheapest(curve.points, curve.goals[k])
            if best is not None:
                x, height = place + (k - 1) * width, 1e3 * best.run_s
                heights.append(height)
                axes.bar(x, height, width, color=color(k, len(GOALS)))
                axes.text(x, 1.15 * height, best.pair, rotation=90, ha="center", va="bottom", fontsize=7)
    names = [f"{curve.key}\n" + "\n".join(f"{goal:.0e}" for goal in curve.goals) for curve in benchmark.curves]
    axes.set_xticks(np.arange(len(names)), names, fontsize=8)
    axes.set(yscale="log", ylabel="run time (ms)", xlabel="problem, and the errors asked for (m)")
    axes.set_xlim(-0.6, len(names) - 0.4)
    if heights:  # with room for the names above the bars
        low, high = min(heights) / 3, max(heights)
        axes.set_ylim(low, high * (high / low) ** 0.3)
    axes.grid(visible=False, axis="x", which="both")
    plain_numbers(axes.yaxis)
    legend(axes, [Patch(color=color(k, len(GOALS))) for k in range(len(GOALS))], GOALS)
    return figure


def _cheapest_grid(benchmark: Benchmark) -> Grid:
    rows = []
    for curve in benchmark.curves:
        for goal, kind in zip(curve.goals, GOALS, strict=True):
            best = cheapest(curve.points, goal)
            if best is None:
                rows.append([curve.title, kind, f"{goal:.0e}", "none", *[""] * 4])
                continue
            other = cheapest((p for p in curve.points if p.pair != best.pair), goal)
            following = "-" if other is None else f"{other.setting}: {other.run_s / best.run_s:.1f} times as long"
            numbers = [f"{best.error:.1e}", count(best), _time(best)]
            rows.append([curve.title, kind, f"{goal:.0e}", best.setting, *numbers, following])
    header = (
        "problem",
        "error",
        "(m)",
        "cheapest pair and level",
        "its error (m)",
        "RHS",
        "run (ms)",
        "cheapest other pair",
    )
    return Grid(CAPTION, header, rows)


def _settings_grid(benchmark: Benchmark) -> Grid:
    rows = []
    for curve in benchmark.curves:
        point, asked = curve.documented, f"{curve.goals[-1]:.0e}"
        if point is None:
            continue
        more = ", singular='pass'" if curve.kind == "singular" else ""
        numbers = [f"{x:.1e}" for x in (point.error, point.speed_error, point.violation)]
        setting = f"solver={_code(point.pair)}, rtol=atol={point.level:g}{more}"
        rows.append([curve.title, ", ".join(curve.outputs), asked, setting, *numbers, count(point), _time(point)])
    header = (
        "problem",
        "outputs",
        "asked (m)",
        "setting",
        "error (m)",
        "error of speeds (m/s)",
        "|Phi|",
        "RHS",
        "run (ms)",
    )
    return Grid("The tests of this project run these settings and hold them to the errors asked for.", header, rows)


def _curve_grid(curve: Curve) -> Grid:
    rows = []
    for p in curve.points:
        if not p.ok:
            rows.append([p.pair, p.level_text, p.reason, "", "", count(p), str(p.steps), str(p.rejected), ""])
            continue
        numbers = [f"{x:.1e}" for x in (p.error, p.speed_error, p.violation)]
        rows.append([p.pair, p.level_text, *numbers, count(p), str(p.steps), str(p.rejected), _time(p)])
    header = ("pair", "tolerance", "error (m)", "of speeds (m/s)", "|Phi|", "RHS", "steps", "rejected", "run (ms)")
    compiled = ", ".join(f"{name} {curve.of(name)[0].compile_s:.0f}" for name in curve.pairs if curve.of(name))
    return Grid(f"Outputs: {', '.join(curve.outputs)}. Compilation (s): {compiled}.", header, rows)


def _time(point: Point) -> str:
    return f"{1e3 * point.run_s:.1f}"


def _code(name: str) -> str:
    """The solver of a pair as a user writes it."""
    solver = PAIRS[name].solver if name in PAIRS else None
    module = "diffrax" if type(solver).__module__.startswith("diffrax") else "mb"
    return f"{module}.{name if solver is None else type(solver).__name__}()"
