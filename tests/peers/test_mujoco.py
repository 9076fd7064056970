"""The models in MuJoCo reach the trusted trajectories, where it is installed (the extra `bench`)."""

import os

import pytest

from jaxmb.peers.mujoco import MUJOCO

from .errors import error_of

pytest.importorskip("mujoco")


@pytest.mark.parametrize(
    ("key", "level", "error"),
    [
        ("a01", 0.002, 1e-9),
        ("a02-2", 1e-3, 2e-3),
        ("a02-10", 2e-3, 5e-3),
        ("a03", 2.5e-5, 1e-7),
        ("a04", 0.005, 2e-6),
        ("a05", 2.5e-4, 1e-9),
        ("mcpherson-simplified", 0.002, 5e-6),
        ("mcpherson-overconstrained", 0.005, 5e-5),
    ],
)
def test_it_reaches_the_reference(key, level, error):
    assert error_of(MUJOCO, key, "RK4", level) < error


def test_an_instability_is_an_outcome_and_leaves_no_file(tmp_path, monkeypatch):
    """It would start again from its first pose, and write a file where one happens to be."""
    monkeypatch.chdir(tmp_path)
    assert not error_of(MUJOCO, "a05", "RK4", 5e-4) < 1.0
    assert os.listdir(tmp_path) == []
