import numpy as np
import pytest

import jaxmb as mb
from jaxmb.mechanisms import get_mechanism
from jaxmb.studies.catalog import compare_mechanism, motion_columns


def test_loads_are_not_motion():
    columns = motion_columns(get_mechanism("spatial-four-bar"), 5.0)
    assert "theta1" in columns and "phi3" in columns
    assert not [name for name in columns if name.startswith(("N2", "R1", "E_"))]
    assert columns["t"][-1] == 5.0 and all(x.shape == columns["t"].shape for x in columns.values())


def test_against_the_reference():
    pairs = [(mb.KKT(), mb.Projection())]
    cells = compare_mechanism(
        get_mechanism("simple-pendulum"), t1=0.5, pairs=pairs, tolerances=(1e-4, 1e-9), repeats=1
    ).cells
    assert cells[0].history.t[-1] == 0.5
    assert 1e-8 < cells[0].error < 1e-2 and cells[1].error < 1e-7


def test_without_reference_there_is_no_error():
    cells = compare_mechanism(
        get_mechanism("double-pendulum-gravity"), t1=0.2, pairs=[(mb.KKT(), mb.Projection())], repeats=1
    ).cells
    assert cells[0].ok and np.isnan(cells[0].error)


@pytest.mark.parametrize(
    ("t1", "phrase"), [(-1.0, "Give an end after"), (20.0, "rows from 0 to 10 s"), (0.503, "apart")]
)
def test_an_end_that_cannot_be_compared_is_refused(t1, phrase):
    with pytest.raises(mb.ModelError, match=phrase):
        compare_mechanism(get_mechanism("simple-pendulum"), t1=t1)
