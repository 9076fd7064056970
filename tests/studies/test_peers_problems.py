"""The problems of the benchmark against other engines."""

import numpy as np

from jaxmb.mechanisms import get_mechanism
from jaxmb.peers import PEERS
from jaxmb.studies.peers_problems import LONG, PROBLEMS


def test_problems_have_a_pair_and_a_reference():
    for key, problem in PROBLEMS.items():
        reference = get_mechanism(problem.problem.mechanism).read_reference()
        assert set(problem.problem.outputs) <= set(reference), key
        assert list(problem.levels) == sorted(problem.levels, reverse=True)
        assert np.allclose(np.diff(reference["t"]), reference["t"][1]), "models take equally spaced times"
    assert PROBLEMS["a05"].pair == "Radau" and PROBLEMS["a02-40"].problem.singular == "pass"
    assert set(LONG) < set(PROBLEMS)


def test_every_engine_has_a_model_or_says_why_not():
    for peer in PEERS.values():
        assert set(peer.models) | set(peer.without) == set(PROBLEMS), peer.name
