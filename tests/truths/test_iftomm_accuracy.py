"""The documented settings of the IFToMM problems reach the errors they are documented for."""

import pytest

from jaxmb.studies.iftomm import errors_of, run_setting, solver_of
from jaxmb.studies.iftomm_problems import PROBLEMS

#: What each setting must reach (m): the numbers that were asked for, not those of the table that is tested.
ASKED = {
    "a01": 1e-10,
    "a02-1": 1e-7,
    "a02-2": 1e-7,
    "a02-10": 1e-7,
    "a02-40": 1e-7,
    "a03": 1e-10,
    "a04": 1e-9,
    "a05": 1e-8,
}
QUICK = ("a01", "a02-1", "a03", "a04")


def test_every_problem_is_asked_for():
    assert {key: problem.goals[-1] for key, problem in PROBLEMS.items()} == ASKED


@pytest.mark.parametrize("key", [key if key in QUICK else pytest.param(key, marks=pytest.mark.slow) for key in ASKED])
def test_documented_setting(key):
    """A02 goes through all its singular configurations, ten in 10 s. Speeds (m/s) were not asked for; those of A01, A04 and A05
    are as good, and those of A02, which turns at up to 7 rad/s, a few times worse."""
    sol, errors = run_setting(PROBLEMS[key])
    assert bool(sol.ok), sol.message
    assert errors.position <= ASKED[key]
    assert errors.violation < 1e-10
    if key != "a03":  # its crank turns at 300 rad/s
        assert errors.speed <= (10 if key.startswith("a02") else 1) * ASKED[key]


@pytest.mark.slow
def test_tighter_tolerances_pass_as_well():
    """Smaller steps come nearer to the singular configuration. With constraints let go as early as a run that stops there does
    it, the errors are 3e-7 to 8e-7; much later, rounding makes them as large."""
    problem = PROBLEMS["a02-2"]
    solve, measure = solver_of(problem), errors_of(problem)
    for tolerance in (1e-10, 1e-11, 1e-12):
        sol, _ = solve("Dopri8", tolerance)
        assert measure(sol).position < 5e-8
