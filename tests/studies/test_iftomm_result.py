"""What is chosen, on made-up runs."""

import io
import json

from rich.console import Console

from jaxmb.studies.iftomm_result import Benchmark, Curve, Point, cheapest

NAN = float("nan")


def point(pair, level, error, run_s, status="successful", fixed=False, right_hand_sides=100):
    return Point(pair, level, fixed, status, "", error, 10 * error, 1e-15, right_hand_sides, 10, 1, run_s, 1.0)


POINTS = (
    point("slow", 1e-6, 1e-4, 0.5),
    point("fast", 1e-6, 2e-3, 0.001),
    point("fast", 1e-8, 1e-5, 0.02),
    point("broken", 1e-8, NAN, NAN, status="max_steps"),
    point("exact", 1e-9, 1e-9, 2.0),
    point("steps", 1e-3, 5e-4, 0.03, fixed=True),
)
CURVE = Curve("made-up", "Made up", "smooth", ("x",), (1e-3, 1e-6, 1e-12), ("exact", 1e-9), POINTS)


def test_the_cheapest_run_is_the_fastest_that_is_accurate_enough():
    assert cheapest(POINTS, 1e-2) is POINTS[1]
    assert cheapest(POINTS, 1e-3) is POINTS[2]
    assert cheapest(POINTS, 1e-5) is POINTS[2], "an error of exactly the one asked for is small enough"
    assert cheapest(POINTS, 9e-6) is POINTS[4]
    assert cheapest(POINTS, 1e-12) is None


def test_the_cheapest_by_evaluations():
    few = point("few", 1e-6, 1e-4, 9.0, right_hand_sides=50)
    silent = point("silent", 1e-6, 1e-4, 0.1, right_hand_sides=-1)
    assert cheapest((*POINTS, few, silent), 1e-3, "right_hand_sides") is few, "not one that does not say"


def test_a_curve_knows_its_pairs():
    assert CURVE.pairs == ["slow", "fast", "broken", "exact", "steps"]
    assert CURVE.of("fast") == list(POINTS[1:3]) and CURVE.of("broken") == []
    assert CURVE.documented is POINTS[4]


def test_the_table_names_the_cheapest_and_the_next():
    console = Console(width=160, file=io.StringIO())
    console.print(Benchmark((CURVE,)).table())
    lines = console.file.getvalue().splitlines()  # pyright: ignore[reportAttributeAccessIssue]
    first = next(line for line in lines if "made-up" in line)
    assert "fast, 1e-08" in first and "steps, step 1e-03 s" in first and "1.5" in first
    assert sum("none" in line for line in lines) == 1


def test_failed_runs_are_null_in_json():
    runs = json.loads(Benchmark((CURVE,)).to_json())["runs"]
    assert runs[3]["error"] is None and runs[3]["run_s"] is None and runs[3]["status"] == "max_steps"
