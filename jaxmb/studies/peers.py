"""jaxmb next to other engines: each at its best known settings, on one core, in turns."""

import importlib.metadata
import itertools
import os
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import equinox as eqx
import jax
import numpy as np
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from ..errors import ModelError, did_you_mean
from ..mechanisms import get_mechanism
from ..peers import PEERS, Method, Peer
from .iftomm import errors_of, solver_of
from .peers_problems import LONG, PROBLEMS, PeerProblem, find_peer_problem
from .peers_result import US, PeerBenchmark, Race, Run

#: Runs are not repeated for a better median when they have taken this long together (s).
ENOUGH = 3.0
#: A run whose error is a larger part of the outputs' range than this has lost the motion, and is no point of a curve.
LOST = 0.1


class Engine(NamedTuple):
    """An engine with a problem built, ours or another: a run gives the error (m) and the time (s)."""

    name: str
    methods: tuple[Method, ...]
    run: Callable[[str, float], tuple[float, float]]
    build_s: float


def run_peers(
    problems: Sequence[str] | None = None,
    *,
    engines: Sequence[str] | None = None,
    repeats: int = 5,
    quick: bool = False,
    progress: bool = False,
) -> PeerBenchmark:
    """Run the problems (by default all of `PROBLEMS`) with jaxmb and the engines (by default all of `PEERS`).

    `quick` runs each level once, and not the long problems unless they are named. An engine that is not installed or has no
    model of a problem is reported as such.
    """
    if repeats < 1:
        raise ModelError(f"bench peers was given repeats={repeats}. Give at least 1.")
    everything = [key for key in PROBLEMS if not (quick and key in LONG)]
    chosen = {key: find_peer_problem(key) for key in (everything if problems is None else problems)}
    peers = {name: find_peer(name) for name in (PEERS if engines is None else engines)}
    missing = {name: words for name, peer in peers.items() if (words := peer.missing())}
    versions = {US: importlib.metadata.version(US)}
    versions |= {name: peer.version() for name, peer in peers.items() if name not in missing}
    columns = (TextColumn("{task.description}"), SpinnerColumn(), TimeElapsedColumn())
    console, races = Console(stderr=True), []
    hidden = not (progress and console.is_terminal)
    with one_core(), Progress(*columns, console=console, transient=True, disable=hidden) as bar:
        task = bar.add_task("")
        for key, problem in chosen.items():
            title = problem.problem.title
            if hidden and progress:
                console.print(title)

            def tell(what: str, title=title):
                bar.update(task, description=f"{title}: {what}")

            races.append(run_race(key, problem, peers, missing, 1 if quick else repeats, tell))
            # Nothing of it is needed by the next problem, and each program keeps memory maps, whose number is limited.
            jax.clear_caches()
            eqx.clear_caches()
    return PeerBenchmark(tuple(races), versions)


def find_peer(name: str) -> Peer:
    """An engine by its name."""
    if name not in PEERS:
        raise ModelError(
            f"bench peers was asked for the engine '{name}', which does not exist. There are: {', '.join(PEERS)}."
            f"{did_you_mean(name, PEERS)}"
        )
    return PEERS[name]


def run_race(
    key: str,
    problem: PeerProblem,
    peers: Mapping[str, Peer],
    missing: Mapping[str, str],
    repeats: int = 1,
    tell: Callable[[str], None] = lambda words: None,
) -> Race:
    """All engines on one problem; `missing` says why some of them cannot be imported."""
    absent = {name: words for name, words in missing.items() if name in peers}
    tell("compiling")
    engines = [jaxmb_engine(problem)]
    for name, peer in peers.items():
        if name in absent:
            continue
        if key not in peer.models:
            absent[name] = f"no model{': ' + peer.without[key] if key in peer.without else ''}"
            continue
        try:
            engines.append(peer_engine(key, problem, peer))
        except Exception as error:  # of another program's making: the others are run all the same
            absent[name] = f"its model was not built: {_first_line(error)}"
    runs = measure(engines, repeats, _range_of(problem), tell)
    return Race(key, problem.problem.title, problem.problem.outputs, problem.goal, runs, absent)


