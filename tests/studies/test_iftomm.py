"""The IFToMM benchmark: what it runs, and what it makes of it."""

import csv
import json

import numpy as np
import pytest

import jaxmb as mb
from jaxmb.mechanisms import get_mechanism
from jaxmb.studies.iftomm import errors_of, run_iftomm, run_problem, solver_of
from jaxmb.studies.iftomm_problems import PAIRS, PROBLEMS, find_problem
from jaxmb.studies.iftomm_result import Benchmark, Curve


@pytest.fixture(scope="module")
def pendulum():
    """A01 with one explicit solver at two tolerances."""
    problem = PROBLEMS["a01"]
    points = run_problem(problem, {"Dopri8": (1e-5, 1e-9)}, repeats=2)
    curve = Curve("a01", problem.title, problem.kind, problem.outputs, problem.goals, problem.setting, points)
    return Benchmark((curve,))


def test_tighter_is_more_accurate_and_dearer(pendulum):
    loose, tight = pendulum.curves[0].points
    assert loose.ok and tight.ok
    assert (loose.pair, loose.level, tight.level) == ("Dopri8", 1e-5, 1e-9)
    assert tight.error < 1e-3 * loose.error < 1e-6
    assert tight.speed_error < 1e-3 * loose.speed_error
    assert tight.right_hand_sides > loose.right_hand_sides > 0
    assert tight.violation < 1e-10
    assert 0 < loose.run_s < 10 and loose.compile_s >= 0


def test_the_error_is_that_of_the_outputs():
    """Against the difference taken here, from the mass of the pendulum."""
    problem = PROBLEMS["a01"]
    sol, _ = solver_of(problem)("Dopri8", 1e-5)
    exact = get_mechanism("simple-pendulum").read_reference()
    position = np.asarray(sol.q)[:, :2]
    expected = np.max(np.abs(position - np.stack([exact["x"], exact["y"]], axis=1)))
    errors = errors_of(problem)(sol)
    assert errors.position == pytest.approx(expected, rel=1e-9)
    assert errors.violation == pytest.approx(float(np.max(sol.violation.position)), rel=1e-6, abs=1e-16)


def test_files_hold_all_runs(pendulum):
    rows = list(csv.DictReader(pendulum.to_csv().splitlines()))
    assert [row["level"] for row in rows] == ["1e-05", "1e-09"]
    assert {row["problem"] for row in rows} == {"a01"} and {row["status"] for row in rows} == {"successful"}
    content = json.loads(pendulum.to_json())
    assert [run["error"] for run in content["runs"]] == [float(row["error"]) for row in rows]
    # Which of the two is faster is a matter of the machine; which are accurate enough is not.
    fastest = min(pendulum.curves[0].points, key=lambda point: point.run_s)
    assert content["problems"]["a01"]["cheapest"][0] == {"below": 1e-3, "run": fastest.setting}
    assert content["problems"]["a01"]["cheapest"][1] == {"below": 1e-6, "run": "Dopri8, 1e-09"}
    assert content["problems"]["a01"]["cheapest"][2] == {"below": 1e-10, "run": None}


def test_problems_are_complete():
    for key, problem in PROBLEMS.items():
        reference = get_mechanism(problem.mechanism).read_reference()
        assert {*problem.outputs, *problem.speeds} <= set(reference)
        assert set(problem.levels) <= set(PAIRS)
        pair, level = problem.setting
        assert level in problem.levels[pair], f"the documented setting of {key} is not run"
        assert list(problem.goals) == sorted(problem.goals, reverse=True)
        for given in problem.levels.values():
            assert list(given) == sorted(given, reverse=True), "quick takes the first ones, which must be the coarsest"


def test_names_are_checked():
    with pytest.raises(mb.ModelError, match=r"'a02-3', which does not exist\. There are: a01, .* Did you mean 'a02-"):
        find_problem("a02-3")
    with pytest.raises(mb.ModelError, match=r"pair 'Dopri9'\. There are: Dopri8;"):
        run_iftomm(["a01"], pairs=["Dopri9"])
    with pytest.raises(mb.ModelError, match="repeats=0"):
        run_iftomm(["a01"], repeats=0)


def test_quick_takes_the_coarsest_two():
    found = run_iftomm(["a01"], pairs=["Tsit5"], quick=True)
    assert [point.level for point in found.curves[0].points] == list(PROBLEMS["a01"].levels["Tsit5"][:2])
