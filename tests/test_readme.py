"""Every code block of the README runs as printed."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


def test_python_blocks_run_in_order(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    namespace = {"__name__": "readme"}
    sources = blocks("python")
    assert len(sources) >= 4
    for source in sources:
        exec(compile(source, "README.md", "exec"), namespace)
    assert (tmp_path / "coupler.png").stat().st_size > 5000
    assert (tmp_path / "run.npz").exists()
    printed = capsys.readouterr().out
    value, slope = (float(x) for x in re.findall(r"Array\(([-\d.e]+)", printed)[:2])
    difference = (float(namespace["height"](1.5 + 1e-5)) - float(namespace["height"](1.5 - 1e-5))) / 2e-5
    assert value == pytest.approx(float(namespace["height"](1.5)), abs=1e-6)
    assert slope == pytest.approx(difference, abs=1e-4)


def test_commands_are_those_of_the_project():
    main_job, tests = blocks("console")
    assert "jaxmb compare mcpherson-overconstrained" in main_job
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    pattern = re.search(r"sed -n '/(.*?)/p'", script)
    assert pattern is not None
    assert [line for line in README.splitlines() if re.search(pattern[1], line)] == [tests.strip()]


def test_every_formulation_is_listed():
    import jaxmb as mb

    for formulation in mb.ALL_FORMULATIONS:
        assert f"`{type(formulation).__name__}`" in README


def test_every_mechanism_is_listed():
    """The first column has full names, or endings to the first name of its row."""
    from jaxmb.mechanisms import MECHANISMS

    rows = re.search(r"\| mechanism \|.*?\n\n", README, flags=re.DOTALL)
    assert rows is not None
    listed = set()
    for row in rows[0].strip().splitlines()[2:]:
        first, *others = re.findall(r"`([^`]+)`", row.split("|")[1])
        listed |= {first, *(first + name if name.startswith("-") else name for name in others)}
    assert listed == {*MECHANISMS, "static-multipoint"}


def test_results_are_those_of_the_reports():
    """Verdicts are counted as in the pages, which the commands wrote."""
    from jaxmb.papers import PAPERS

    for key in PAPERS:
        page = (ROOT / "docs" / "papers" / f"{key}.md").read_text(encoding="utf-8")
        counts = [page.count(f"| {verdict} |") for verdict in ("holds", "does not hold", "cannot be decided")]
        row = re.search(rf"\| `jaxmb paper {key}` \|[^|]*\| (\d+) \| (\d+) \| (\d+) \|", README)
        assert row is not None and [int(x) for x in row.groups()] == counts, key
