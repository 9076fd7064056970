import csv
import json
import sys

import pytest
from typer.testing import CliRunner

import jaxmb as mb
from jaxmb import cli
from jaxmb.mechanisms import MECHANISMS
from jaxmb.papers import PAPERS, Paper
from jaxmb.view.report import Claims, Report, claim

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
        (["compare", "bricard", "--coordinates", "euler-angels"], "Did you mean 'euler-angles'?"),
        (["compare", "bricard", "--solvers", "dopri6"], "There are: dopri5, tsit5, dopri8, bosh3."),
        (
            ["compare", "bricard", "--tolerances", "1e-3;1e-6"],
            "Give positive numbers with commas between, as 1e-3,1e-6.",
        ),
        (["compare", "bricard", "--tolerances", "-1"], "Give positive numbers"),
        (["compare", "static-multipoint"], "which is a static problem"),
        (["paper", "kbf"], "Did you mean 'kbe'?"),
        (["check", "bricart"], "Did you mean 'bricard'?"),
        (["check", "scotch-yoke"], "written in generalized coordinates and has no joints"),
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
    arguments = ["compare", "simple-pendulum", "--t1", "0.5", "--formulations", "udwadia-kalaba"]
    arguments += ["--stabilizations", "projection", "--tolerances", "1e-4,1e-6", "--coordinates", "published"]
    files = {kind: tmp_path / f"out.{kind}" for kind in ("csv", "json", "html")}
    for kind, path in files.items():
        arguments += [f"--{kind}", str(path)]
    shown = runner.invoke(cli.app, [*arguments, "--repeats", "1"], env={"COLUMNS": "160"})
    assert shown.exit_code == 0, shown.output
    assert "UdwadiaKalaba" in shown.output and "Compilation" in shown.output
    loose, tight = csv.DictReader(files["csv"].read_text().splitlines())
    assert loose["status"] == tight["status"] == "successful"
    assert float(tight["error"]) < float(loose["error"]) < 1e-2
    assert [cell["tolerance"] for cell in json.loads(files["json"].read_text())["cells"]] == [1e-4, 1e-6]
    assert "<h2>Error over cost, PointMass(True), Dopri5</h2>" in files["html"].read_text()


def test_paper_writes_a_page_and_shows_verdicts(tmp_path, monkeypatch):
    report = Report("A paper", (Claims([claim("It holds", True, "1.0"), claim("It does not", False, "2.0")]),))
    monkeypatch.setitem(PAPERS, "pf", Paper("pf", "A paper", lambda progress: report))
    monkeypatch.chdir(tmp_path)
    shown = runner.invoke(cli.app, ["paper", "pf", "--markdown", "pf.md"], env={"COLUMNS": "160"})
    assert shown.exit_code == 0, shown.output
    assert "does not hold" in shown.output and "2.0" in shown.output
    assert (tmp_path / "pf.html").read_text() == report.html()
    assert (tmp_path / "pf.md").read_text() == report.markdown()


@pytest.mark.parametrize(("name", "code", "phrase"), [("simple-pendulum", 0, "CLEAN"), ("bricard", 1, "REDUNDANT")])
def test_check_tells_by_its_exit_code(name, code, phrase):
    shown = runner.invoke(cli.app, ["check", name])
    assert shown.exit_code == code, shown.output
    assert phrase in shown.output and "degrees of freedom   1" in shown.output


@pytest.mark.slow
def test_main_job():
    """The command of the README, as it is printed there."""
    shown = runner.invoke(cli.app, ["compare", "mcpherson-overconstrained", "--repeats", "1"], env={"COLUMNS": "160"})
    assert shown.exit_code == 0, shown.output
    for name in ("Deflated", "UdwadiaKalaba", "Baumgarte", "KKT: redundant"):
        assert name in shown.output
