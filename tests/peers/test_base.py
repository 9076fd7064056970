"""What the benchmark asks of another engine."""

import sys

import numpy as np
import pytest

from jaxmb.peers import PEERS, Peer
from jaxmb.peers.base import steps_between


def test_what_cannot_be_imported_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pinocchio", None)  # which is what makes an import fail
    assert PEERS["pinocchio"].missing() == "not installed: pip install pin", "not the module's name"
    assert PEERS["scipy"].missing() == ""
    assert Peer("nobody", "nobody_has_this", "nobody", {}).missing().endswith("pip install nobody")


def test_a_library_that_is_missing_is_named(tmp_path, monkeypatch):
    (tmp_path / "halfway.py").write_text("import nobody_has_this\n")
    (tmp_path / "broken.py").write_text("raise ImportError('libsomething.so: cannot open')\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert (
        Peer("a", "halfway", "half", {}).missing() == "not installed, as nobody_has_this is missing: pip install half"
    )
    assert Peer("a", "broken", "b", {}).missing() == "cannot be imported (libsomething.so: cannot open): pip install b"


def test_fixed_steps_divide_the_time_between_outputs():
    ts = np.linspace(0.0, 10.0, 101)
    assert steps_between(ts, 0.1) == 1 and steps_between(ts, 2.5e-4) == 400
    for step in (0.03, 0.2):
        with pytest.raises(ValueError, match=f"A step of {step} s does not divide the 0.1 s"):
            steps_between(ts, step)


@pytest.mark.parametrize("name", PEERS)
def test_names_are_those_of_the_table(name):
    assert PEERS[name].name == name
