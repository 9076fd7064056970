import json

import numpy as np
import pytest

import jaxmb as mb

from ..models import door, loop_run, pendulum


def test_round_trip_is_exact(tmp_path):
    sol = loop_run()
    sol.save(tmp_path / "run.npz")
    again = mb.load(tmp_path / "run.npz", sol.system)
    for name in ("t", "q", "v", "work", "reached"):
        assert np.array_equal(getattr(again, name), getattr(sol, name))
    assert again.status == sol.status
    assert int(again.stats.steps) == int(sol.stats.steps)
    assert type(again.formulation) is mb.Deflated and again.stabilization == sol.stabilization
    assert np.array_equal(again.lam, sol.lam)
    assert [path.name for path in tmp_path.iterdir()] == ["run.npz"]


def test_what_is_not_a_run_of_the_system_is_refused(tmp_path):
    sol = loop_run()
    path = tmp_path / "run.npz"
    sol.save(path)
    with pytest.raises(mb.ModelError, match="a run of another system"):
        mb.load(path, pendulum())
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(mb.ModelError, match="could not read"):
        mb.load(path, sol.system)
    np.savez(
        path,
        header=np.array(json.dumps({"format": "other"})),
        **{k: np.zeros(1) for k in ("t", "q", "v", "work", "reached")},
    )
    with pytest.raises(mb.ModelError, match="found format 'other'"):
        mb.load(path, sol.system)
    with pytest.raises(mb.ModelError, match="could not read"):
        mb.load(tmp_path / "missing.npz", sol.system)


def test_a_failed_write_leaves_nothing_and_keeps_the_old(tmp_path, monkeypatch):
    sol = loop_run()
    path = tmp_path / "run.npz"
    path.write_bytes(b"old")
    monkeypatch.setattr(np, "savez_compressed", lambda *a, **k: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        sol.save(path)
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["run.npz"]


def test_xarray_has_names_and_units():
    sol = loop_run()
    data = sol.to_xarray()
    assert np.array_equal(data["position"].sel(body="coupler").values, sol.body("coupler").position)
    assert data["position"].attrs["units"] == "m" and data["A.angle"].attrs["units"] == "rad"
    assert np.array_equal(data["A.angle"].values, sol.joint("A").angle)
    assert data.attrs["status"] == "successful"


def test_events_and_modes_survive(tmp_path):
    """A door whose hinge is locked on the way, and unlocked again."""
    system = door(1).with_joints(lock=mb.Driver("hinge0", 0.0))
    state = system.state(omega={"door": (0, 0, 1.0)}, velocity={"door": (0, 0.45, 0)})
    events = {
        "caught": mb.Event(mb.UpperLimit("hinge0", 0.2), mb.Lock("lock")),
        "free": mb.Event(mb.AtTime(0.5), mb.Release("lock")),
    }
    sol = mb.simulate(system, state, t1=1.0, dt_save=0.25, events=events, released=("lock",))
    sol.save(tmp_path / "run.npz")
    again = mb.load(tmp_path / "run.npz", system)
    np.testing.assert_allclose(sol.events.of("caught"), [0.2], atol=1e-7)
    np.testing.assert_array_equal(again.events.times, sol.events.times)
    assert again.events.names == sol.events.names and float(again.end.t) == 1.0
    np.testing.assert_array_equal(again.mode.active[:, -1], [0.0, 1.0, 1.0, 0.0, 0.0])
    np.testing.assert_allclose(again.lam, sol.lam, atol=1e-12)
