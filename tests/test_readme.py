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
