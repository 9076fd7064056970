import numpy as np
import pytest

from jaxmb.papers import park_yoo_hwang as pyh


@pytest.mark.slow
def test_methods_take_the_same_steps_but_for_stabilization():
    cells = pyh.run_methods("double-pendulum", 5.0, 1e-5, 1e-5)
    assert cells["proposed"].right_hand_sides == cells["GCP"].right_hand_sides < cells["CS"].right_hand_sides
    assert all(cell.ok and cell.error < 1e-3 for cell in cells.values())


@pytest.mark.slow
def test_reaction_and_corrections():
    t, found, truth, last = pyh._reaction()
    assert t.shape == found.shape
    np.testing.assert_allclose(found, truth, atol=5e-3)
    rows = {row[0]: row[3] for row in pyh._corrections(last).rows}
    assert float(rows["eq. 20"].split()[3]) < 1e-10 and float(rows["eq. 22 to 24"].split()[-1]) < 1e-10
    assert float(rows["eq. 10"].split()[3]) > 1e-3
