import numpy as np
import pytest

import jaxmb as mb
from jaxmb.mechanisms import get_mechanism
from jaxmb.papers import kurz_burkhardt_eberhard as kbe
from jaxmb.view.report import Grid


@pytest.mark.slow
def test_minimal_form_is_the_same_motion():
    system, state = kbe.minimal()
    reference = get_mechanism("slider-crank-free").read_reference()
    sol = mb.simulate(system, state, t1=40.0, ts=reference["t"], rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(sol.q[:, 0], reference["phi"], atol=1e-7)


@pytest.mark.slow
def test_report():
    report = kbe.experiment()
    claims = {claim.text: claim for claim in report.claims}
    assert claims["The DAE forms drift progressively"].verdict == "holds"
    assert claims["They fail before 300 s"].verdict == "does not hold"
    for tolerance in ("1e-06", "0.0001"):
        assert f"{tolerance}: explicit reaches the end" in claims["They fail before 300 s"].number
    assert claims["They cost more than every other form"].verdict == "holds"
    assert claims["QR and SVD are congruent"].verdict == "holds"
    assert claims["All separations reach 300 s"].verdict == "holds"
    first, second, corrections = (block for block in report.blocks if isinstance(block, Grid))
    assert [row[0] for row in first.rows] == [row[0] for row in second.rows] == ["analytical", *kbe.DAES, *kbe.FORMS]
    projected = first.rows[-1]
    assert float(projected[4]) < 1e-10 and float(projected[5]) < 0.2
    analytical = first.rows[0]
    assert float(analytical[5]) > 1e-3, "judged by the same outputs as the others"
    printed = {row[0]: row[3] for row in corrections.rows}
    assert "as printed, " in printed["eq. 31"] and float(printed["eq. 31"].split()[-2]) < 1e-12
    assert float(printed["eq. 28"].split(": ")[1].split()[0]) > 0.1
    assert len(report.figures) == 2 and all(len(figure.axes[0].lines) == 8 for figure in report.figures)
