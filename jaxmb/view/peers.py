"""The report of the benchmark against other engines: ratios of run times at equal error, and the curves behind them."""

import math

import numpy as np
from matplotlib.figure import Figure

from ..studies.peers_result import CAPTION, US, PeerBenchmark, Race, Run, envelope
from .plots import MARKERS, color, legend, new_figure, plain_numbers
from .report import Block, Grid, Heading, Picture, Prose, Report

TITLE = "jaxmb next to other engines: run times at equal error"
INTRODUCTION = (
    "Each engine is run on the same problems at several steps or tolerances, with the best settings that are known for it, "
    "and compared at 101 times with a trajectory that none of them made. The error is the largest difference of the outputs "
    "over all times, in m. All runs are on one core of one machine, in turns, and times are medians: compare them with each "
    "other only. They are those of a whole run called from Python, without building the model and without compilation, "
    "which are given apart. scipy stands for equations written by hand in numpy: the angle for A01, four minimal "
    "coordinates for A05, seven angles with six constraints for A03, absolute coordinates with constraints differentiated "
    "twice for the others. MuJoCo and Pinocchio have joint coordinates, in which A01 and A05 have no constraints and both "
    "struts are the same; Pinocchio's steps are a loop in Python. Between two runs of a method the time at an error is read "
    "off a straight line in logarithmic axes; nothing is extrapolated."
)
RATIOS = (
    "Run time of each engine over that of jaxmb; to the right of 1 jaxmb is faster. Hollow, beyond the right edge: the "
    "engine does not reach the error."
)


def peers_report(benchmark: PeerBenchmark) -> Report:
    """Everything on one page."""
    versions = ", ".join(f"{name} {version}" for name, version in benchmark.versions.items())
    blocks: list[Block] = [
        Prose(INTRODUCTION),
        Prose(f"Versions: {versions}."),
        Heading("Run times at equal error"),
        Picture(RATIOS, ratio_figure(benchmark)),
        _ratio_grid(benchmark),
    ]
    for race in benchmark.races:
        caption = f"Down and left is better. A line for each method; dashed: the error of the table ({race.goal:g} m)."
        blocks += [Heading(race.title), Picture(caption, race_figure(race, benchmark.engines)), _race_grid(race)]
    return Report(TITLE, tuple(blocks))


def ratio_figure(benchmark: PeerBenchmark) -> Figure:
    """A row for each problem, a dot for each engine that reaches the error."""
    figure, axes = new_figure(9.5, 1.6 + 0.45 * len(benchmark.races))
    engines = benchmark.engines
    for k, engine in enumerate(engines):
        if engine == US:
            continue
        rows = [(race.ratio(engine), row) for row, race in enumerate(benchmark.races) if race.ratio(engine) > 0]
        ratios, places = [x for x, _ in rows], [row for _, row in rows]
        style = {"color": color(k, len(engines)), "marker": MARKERS[k % len(MARKERS)], "ls": "", "ms": 8}
        axes.plot(ratios, places, label=engine, **style)
        ran = [row for row, race in enumerate(benchmark.races) if engine in {run.engine for run in race.runs}]
        short = [row for row in ran if benchmark.races[row].cost(engine) is None]
        beside = axes.get_yaxis_transform()  # x in parts of the width
        hollow = {"transform": beside, "clip_on": False, "mfc": "none", "in_layout": False}  # the legend makes room
        axes.plot([1.0 + 0.025 * k] * len(short), short, **hollow, **style)
    axes.axvline(1.0, color="0.3", lw=1.0)
    names = [f"{race.key}, {race.goal:.0e} m" for race in benchmark.races]
    axes.set_yticks(np.arange(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set(xscale="log", xlabel="run time over that of jaxmb at the same error")
    everything = [race.ratio(engine) for race in benchmark.races for engine in engines]
    axes.set_xlim(*_around_one([x for x in everything if x > 0]))
    axes.grid(visible=False, axis="y", which="both")
    plain_numbers(axes.xaxis)
    legend(axes)
    return figure


def _around_one(ratios: list[float]) -> tuple[float, float]:
    """Limits of the axis with 1 inside, also when there are no ratios."""
    return 0.7 * min([0.5, *ratios]), 1.4 * max([2.0, *ratios])


def race_figure(race: Race, engines: list[str]) -> Figure:
    """Error over run time: a color for each engine, a line for each of its methods, thick where it is on the envelope."""
    figure, axes = new_figure(9.5, 5.0)
    for k, engine in enumerate(engines):
        runs = race.of(engine)
        style = {"color": color(k, len(engines)), "marker": MARKERS[k % len(MARKERS)], "ms": 5}
        for j, method in enumerate(dict.fromkeys(run.method for run in runs)):
            given = [run for run in runs if run.method == method]
            best = envelope(given)
            axes.plot([1e3 * run.run_s for run in given], [_shown(run) for run in given], ls="", alpha=0.4, **style)
            line = {"lw": 1.2, "ls": ("-", "--", ":", "-.")[j % 4], "label": f"{engine}, {method}"}
            axes.plot([1e3 * run.run_s for run in best], [_shown(run) for run in best], **line, **style)
    axes.axhline(race.goal, color="0.4", lw=0.8, ls="--")
    axes.set(xscale="log", yscale="log", xlabel="run time (ms)", ylabel="largest error (m)")
    axes.set_title(race.title, loc="left")
    axes.grid(alpha=0.3)
    plain_numbers(axes.xaxis)
    legend(axes)
    return figure


def _shown(run: Run) -> float:
    """An error of zero has no place in logarithmic axes."""
    return max(run.error, 1e-17)


def _ratio_grid(benchmark: PeerBenchmark) -> Grid:
    peers = [engine for engine in benchmark.engines if engine != US]
    rows = []
    for race in benchmark.races:
        ours = race.cost(US)
        mine = race.verdict(US) if ours is None else f"{'<= ' if ours.bound else ''}{1e3 * ours.run_s:.1f}"
        rows.append([race.title, f"{race.goal:.0e}", mine, *(race.verdict(engine) for engine in peers)])
    return Grid(CAPTION, ("problem", "error (m)", "jaxmb (ms)", *peers), rows)


def _race_grid(race: Race) -> Grid:
    rows = []
    for run in race.runs:
        numbers = ["", ""] if math.isnan(run.error) else [f"{run.error:.1e}", f"{1e3 * run.run_s:.2f}"]
        level = f"{'step ' if run.fixed else ''}{run.level:g}{' s' if run.fixed else ''}"
        rows.append([run.engine, run.method, level, *numbers, run.reason])
    built = {run.engine: run.build_s for run in race.runs}
    words = ", ".join(f"{engine} {seconds:.2g}" for engine, seconds in built.items())
    absent = "".join(f" {engine}: {reason}." for engine, reason in race.absent.items())
    caption = f"Outputs: {', '.join(race.outputs)}. Building or compilation (s): {words}.{absent}"
    return Grid(caption, ("engine", "method", "level", "error (m)", "run (ms)", ""), rows)
