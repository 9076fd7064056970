import numpy as np
import pytest

from jaxmb.papers import pekal_fraczek as pf
from jaxmb.view.report import VERDICTS, Grid


def test_published_table():
    assert pf.published("overconstrained", "Baumgarte")[0, 0] == 15.69
    assert pf.published("simplified", "partitioning")[3].tolist() == [0.48, 0.45, 0.47, 0.46, 0.47]
    assert len(pf.PUBLISHED) == 6


@pytest.mark.slow
def test_euler_parameters_need_formulations_for_a_singular_mass():
    fail, run = pf.euler_parameter_claims()
    assert fail.verdict == "holds" and fail.number == "status singular_mass and singular_mass"
    assert run.verdict == "holds"
    errors = [float(x) for x in run.number.split(": ")[1].split(" and ")]
    assert max(errors) < 1e-6


@pytest.mark.slow
def test_short_experiment():
    """The whole report on the first second, where times say nothing but counts do."""
    report = pf.experiment(t1=1.0)
    claims = {claim.text: claim for claim in report.claims}
    assert claims["The number of right-hand sides is the same for all methods"].verdict == VERDICTS[0]
    assert len(report.figures) == 14
    tables = [block for block in report.blocks if isinstance(block, Grid)]
    assert len(tables) == 7
    corrections = {row[0]: row[3] for row in tables[-1].rows}
    assert corrections["after eq. 31"] == "trace E = 4.000000000000"
    assert corrections["section 4.2"].startswith("table 1: 1.70 and 0.52 times")
    wrong, right = (float(x) for x in corrections["eq. 21"].replace(",", "").split() if x[0].isdigit())
    assert wrong > 1e-6 and right < 1e-9
    assert corrections["eq. 11"].startswith("5 of 31")
    assert np.all([len(table.rows) == 4 for table in tables[:6]])
