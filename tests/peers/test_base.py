"""What the benchmark asks of another engine."""

import sys

import numpy as np
import pytest

from jaxmb.peers import PEERS, Peer
from jaxmb.peers.base import steps_between


def test_what_cannot_be_imported_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pinocchio", None)  # which is what makes an import fail
    assert PEERS["pinocchio"].missing().endswith("pip install pin"), "the package is not called as the module"
    assert PEERS["scipy"].missing() == ""
    assert Peer("nobody", "nobody_has_this", "nobody", {}).missing().endswith("pip install nobody")


def test_fixed_steps_divide_the_time_between_outputs():
    ts = np.linspace(0.0, 10.0, 101)
    assert steps_between(ts, 0.1) == 1 and steps_between(ts, 2.5e-4) == 400
    for step in (0.03, 0.2):
        with pytest.raises(ValueError, match=f"A step of {step} s does not divide the 0.1 s"):
            steps_between(ts, step)


@pytest.mark.parametrize("name", PEERS)
def test_names_are_those_of_the_table(name):
    assert PEERS[name].name == name
