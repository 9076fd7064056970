"""Ratios at equal error, from made-up curves."""

import csv
import json
import math

import pytest

from jaxmb.studies.peers_result import Cost, PeerBenchmark, Race, Run, cost_at, envelope

NAN = float("nan")


def run(error, run_s, engine="other", method="one", reason=""):
    return Run(engine, method, 1e-3, True, error, run_s, 0.5, 3, reason)


#: Of order 2: a tenth of the step takes ten times as long and has a hundredth of the error.
SECOND_ORDER = [run(1e-2, 1.0), run(1e-4, 10.0), run(1e-6, 100.0)]


def race(*runs, goal=1e-4, absent=None):
    return Race("a09", "A09 made up", ("x",), goal, runs, absent or {})


def test_between_two_runs_the_line_is_straight_in_logarithms():
    assert cost_at(SECOND_ORDER, 1e-3).run_s == pytest.approx(math.sqrt(10))
    assert not cost_at(SECOND_ORDER, 1e-3).bound
    assert cost_at(SECOND_ORDER, 3e-6).run_s == pytest.approx(10 * math.sqrt(100 / 3))


def test_a_run_is_on_its_own_curve():
    for each in SECOND_ORDER:
        found = cost_at(SECOND_ORDER, each.error)
        assert found.run_s == pytest.approx(each.run_s) and not found.bound


def test_nothing_is_extrapolated():
    assert cost_at(SECOND_ORDER, 0.99e-6) is None, "its best error is above the one asked for"
    assert cost_at(SECOND_ORDER, 1.0) == Cost(1.0, bound=True), "no run is cheaper than the cheapest"
    assert cost_at([], 1.0) is None
    assert cost_at([run(1e-3, 2.0)], 1e-3) == Cost(2.0)
    assert cost_at([run(0.0, 2.0)], 1e-3) == Cost(2.0, bound=True)
    assert cost_at([run(1e-2, 1.0), run(0.0, 2.0)], 1e-3) == Cost(2.0, bound=True), "zero has no logarithm"


def test_what_another_run_beats_is_not_on_the_envelope():
    slow_and_bad, equal = run(1e-3, 50.0), run(1e-4, 11.0)
    assert envelope([slow_and_bad, *SECOND_ORDER[::-1], equal]) == SECOND_ORDER
    assert cost_at([*SECOND_ORDER, slow_and_bad], 1e-5).run_s == pytest.approx(10 * math.sqrt(10))
    same_time = [run(1e-2, 1.0), run(1e-3, 1.0)]
    assert envelope(same_time) == same_time[1:]


def test_lost_runs_do_not_count():
    lost = run(1e-9, 0.001, reason="It lost the motion.")
    assert envelope([lost, *SECOND_ORDER]) == SECOND_ORDER
    assert cost_at([lost], 1.0) is None
    assert cost_at([run(NAN, NAN, reason="It stopped."), *SECOND_ORDER], 1e-4).run_s == pytest.approx(10.0)


def test_methods_are_not_mixed_and_the_cheapest_counts():
    """A line between two methods would be one that nobody can run."""
    rough, exact = run(1e-2, 1.0, method="rough"), run(1e-8, 1.1, method="exact")
    assert cost_at([rough, exact], 1e-5) == Cost(1.1, bound=True)
    quicker = [run(1e-3, 0.2, method="two"), run(1e-5, 2.0, method="two")]
    assert cost_at([*SECOND_ORDER, *quicker], 1e-4).run_s == pytest.approx(0.2 * math.sqrt(10))


OURS = [run(1e-3, 0.01, "jaxmb"), run(1e-5, 0.1, "jaxmb")]


def test_ratios_above_one_are_where_jaxmb_is_faster():
    found = race(*OURS, *SECOND_ORDER)
    assert found.ratio("other") == pytest.approx(10 / math.sqrt(0.001))
    assert found.ratio("jaxmb") == pytest.approx(1.0)
    assert found.verdict("other") == "316"


def test_verdicts_say_why_there_is_no_ratio():
    lost = run(0.5, 1.0, "lost", reason="It lost the motion.")
    rough = run(1e-3, 1.0, "rough")
    found = race(*OURS, lost, rough, absent={"gone": "not installed: pip install gone"})
    assert found.engines == ["jaxmb", "lost", "rough", "gone"]
    assert [found.verdict(name) for name in found.engines[1:]] == [
        "every run was lost",
        "(best 1e-03)",
        "not installed: pip install gone",
    ]
    assert math.isnan(found.ratio("rough")) and math.isnan(found.ratio("gone"))
    assert race(*OURS, run(1e-7, 0.1, "exact")).verdict("exact") == f"<= {0.1 / math.sqrt(0.001):.2g}"
    assert race(*OURS, *SECOND_ORDER, goal=1e-6).verdict("other") == "100000.0 ms", "jaxmb does not get there"


def test_tables_and_files_have_the_same_numbers():
    lost = run(NAN, NAN, "lost", reason="It stopped: why")
    found = PeerBenchmark((race(*OURS, *SECOND_ORDER, lost, absent={"gone": "no model"}),), {"jaxmb": "0.1"})
    assert found.engines == ["jaxmb", "other", "lost", "gone"]
    assert [str(column.header) for column in found.table().columns][3:] == ["other", "lost", "gone"]
    assert [next(iter(column.cells)) for column in found.table().columns] == [
        "a09", "1e-04", "31.6", "316", "every run was lost", "no model",
    ]  # fmt: skip
    rows = list(csv.DictReader(found.to_csv().splitlines()))
    assert len(rows) == 6 and rows[-1]["reason"] == "It stopped: why" and rows[0]["problem"] == "a09"
    loaded = json.loads(found.to_json())
    assert loaded["problems"]["a09"]["ratio"] == {"other": pytest.approx(316.2278), "lost": None, "gone": None}
    assert loaded["problems"]["a09"]["absent"] == {"gone": "no model"}
    assert loaded["runs"][-1]["error"] is None
    assert PeerBenchmark((), {}).to_csv().startswith("problem,engine,method,level")
