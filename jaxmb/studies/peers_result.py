"""What the benchmark against other engines found: error over run time of each, and ratios of run times at equal error."""

import csv
import dataclasses
import io
import json
import math
from collections.abc import Iterable, Mapping
from itertools import pairwise

from rich import box
from rich.table import Table

US = "jaxmb"
CAPTION = (
    "Run time of jaxmb (ms, without compilation) to reach the error, then how many times as long each other engine takes: "
    "above 1 jaxmb is faster, below 1 slower. At most (<=): all runs of the engine are more accurate than that, and its "
    "cheapest is taken. (best ...): the engine does not get there, with the smallest error it reached."
)


@dataclasses.dataclass(frozen=True)
class Run:
    """An engine with one method at one level. Numbers are NaN where the run was lost."""

    engine: str
    method: str
    level: float
    fixed: bool
    """Whether the level is a step (s) and not a tolerance."""
    error: float
    """Largest difference to the trusted trajectory over outputs and times (m)."""
    run_s: float
    """Median wall time of a run, without building and compilation."""
    build_s: float
    """Of the model, or of compilation."""
    repeats: int
    reason: str = ""
    """Why it is not on the curve, in a sentence; empty for a run that is."""

    @property
    def ok(self) -> bool:
        return not self.reason


@dataclasses.dataclass(frozen=True)
class Cost:
    """Run time (s) at an error; `bound` where all runs were more accurate than asked for, and the cheapest is taken."""

    run_s: float
    bound: bool = False


def envelope(runs: Iterable[Run]) -> list[Run]:
    """The runs that no other one beats in both time and error, by growing time."""
    out: list[Run] = []
    for run in sorted((run for run in runs if run.ok), key=lambda run: (run.run_s, run.error)):
        if not out or run.error < out[-1].error:
            out.append(run)
    return out


def cost_at(runs: Iterable[Run], error: float) -> Cost | None:
    """What it takes to reach an error: on straight lines in logarithmic axes between neighbors on the envelope of each method,
    the cheapest method. None where no run is that accurate; nothing is extrapolated."""
    runs = list(runs)
    found = []
    for method in dict.fromkeys(run.method for run in runs):
        cost = _on_envelope(envelope(run for run in runs if run.method == method), error)
        if cost is not None:
            found.append(cost)
    return min(found, key=lambda cost: cost.run_s, default=None)


def _on_envelope(points: list[Run], error: float) -> Cost | None:
    if not points or points[-1].error > error:
        return None
    if points[0].error <= error:
        return Cost(points[0].run_s, bound=points[0].error < error)
    before, after = next((a, b) for a, b in pairwise(points) if b.error <= error)
    if after.error == 0.0:  # it has no logarithm, and is the first that is accurate enough
        return Cost(after.run_s, bound=True)
    part = math.log(before.error / error) / math.log(before.error / after.error)
    return Cost(before.run_s * (after.run_s / before.run_s) ** part)


@dataclasses.dataclass(frozen=True)
class Race:
    """All engines on one problem."""

    key: str
    title: str
    outputs: tuple[str, ...]
    goal: float
    """The error (m) at which run times are compared."""
    runs: tuple[Run, ...]
    absent: Mapping[str, str]
    """Engines that were not run, and why."""

    @property
    def engines(self) -> list[str]:
        return list(dict.fromkeys([*(run.engine for run in self.runs), *self.absent]))

    def of(self, engine: str) -> list[Run]:
        """The runs of an engine that are on its curve."""
        return [run for run in self.runs if run.engine == engine and run.ok]

    def cost(self, engine: str) -> Cost | None:
        return cost_at(self.of(engine), self.goal)

    def best_error(self, engine: str) -> float:
        return min((run.error for run in self.of(engine)), default=math.nan)

    def ratio(self, engine: str) -> float:
        """Run time of an engine over that of jaxmb at the error asked for; NaN where one of them does not get there."""
        theirs, ours = self.cost(engine), self.cost(US)
        return math.nan if theirs is None or ours is None else theirs.run_s / ours.run_s

    def verdict(self, engine: str) -> str:
        """The ratio in words."""
        if engine in self.absent:
            return self.absent[engine]
        theirs = self.cost(engine)
        if theirs is None:
            best = self.best_error(engine)
            return "every run was lost" if math.isnan(best) else f"(best {best:.0e})"
        if math.isnan(self.ratio(engine)):
            return f"{1e3 * theirs.run_s:.1f} ms"
        ratio = self.ratio(engine)
        return f"{'<= ' if theirs.bound else ''}{ratio:{'.0f' if ratio >= 10 else '.2g'}}"


@dataclasses.dataclass(frozen=True)
class PeerBenchmark:
    """The races, in the order in which they were run, and the versions of the engines."""

    races: tuple[Race, ...]
    versions: Mapping[str, str]

    @property
    def engines(self) -> list[str]:
        """All of them, jaxmb first."""
        return list(dict.fromkeys([US, *(engine for race in self.races for engine in race.engines)]))

    def table(self) -> Table:
        """Ratios of run times at equal error."""
        title = "Run times at equal error"
        table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
        table.caption, table.caption_justify = CAPTION, "left"
        peers = [engine for engine in self.engines if engine != US]
        for name in ("problem", "error", "jaxmb ms", *peers):
            table.add_column(name, justify="left" if name == "problem" else "right", overflow="fold")
        for race in self.races:
            ours = race.cost(US)
            mine = race.verdict(US) if ours is None else f"{'<= ' if ours.bound else ''}{1e3 * ours.run_s:.1f}"
            table.add_row(race.key, f"{race.goal:.0e}", mine, *(race.verdict(engine) for engine in peers))
        return table

    def rows(self) -> list[dict]:
        """All numbers, a row for each run."""
        return [{"problem": race.key, **dataclasses.asdict(run)} for race in self.races for run in race.runs]

    def to_csv(self) -> str:
        names = ["problem", *(field.name for field in dataclasses.fields(Run))]
        out = io.StringIO()
        writer = csv.DictWriter(out, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.rows())
        return out.getvalue()

    def to_json(self) -> str:
        problems = {
            race.key: {
                "title": race.title,
                "outputs": list(race.outputs),
                "error": race.goal,
                "run_s": {e: None if (cost := race.cost(e)) is None else cost.run_s for e in race.engines},
                "ratio": {e: _json(race.ratio(e)) for e in race.engines if e != US},
                "absent": dict(race.absent),
            }
            for race in self.races
        }
        runs = [{name: _json(value) for name, value in row.items()} for row in self.rows()]
        return json.dumps({"versions": dict(self.versions), "problems": problems, "runs": runs}, indent=1)


def _json(value):
    """JSON has neither NaN nor infinity."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
