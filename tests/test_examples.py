"""Every example runs; each ends in assertions of its own."""

import runpy
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.py"))


def test_examples_are_numbered_and_short():
    assert EXAMPLES
    for k, path in enumerate(EXAMPLES, start=1):
        assert path.name.startswith(f"{k:02d}_")
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 80


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(path, capsys):
    runpy.run_path(str(path))
    assert capsys.readouterr().out
