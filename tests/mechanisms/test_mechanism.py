"""What the catalog knows of a mechanism."""

import dataclasses

import numpy as np
import pytest

import jaxmb as mb
from jaxmb.mechanisms import MECHANISMS, Mechanism, get_mechanism


def test_is_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        get_mechanism("bricard").t1 = 1.0  # pyright: ignore


def test_build_changes_parameters():
    mechanism = get_mechanism("four-bar-case-2")
    system, state = mechanism.build(theta1=1.2)
    np.testing.assert_allclose(state.q[2], 1.2)
    np.testing.assert_allclose(system.joint("D").ports[0].frame.p, (1.9, 0, 0))


@pytest.mark.parametrize("name", [name for name, mechanism in MECHANISMS.items() if mechanism.reference])
def test_reference(name):
    columns = MECHANISMS[name].read_reference()
    t = columns["t"]
    assert t[0] == 0 and t[-1] == MECHANISMS[name].t1 and np.all(np.diff(t) > 0)
    assert all(np.all(np.isfinite(x)) and x.shape == t.shape for x in columns.values())


def test_every_file_is_used():
    """But for the static example, which is no motion."""
    from importlib import resources

    files = {file.name for file in (resources.files("jaxmb.mechanisms") / "reference").iterdir()}
    used = {mechanism.reference for mechanism in MECHANISMS.values()} - {None}
    assert files - used == {"README.md", "static_mpc.csv"}
    assert not used - files


def test_without_reference():
    with pytest.raises(mb.ModelError, match=r"'double-pendulum-gravity' has no reference trajectory. Compare it with"):
        get_mechanism("double-pendulum-gravity").read_reference()


def test_is_exported():
    assert isinstance(get_mechanism("bricard"), Mechanism)


def test_coordinates_of_a_build():
    system, state = get_mechanism("bricard").build(coordinates=get_mechanism("bricard").published)
    assert {type(kind).__name__ for kind in system.coordinates.values()} == {"EulerParameters"}
    assert state.v.size == 35
    with pytest.raises(mb.ModelError, match="'scotch-yoke' is written in generalised coordinates of its own"):
        get_mechanism("scotch-yoke").build(coordinates=mb.Planar())
