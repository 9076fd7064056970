"""The report as data and as a page."""

import dataclasses

import numpy as np

from jaxmb.analyses.dependence import decompose
from jaxmb.analyses.redundancy_report import Conflict, DependentSet, Redundancy


def report(J, **changes):
    """A report on rows A.x, A.y, B.x, ... without joints that react."""
    found = decompose(np.asarray(J, float))
    names = tuple(f"{'AB'[k // 2]}.{'xy'[k % 2]}" for k in range(len(J)))
    dof = len(J[0]) - found.rank
    plain = Redundancy(names, found.rank, dof, found.rank, dof, found, 1e-6, 1.0, (), (), (), {}, (), ())
    return dataclasses.replace(plain, **changes)


def test_a_clean_report_has_exit_code_0():
    clean = report([[1, 0, 0], [0, 1, 0]])
    assert (clean.rows, clean.rank, clean.dof, clean.redundant, clean.exit_code) == (2, 2, 1, 0, 0)
    assert str(clean).startswith("CLEAN") and "degrees of freedom   1" in str(clean)


def test_a_redundant_report_names_the_rows_and_has_exit_code_1():
    sets = (DependentSet(("A.x", "B.x"), 1),)
    redundant = report([[1, 0, 0], [0, 1, 0], [1, 0, 0]], redundant_sets=sets, structural_sets=sets)
    assert (redundant.redundant, redundant.exit_code, redundant.singular) == (1, 1, False)
    assert sets[0].joints == ("A", "B")
    assert "1 too many of 2 rows: A.x, B.x" in str(redundant)


def test_a_singular_report_tells_here_from_elsewhere():
    singular = report([[1, 0, 0], [1, 0, 0]], structural_rank=2, structural_dof=1)
    assert singular.singular and singular.structurally_redundant == 0
    assert str(singular).startswith("SINGULAR HERE") and "degrees of freedom   2 (1 elsewhere)" in str(singular)


def test_a_conflict_is_in_millimetres_or_degrees_and_has_exit_code_2():
    conflicts = (Conflict("A.x", 0.002, True, False), Conflict("B.x", np.radians(0.5), False, False))
    conflicting = report([[1, 0, 0], [0, 1, 0], [1, 0, 0]], conflicts=conflicts)
    assert conflicting.conflicting and conflicting.exit_code == 2
    assert "A.x by 2 mm" in str(conflicting) and "B.x by 0.5 deg" in str(conflicting)
    rates = report([[1, 0, 0]], conflicts=(Conflict("A.x", 0.5, True, True),))
    assert "rates of the constraints contradict" in str(rates) and "A.x by 500 mm/s" in str(rates)