def jaxmb_engine(problem: PeerProblem) -> Engine:
    """jaxmb with the pair of the problem; what it builds is the compiled program."""
    solve, errors = solver_of(problem.problem), errors_of(problem.problem)
    _, first = solve(problem.pair, problem.levels[0])
    _, again = solve(problem.pair, problem.levels[0])

    def run(method: str, level: float) -> tuple[float, float]:
        sol, took = solve(method, level)
        return errors(sol).position, took

    return Engine(US, (Method(problem.pair, problem.levels, fixed=False),), run, max(0.0, first - again))


def peer_engine(key: str, problem: PeerProblem, peer: Peer) -> Engine:
    """Another engine with its model of the problem; the error is measured in the same way as ours."""
    reference = get_mechanism(problem.problem.mechanism).read_reference()
    wanted = np.stack([reference[name] for name in problem.problem.outputs], 1)
    started = time.perf_counter()
    model = peer.models[key](reference["t"])
    build_s = time.perf_counter() - started

    def run(method: str, level: float) -> tuple[float, float]:
        outputs, took = model.run(method, level)
        return float(np.max(np.abs(outputs - wanted))), took

    return Engine(peer.name, model.methods, run, build_s)


def measure(
    engines: Sequence[Engine], repeats: int, size: float, tell: Callable[[str], None] = lambda words: None
) -> tuple[Run, ...]:
    """All engines at all levels, in turns, so that what else the machine does falls on all of them alike.

    `size` is the range of the outputs (m), against which an error is that of a lost motion.
    """
    cells = [(engine, method, level) for engine in engines for method in engine.methods for level in method.levels]
    times: list[list[float]] = [[] for _ in cells]
    errors, reasons = [np.nan] * len(cells), [""] * len(cells)
    for turn, (k, (engine, method, level)) in itertools.product(range(repeats), enumerate(cells)):
        if turn and (reasons[k] or sum(times[k]) > ENOUGH):
            continue
        if not turn:
            tell(f"{engine.name}, {method.name}, {level:g}")
        try:
            errors[k], took = engine.run(method.name, level)
        except Exception as error:  # of another program's making: the others are run all the same
            reasons[k] = f"It stopped: {_first_line(error)}"
            continue
        times[k].append(took)
        if not np.isfinite(errors[k]):
            reasons[k] = "It did not come to its end."
        elif errors[k] > LOST * size:
            reasons[k] = f"It lost the motion: an error of {errors[k]:.1e} m in a range of {size:.1e} m."
    return tuple(
        _run(engine, method, level, errors[k], times[k], reasons[k]) for k, (engine, method, level) in enumerate(cells)
    )


def _run(engine: Engine, method: Method, level: float, error: float, times: list[float], reason: str) -> Run:
    run_s = statistics.median(times) if times else float("nan")
    return Run(engine.name, method.name, level, method.fixed, float(error), run_s, engine.build_s, len(times), reason)


def _range_of(problem: PeerProblem) -> float:
    reference = get_mechanism(problem.problem.mechanism).read_reference()
    return max(float(np.ptp(reference[name])) for name in problem.problem.outputs)


def _first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


@contextmanager
def one_core() -> Iterator[None]:
    """All threads of this process on one core, where the system can do that: engines differ in how many they would use."""
    tasks = Path("/proc/self/task")
    if not hasattr(os, "sched_setaffinity") or not tasks.is_dir():
        yield
        return
    before = os.sched_getaffinity(0)
    _pin(tasks, {min(before)})
    try:
        yield
    finally:
        _pin(tasks, before)


def _pin(tasks: Path, cores: set[int]) -> None:
    for task in tasks.iterdir():
        try:
            os.sched_setaffinity(int(task.name), cores)
        except ProcessLookupError:  # a thread that has ended since
            continue
