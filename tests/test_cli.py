import csv
import sys

import pytest
from typer.testing import CliRunner

import jaxmb as mb
from jaxmb import cli
from jaxmb.mechanisms import MECHANISMS

runner = CliRunner()


def test_lists():
    shown = runner.invoke(cli.app, ["mechanisms"], env={"COLUMNS": "200"})
    assert shown.exit_code == 0 and all(name in shown.output for name in MECHANISMS)
    shown = runner.invoke(cli.app, ["formulations"], env={"COLUMNS": "200"})
    assert shown.exit_code == 0
    assert all(cli.kebab(type(f).__name__) in shown.output for f in mb.ALL_FORMULATIONS)


def test_names_are_kebab_case():
    names = {"UdwadiaKalaba": "udwadia-kalaba", "KKT": "kkt", "KKTPinv": "kkt-pinv", "LeastSquares1": "least-squares1"}
    assert {name: cli.kebab(name) for name in names} == names


@pytest.mark.parametrize(
    ("arguments", "phrase"),
    [
        (["compare", "mcphersen-simplified"], "Did you mean 'mcpherson-simplified'?"),
        (["compare", "bricard", "--formulations", "udwadia-kalabra"], "Did you mean 'udwadia-kalaba'?"),
        (["compare", "bricard", "--stabilizations", "baumgart"], "Did you mean 'baumgarte'?"),
    ],
)
def test_a_typo_is_one_sentence_and_exit_code_2(arguments, phrase, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["jaxmb", *arguments])
    monkeypatch.setenv("COLUMNS", "1000")
    with pytest.raises(SystemExit) as caught:
        cli.main()
    assert caught.value.code == 2
    assert phrase.replace(" ", "") in capsys.readouterr().err.replace(" ", "").replace("\n", "")


def test_compare_writes_what_it_shows(tmp_path):
    arguments = [
        "compare",
        "simple-pendulum",
        "--t1",
        "0.5",
        "--formulations",
        "udwadia-kalaba",
        "--stabilizations",
        "projection",
    ]
    shown = runner.invoke(
        cli.app, [*arguments, "--repeats", "1", "--csv", str(tmp_path / "out.csv")], env={"COLUMNS": "160"}
    )
    assert shown.exit_code == 0, shown.output
    assert "UdwadiaKalaba" in shown.output and "Compilation" in shown.output
    (cell,) = csv.DictReader((tmp_path / "out.csv").read_text().splitlines())
    assert cell["status"] == "successful" and float(cell["error"]) < 1e-4


@pytest.mark.slow
def test_main_job():
    """The command of the README, as it is printed there."""
    shown = runner.invoke(cli.app, ["compare", "mcpherson-overconstrained", "--repeats", "1"], env={"COLUMNS": "160"})
    assert shown.exit_code == 0, shown.output
    for name in ("Deflated", "UdwadiaKalaba", "Baumgarte", "KKT: redundant"):
        assert name in shown.output
