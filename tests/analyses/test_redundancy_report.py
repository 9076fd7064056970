"""The report as data and as a page, from numbers that are given."""

import numpy as np
import pytest

from jaxmb.analyses.dependence import decompose
from jaxmb.analyses.freedoms import BodyScrew, Freedom
from jaxmb.analyses.redundancy_report import SHOWN, WIDTH, Conflict, DependentSet, Redundancy
from jaxmb.analyses.relaxations import Change, Relaxation
from jaxmb.analyses.uniqueness import verdict_of
from jaxmb.joints import Spherical

NAMES = ("A.x", "A.y", "B.x", "B.y")


def report(**changes):
    """Two pins with one row too many and one motion."""
    hinge = np.eye(6)[:, :2]
    verdicts = [verdict_of(hinge, moved, 1e-7, np.ones(6)) for moved in (hinge[:, :1], np.zeros((6, 1)))]
    rows = dict(
        names=NAMES,
        rank=3,
        dof=1,
        structural_rank=3,
        structural_dof=1,
        decomposition=decompose(np.array([[1.0, 0, 0, 0], [0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0]])),
        tolerance=1e-6,
        size=0.5,
        redundant_sets=(DependentSet(("A.x", "B.x"), 1),),
        structural_sets=(DependentSet(("A.x", "B.x"), 1),),
        conflicts=(),
        reactions=dict(zip(("A", "B"), verdicts, strict=True)),
        freedoms=(Freedom(np.ones(4), (BodyScrew("rod", np.array([0, 0, 1.0]), np.zeros(3), 0.0, 1.0),)),),
        relaxations=((Relaxation((Change("A", Spherical, 1, (0,)), Change("B", None, 1, ()))),),),
    )
    return Redundancy(**(rows | changes))


def test_counts_and_exit_codes():
    redundant = report()
    assert (redundant.rows, redundant.redundant, redundant.structurally_redundant) == (4, 1, 1)
    assert (redundant.singular, redundant.conflicting, redundant.exit_code) == (False, False, 1)
    assert redundant.unique_reactions == ("B",)
    singular = report(structural_rank=4, structural_dof=0)
    assert (singular.singular, singular.structurally_redundant, singular.exit_code) == (True, 0, 1)
    assert report(rank=4, structural_rank=4, redundant_sets=(), structural_sets=(), dof=0).exit_code == 0
    assert report(conflicts=(Conflict("A.x", 0.001, True, False),)).exit_code == 2


def test_a_redundant_page():
    assert str(report()) == "\n".join(
        [
            "REDUNDANT: some constraints say what others say already.",
            "",
            "constraint rows      4",
            "independent rows     3",
            "redundant rows       1",
            "degrees of freedom   1",
            "singular values      smallest 7.1e-01 (tolerance 1e-06, size 0.5 m)",
            "",
            "What can move (world axes; the fastest turn is 1 rad/s):",
            "  1. rod turns about (0, 0, 1) through (0, 0, 0) m at 1 rad/s (it alone)",
            "",
            "Redundant at every pose (members of a set are equals, any of them is too many):",
            "  1 too many of 2 rows: A.x, B.x",
            "",
            "Reactions (components along the axes of the joint's first frame, z is the axis of the joint):",
            "  A - partly unique: force y; not force x",
            "  B - unique",
            "",
            "To remove the redundancy and keep the motion, one of:",
            "  make A Spherical and leave out B",
        ]
    )


def test_a_clean_page_is_short():
    independent = decompose(np.eye(4))
    clean = report(rank=4, structural_rank=4, dof=0, structural_dof=0, decomposition=independent, redundant_sets=(),
                   structural_sets=(), freedoms=(), relaxations=())  # fmt: skip
    page = str(clean)
    assert page.startswith("CLEAN: no redundant constraints.")
    assert page.endswith("Nothing can move.\n\nAll reactions are unique.")


def test_a_singular_page_says_what_is_so_elsewhere():
    page = str(report(structural_rank=4, structural_dof=0, structural_sets=(), relaxations=()))
    assert page.startswith("SINGULAR HERE")
    for line in (
        "independent rows     3 (4 elsewhere)",
        "redundant rows       1 (0 elsewhere)",
        "Dependent at this pose:",
    ):
        assert line in page
    assert "every pose" not in page
    assert "To remove" not in page


@pytest.mark.parametrize(
    "conflict, text",
    [
        (Conflict("A.x", 0.0021, True, False), "A.x by 2.1 mm"),
        (Conflict("A.tilt", np.radians(3.0), False, False), "A.tilt by 3 deg"),
        (Conflict("A.x", 0.5, True, True), "A.x by 500 mm/s"),
    ],
)
def test_a_conflict_is_told_in_millimetres_and_degrees(conflict, text):
    page = str(report(conflicts=(conflict,)))
    assert page.startswith("CONFLICTING: " + ("rates" if conflict.rate else "the joints cannot"))
    assert f"  {text}" in page.splitlines()


def test_many_conflicts_are_counted():
    many = tuple(Conflict(f"A.{k}", 0.001, True, False) for k in range(SHOWN + 2))
    page = str(report(conflicts=many))
    assert f"A.{SHOWN - 1} by" in page
    assert f"A.{SHOWN} by" not in page
    assert "and 2 more rows" in page


def test_long_sets_name_whole_joints_once_and_keep_the_width():
    names = tuple(f"joint{k}.{row}" for k in range(30) for row in ("x", "y", "z"))
    members = tuple(name for name in names if name != "joint3.y")
    page = str(report(names=names, structural_sets=(DependentSet(members, 2),)))
    assert "2 too many of 89 rows: joint3.x, joint3.z, all rows of joint0, joint1, joint2, joint4," in page
    assert max(map(len, page.splitlines())) <= WIDTH
