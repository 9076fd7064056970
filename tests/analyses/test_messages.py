import numpy as np

from jaxmb.analyses.messages import dependent_rows, in_units


def test_every_member_of_a_dependency_is_named_and_no_other():
    J = np.array([[1.0, 0, 0], [0, 1.0, 0], [1.0, 1.0, 0], [0, 0, 1e-3]])
    assert dependent_rows(("a", "b", "c", "d"), J) == ["a", "b", "c"]


def test_independent_rows_name_nothing():
    assert dependent_rows(("a", "b"), np.array([[1.0, 0, 0], [1.0, 1e-3, 0]])) == []


def test_amounts_are_in_millimetres_or_degrees():
    assert in_units(0.01234, True) == "12.3 mm"
    assert in_units(np.pi / 180, False) == "1 deg"
