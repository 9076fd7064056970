"""The runner of the benchmark against other engines: what it measures, and what it does when one of them fails."""

import os
import sys

import numpy as np
import pytest

import jaxmb as mb
from jaxmb.mechanisms import get_mechanism
from jaxmb.peers import PEERS, Method, Model, Outcome, Peer
from jaxmb.studies import peers
from jaxmb.studies.peers import Engine, find_peer, measure, one_core, run_peers, run_race
from jaxmb.studies.peers_problems import PROBLEMS, find_peer_problem
from jaxmb.studies.peers_result import Race

A01 = PROBLEMS["a01"]


def engine(run, *levels, name="other"):
    return Engine(name, (Method("one", levels),), run, 0.25)


def test_engines_run_in_turns():
    order = []

    def run(name):
        def once(method, level):
            order.append((name, level))
            return 1e-3, 0.1

        return once

    found = measure([engine(run("a"), 0.2, 0.1, name="a"), engine(run("b"), 0.5, name="b")], 3, 1.0)
    assert order == [("a", 0.2), ("a", 0.1), ("b", 0.5)] * 3
    assert [each.engine for each in found] == ["a", "a", "b"] and found[0].build_s == 0.25


def test_the_median_counts_and_long_runs_are_not_repeated():
    times = iter([0.5, 0.1, 0.2])
    (short,) = measure([engine(lambda method, level: (1e-3, next(times)), 0.1)], 3, 1.0)
    assert (short.run_s, short.repeats) == (0.2, 3)
    (long,) = measure([engine(lambda method, level: (1e-3, 2 * peers.ENOUGH), 0.1)], 3, 1.0)
    assert long.repeats == 1


def test_what_fails_is_reported_and_the_others_run():
    def run(method, level):
        if level == 0.4:
            raise RuntimeError("out of breath\nand a page of advice")
        return {0.3: float("nan"), 0.2: 0.5, 0.1: 1e-3}[level], 0.1

    found = measure([engine(run, 0.4, 0.3, 0.2, 0.1)], 2, 2.0)
    assert [each.reason for each in found] == [
        "It stopped: out of breath",
        "It did not come to its end.",
        "It lost the motion: an error of 5.0e-01 m in a range of 2.0e+00 m.",
        "",
    ]
    assert [each.repeats for each in found] == [0, 1, 1, 2], "what failed is not repeated"


def _ours(problem):
    return Engine("jaxmb", (Method("Dopri8", (1e-6,), fixed=False),), lambda method, level: (1e-8, 0.1), 1.0)


def _exact(ts):
    """An engine that knows the answer up to 1e-5."""
    reference = get_mechanism("simple-pendulum").read_reference()
    outputs = np.stack([reference["x"], reference["y"]], 1)
    outputs[50, 1] += 1e-5
    return Model((Method("one", (0.1,)),), lambda method, level: Outcome(outputs, 0.3))


def _broken(ts):
    raise ValueError("no such joint")


def test_a_race_measures_all_outputs_at_all_times(monkeypatch):
    monkeypatch.setattr(peers, "jaxmb_engine", _ours)
    others = {
        "exact": Peer("exact", "math", "exact", {"a01": _exact}),
        "broken": Peer("broken", "math", "broken", {"a01": _broken}),
        "other": Peer("other", "math", "other", {}, {"a01": "it has no joints"}),
        "gone": Peer("gone", "gone", "gone", {"a01": _exact}),
    }
    found = run_race("a01", A01, others, {"gone": "not installed: pip install gone"})
    assert [run.error for run in found.of("exact")] == [pytest.approx(1e-5)]
    assert found.absent == {
        "gone": "not installed: pip install gone",
        "broken": "its model was not built: no such joint",
        "other": "no model: it has no joints",
    }


@pytest.mark.parametrize("name", ["exudyn", "mujoco", "pinocchio"])
def test_an_engine_that_is_not_installed_is_reported_with_its_pip_line(name, monkeypatch):
    monkeypatch.setitem(sys.modules, PEERS[name].module, None)  # which is what makes an import fail
    monkeypatch.setattr(peers, "jaxmb_engine", _ours)
    found = run_peers(["a01"], engines=[name], quick=True)
    assert found.races[0].absent[name].endswith(f": pip install {PEERS[name].package}")
    assert list(found.versions) == ["jaxmb"]
    assert [run.engine for run in found.races[0].runs] == ["jaxmb"]


def test_jaxmb_and_scipy_on_the_pendulum():
    """The whole way, with jaxmb compiled: both reach the error asked for."""
    found = run_peers(["a01"], engines=["scipy"], quick=True)
    race = found.races[0]
    assert race.absent == {} and race.ratio("scipy") > 0
    assert race.best_error("jaxmb") < 1e-10 and race.best_error("scipy") < 1e-10
    assert race.of("jaxmb")[0].build_s > 0.1, "compilation is counted apart"


def test_quick_leaves_long_problems_out(monkeypatch):
    monkeypatch.setattr(peers, "run_race", lambda key, *more: Race(key, key, (), 1.0, (), {}))
    found = run_peers(quick=True, engines=["scipy"])
    assert [race.key for race in found.races] == [
        "a01",
        "a02-2",
        "a03",
        "a04",
        "mcpherson-simplified",
        "mcpherson-overconstrained",
    ]


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="this system does not pin")
def test_one_core_is_given_back():
    before = os.sched_getaffinity(0)
    with one_core():
        assert len(os.sched_getaffinity(0)) == 1
    assert os.sched_getaffinity(0) == before


def test_names_are_checked():
    with pytest.raises(mb.ModelError, match=r"'a02-1', which does not exist\. There are: a01, .* Did you mean 'a02-"):
        find_peer_problem("a02-1")
    with pytest.raises(mb.ModelError, match=r"engine 'mujco', which does not exist.* Did you mean 'mujoco'"):
        find_peer("mujco")
    with pytest.raises(mb.ModelError, match="repeats=0"):
        run_peers(["a01"], repeats=0)
