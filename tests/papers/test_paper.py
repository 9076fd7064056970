import numpy as np
import pytest

import jaxmb as mb
from jaxmb.mechanisms import get_mechanism
from jaxmb.papers import PAPERS, find
from jaxmb.papers.paper import beside, distance, instant, passages, ratios

from ..studies.test_comparison import cell, table


def test_five_papers():
    assert list(PAPERS) == ["pf", "pyh", "c", "n", "kbe"]
    assert all(paper.key == key and paper.title[-1] != "." for key, paper in PAPERS.items())


def test_unknown_paper_lists_those_there_are():
    with pytest.raises(mb.ModelError, match=r"'phy', which is not here. Papers: pf \(Pekal.*Did you mean 'pyh'\?"):
        find(PAPERS, "phy")


def test_ratios_stand_beside_each_other():
    assert ratios([2.0, 3.0]) == [1.0, 1.5]
    assert beside([1.0, 1.5], [1.0, 2.25]) == ["1.00 | 1.00", "1.50 | 2.25"]


def test_instant_solves_the_equations():
    system, state = get_mechanism("bricard").build()
    x = instant(system, state.t, state.q, state.v)
    a = x.accelerations
    np.testing.assert_allclose(x.J @ a, x.gamma, atol=1e-10)
    assert distance(a, a) == 0.0
    null = np.linalg.svd(x.J)[2][29]
    assert abs(null @ (x.M @ a - x.Q)) < 1e-10, "no force is left along the free motion"


def test_passages_show_errors_and_ends():
    grid = passages("c", table(cell(), cell(tolerance=1e-9, status="not_finite")))
    assert list(grid.header) == ["formulation", "Projection, 1e-06", "Projection, 1e-09"]
    assert grid.rows == [["KKT", "1e-05", "not finite at 1.00 s"]]
