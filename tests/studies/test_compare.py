import json

import numpy as np
import pytest

import jaxmb as mb
from jaxmb.studies.compare import reference_error, write

from ..models import door


@pytest.fixture(scope="module")
def result():
    """A door that swings on two hinges: redundant, and its angle is known."""
    system = door()
    state = system.state(omega={"door": (0, 0, 0.5)}, velocity={"door": (0, 0.225, 0)})
    ts = np.linspace(0, 1, 5)
    error = reference_error(lambda sol: {"angle": sol.joint("hinge0").angle}, {"angle": 0.5 * ts})
    return mb.compare(
        system, state, t1=1.0, ts=ts, formulations=(mb.KKT(), mb.UdwadiaKalaba(), mb.NullSpaceQR(), mb.StaticPenalty(1e6)),
        stabilizations=(mb.Projection(),), error=error, repeats=1, title="door",
    )  # fmt: skip


def test_every_cell_is_measured_and_failures_say_why(result):
    cells = {cell.formulation.split("(")[0]: cell for cell in result.cells}
    assert cells["KKT"].status == "redundant" and np.isnan(cells["KKT"].error)
    for name in ("UdwadiaKalaba", "NullSpaceQR"):
        assert cells[name].status == "successful" and cells[name].error < 1e-5
        assert cells[name].run_s > 0 and cells[name].violation_position < 1e-10
    assert 1e-9 < cells["StaticPenalty"].error < 1e-3, "a penalty is near, not exact"
    counts = {cell.right_hand_sides for name, cell in cells.items() if name in ("UdwadiaKalaba", "NullSpaceQR")}
    assert len(counts) == 1, "exact formulations take the same steps"


def test_table_csv_and_json_hold_the_same(result, tmp_path):
    text = str(result)
    assert "door" in text and "KKT: redundant" in text and "UdwadiaKalaba" in text
    assert len(result.to_csv().splitlines()) == 1 + len(result.cells)
    loaded = json.loads(result.to_json())
    assert loaded["cells"][0]["error"] is None and loaded["cells"][1]["status"] == "successful"
    write(tmp_path / "table.csv", result.to_csv())
    assert (tmp_path / "table.csv").read_text() == result.to_csv()


def test_nothing_to_compare_is_refused():
    system = door()
    with pytest.raises(mb.ModelError, match="at least one formulation"):
        mb.compare(system, system.state(), t1=1.0, formulations=())
