"""`jaxmb bench`."""

import csv
import json
import sys

import pytest
from typer.testing import CliRunner

from jaxmb import cli
from jaxmb.studies import iftomm
from jaxmb.studies.peers_result import PeerBenchmark, Race, Run

runner = CliRunner()


def test_iftomm_writes_what_it_shows(tmp_path, monkeypatch):
    """With one pair only: each costs a compilation."""
    monkeypatch.setattr(cli, "run_iftomm", lambda *args, **more: iftomm.run_iftomm(*args, pairs=["Dopri8"], **more))
    files = {name: tmp_path / f"found.{name}" for name in ("out", "json", "csv", "markdown")}
    arguments = ["bench", "iftomm", "--problems", "a01", "--quick"]
    for name, path in files.items():
        arguments += [f"--{name}", str(path)]
    shown = runner.invoke(cli.app, arguments, env={"COLUMNS": "160"})
    assert shown.exit_code == 0, shown.output
    assert "A01 simple pendulum" in shown.output and "cheapest" in shown.output
    assert len(list(csv.DictReader(files["csv"].read_text().splitlines()))) == 2
    assert list(json.loads(files["json"].read_text())["problems"]) == ["a01"]
    assert files["out"].read_text().startswith("<!doctype html>")
    assert "## Which pair to use when" in files["markdown"].read_text()


@pytest.mark.parametrize(
    ("arguments", "phrase"),
    [
        (["--problems", "a01,a6"], "problem 'a6', which does not exist. There are: a01, a02-1"),
        (["--problems", "a01", "--csv", "nowhere/found.csv"], "nowhere"),
    ],
)
def test_mistakes_are_told_before_anything_runs(arguments, phrase, monkeypatch, capsys):
    monkeypatch.setattr(cli, "run_iftomm", lambda *args, **more: pytest.fail("ran"))
    monkeypatch.setattr(sys, "argv", ["jaxmb", "bench", "iftomm", *arguments])
    monkeypatch.setenv("COLUMNS", "1000")
    with pytest.raises(SystemExit) as caught:
        cli.main()
    assert caught.value.code == 2
    assert phrase.replace(" ", "") in capsys.readouterr().err.replace(" ", "").replace("\n", "")


def test_help_has_an_example():
    shown = runner.invoke(cli.app, ["bench", "iftomm", "--help"], env={"COLUMNS": "160"})
    assert "Example: jaxmb bench iftomm --problems" in shown.output


def test_peers_writes_what_it_shows(tmp_path, monkeypatch):
    """Without a compilation: what it runs is tested elsewhere."""
    ours = Run("jaxmb", "Dopri8", 1e-6, False, 1e-8, 0.01, 1.0, 3)
    theirs = Run("scipy", "DOP853", 1e-8, False, 1e-7, 0.02, 0.1, 3)
    race = Race("a01", "A01 simple pendulum", ("x", "y"), 1e-7, (ours, theirs), {"mujoco": "pip install mujoco"})
    asked = {}

    def run(problems, **more):
        asked.update(problems=problems, **more)
        return PeerBenchmark((race,), {"jaxmb": "0.1"})

    monkeypatch.setattr(cli, "run_peers", run)
    files = {name: tmp_path / f"found.{name}" for name in ("out", "json", "csv", "markdown")}
    arguments = ["bench", "peers", "--problems", "a01, a04", "--engines", "scipy,mujoco", "--quick", "--repeats", "2"]
    for name, path in files.items():
        arguments += [f"--{name}", str(path)]
    shown = runner.invoke(cli.app, arguments, env={"COLUMNS": "160"})
    assert shown.exit_code == 0, shown.output
    assert asked == {
        "problems": ["a01", "a04"], "engines": ["scipy", "mujoco"], "repeats": 2, "quick": True, "progress": True,
    }  # fmt: skip
    assert "pip install mujoco" in shown.output and "<= 10.0" in shown.output
    assert len(list(csv.DictReader(files["csv"].read_text().splitlines()))) == 2
    assert json.loads(files["json"].read_text())["problems"]["a01"]["ratio"]["scipy"] == 2.0
    assert files["out"].read_text().startswith("<!doctype html>")
    assert "## Run times at equal error" in files["markdown"].read_text()


@pytest.mark.parametrize(
    ("arguments", "phrase"),
    [
        (["--problems", "a01,a02"], "problem 'a02', which does not exist. There are: a01, a02-2"),
        (
            ["--engines", "scipy,drake"],
            "engine 'drake', which does not exist. There are: exudyn, mujoco, pinocchio, scipy.",
        ),
        (["--problems", "a01", "--json", "nowhere/found.json"], "nowhere"),
    ],
)
def test_mistakes_in_peers_are_told_before_anything_runs(arguments, phrase, monkeypatch, capsys):
    monkeypatch.setattr(cli, "run_peers", lambda *args, **more: pytest.fail("ran"))
    monkeypatch.setattr(sys, "argv", ["jaxmb", "bench", "peers", *arguments])
    monkeypatch.setenv("COLUMNS", "1000")
    with pytest.raises(SystemExit) as caught:
        cli.main()
    assert caught.value.code == 2
    assert phrase.replace(" ", "") in capsys.readouterr().err.replace(" ", "").replace("\n", "")


def test_help_of_peers_has_an_example():
    shown = runner.invoke(cli.app, ["bench", "peers", "--help"], env={"COLUMNS": "160"})
    assert "Example: jaxmb bench peers --problems" in shown.output
