"""Tables of cells that were made by hand, so that nothing has to be run."""

import csv
import json

import numpy as np
import pytest

from jaxmb.studies.comparison import Cell, Comparison, History

T = np.linspace(0.0, 1.0, 11)


def cell(formulation="KKT", stabilization="Projection", tolerance=1e-6, status="successful", **changes):
    ok = status == "successful"
    numbers = {
        "error": 1e-5, "violation_position": 1e-12, "violation_velocity": 1e-11, "violation_acceleration": 1e-10,
        "energy_error": 1e-4, "run_s": 0.01,
    }  # fmt: skip
    values = {name: value if ok else float("nan") for name, value in numbers.items()}
    values |= {"right_hand_sides": 70, "steps": 9, "rejected": 1, "newton_iterations": 10, "compile_s": 5.0, **changes}
    norm = 1e-9 * (1 + T)
    return Cell(
        formulation, stabilization, "Quaternion", "Dopri5", tolerance, status, "" if ok else "Stopped: <why>.", 1.0,
        history=History(T, np.zeros((11, 7)), norm, 10 * norm, 100 * norm), **values,
    )  # fmt: skip


def table(*cells):
    return Comparison(cells, "a <title>")


@pytest.fixture
def both():
    return table(cell(), cell("Schur", status="max_steps"), cell(tolerance=1e-3), cell("Schur", tolerance=1e-3))


def test_select_and_names(both):
    assert both.names("formulation") == ["KKT", "Schur"] and both.names("tolerance") == [1e-6, 1e-3]
    assert both.select(formulation="Schur", tolerance=1e-3) == [both.cells[3]]
    assert [c.ok for c in both.cells] == [True, False, True, True]


def test_terminal(both):
    text = str(both)
    assert "a <title>" in text and "Schur: max steps" in text
    assert "Projection, 1e-06" in text and "Projection, 0.001" in text, "what varies is in the headings"
    assert "Compilation, 1 program(s): 5.0 s" in " ".join(text.split())


def test_csv_and_json_hold_the_same(both):
    rows = list(csv.DictReader(both.to_csv().splitlines()))
    cells = json.loads(both.to_json())["cells"]
    assert len(rows) == len(cells) == 4
    assert cells[1]["error"] is None and rows[1]["error"] == "nan", "JSON has no NaN"
    for row, loaded in zip(rows, cells, strict=True):
        assert row["status"] == loaded["status"] and int(row["steps"]) == loaded["steps"]
        assert set(row) == set(loaded) and "history" not in row


def test_json_is_json_when_a_run_went_off():
    text = table(cell(error=float("inf"))).to_json()
    assert "Infinity" not in text and json.loads(text)["cells"][0]["error"] is None


def test_html_is_one_page_with_everything(both):
    page = both.to_html()
    assert page.startswith("<!doctype html>") and "a &lt;title&gt;" in page and "<title>a <" not in page
    assert "Stopped: &lt;why&gt;." in page and "max_steps" not in page.split("All numbers")[0]
    assert page.count("data:image/png;base64,") >= 5
    assert "http" not in page and "<script" not in page, "it needs nothing from elsewhere"
