"""What the IFToMM benchmark found: curves of error over cost, and the cheapest run below each error."""

import csv
import dataclasses
import io
import json
import math
from collections.abc import Iterable

from rich import box
from rich.table import Table

CAPTION = (
    "Cheapest: shortest run time (median, after compilation) among the runs with an error of at most the one asked for. error: "
    "largest difference of the outputs to the trusted trajectory (m); RHS: evaluations of the right-hand side, with the columns "
    "of Jacobians; times: how many times as long the next one takes."
)


@dataclasses.dataclass(frozen=True)
class Point:
    """One run: a pair at one level. Numbers are NaN where the run failed."""

    pair: str
    level: float
    """Relative and absolute tolerance, or the step (s) of a method with fixed steps."""
    fixed: bool
    status: str
    reason: str
    """Why it failed, in a sentence; empty for a run that did not."""
    error: float
    """Largest difference to the trusted trajectory over outputs and times (m)."""
    speed_error: float
    """The same of their rates (m/s)."""
    violation: float
    """Largest |Phi|."""
    right_hand_sides: int
    """With the columns of Jacobians; -1 where the solver does not say."""
    steps: int
    rejected: int
    run_s: float
    """Median wall time of a run after compilation."""
    compile_s: float

    @property
    def ok(self) -> bool:
        return self.status == "successful"

    @property
    def setting(self) -> str:
        """Pair and level, in words."""
        return f"{self.pair}, {self.level_text}"

    @property
    def level_text(self) -> str:
        return f"step {self.level:.0e} s" if self.fixed else f"{self.level:.0e}"


@dataclasses.dataclass(frozen=True)
class Curve:
    """The runs of one problem."""

    key: str
    title: str
    kind: str
    outputs: tuple[str, ...]
    goals: tuple[float, ...]
    """Errors (m) asked for, the documented one last."""
    setting: tuple[str, float]
    """The documented pair and tolerance for the last of them."""
    points: tuple[Point, ...]

    @property
    def pairs(self) -> list[str]:
        return list(dict.fromkeys(point.pair for point in self.points))

    def of(self, pair: str) -> list[Point]:
        """The runs of a pair that came to their end."""
        return [point for point in self.points if point.pair == pair and point.ok]

    @property
    def documented(self) -> Point | None:
        """The run of the documented setting, if it is among these."""
        return next((p for p in self.points if (p.pair, p.level) == self.setting), None)


def cheapest(points: Iterable[Point], goal: float, by: str = "run_s") -> Point | None:
    """The run of least `by` ("run_s" or "right_hand_sides") with an error of at most `goal` (m); None if there is none."""
    counted = (p for p in points if p.ok and p.error <= goal and getattr(p, by) > 0)
    return min(counted, key=lambda p: getattr(p, by), default=None)


@dataclasses.dataclass(frozen=True)
class Benchmark:
    """The curves, in the order in which they were run."""

    curves: tuple[Curve, ...]

    def table(self) -> Table:
        """For each problem and error the cheapest run, and the cheapest of another pair."""
        title = "IFToMM A01 to A05: the cheapest run below each error"
        table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
        table.caption, table.caption_justify = CAPTION, "left"
        for name in ("problem", "below", "cheapest", "error", "RHS", "run ms", "next", "times"):
            words = name in ("problem", "cheapest", "next")
            table.add_column(name, justify="left" if words else "right", no_wrap=name != "next")
        for curve in self.curves:
            for k, goal in enumerate(curve.goals):
                best = cheapest(curve.points, goal)
                key = curve.key if k == 0 else ""
                if best is None:
                    table.add_row(key, f"{goal:.0e}", "[yellow]none[/yellow]", *[""] * 5)
                    continue
                other = cheapest((p for p in curve.points if p.pair != best.pair), goal)
                following = ["-", ""] if other is None else [other.setting, f"{other.run_s / best.run_s:.1f}"]
                numbers = [f"{best.error:.0e}", count(best), f"{1e3 * best.run_s:.1f}"]
                table.add_row(key, f"{goal:.0e}", best.setting, *numbers, *following)
            table.add_section()
        return table

    def rows(self) -> list[dict]:
        """All numbers, a row for each run."""
        return [{"problem": curve.key, **dataclasses.asdict(point)} for curve in self.curves for point in curve.points]

    def to_csv(self) -> str:
        rows = self.rows()
        out = io.StringIO()
        writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return out.getvalue()

    def to_json(self) -> str:
        runs = [{name: _json(value) for name, value in row.items()} for row in self.rows()]
        found = {
            curve.key: {
                "title": curve.title,
                "outputs": list(curve.outputs),
                "cheapest": [
                    {"below": goal, "run": None if (best := cheapest(curve.points, goal)) is None else best.setting}
                    for goal in curve.goals
                ],
            }
            for curve in self.curves
        }
        return json.dumps({"problems": found, "runs": runs}, indent=1)


def count(point: Point) -> str:
    return str(point.right_hand_sides) if point.right_hand_sides >= 0 else "-"


def _json(value):
    """JSON has neither NaN nor infinity."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
