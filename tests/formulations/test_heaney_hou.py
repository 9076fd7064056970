import pytest

from jaxmb.formulations.heaney_hou import HeaneyHou
from jaxmb.status import Status

from . import laws
from .systems import LARGE, NO_ROWS, WIDE


@pytest.mark.parametrize("name", ["independent", "redundant", "repeated", "empty row", "rank two"])
def test_solves(name):
    laws.solves(HeaneyHou(), name)
    laws.differentiates(HeaneyHou(), name)


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("singular mass", Status.singular_mass),
        ("massless", Status.singular_mass),
        ("force is NaN", Status.not_finite),
        ("row is infinite", Status.not_finite),
    ],
)
def test_refuses(name, status):
    laws.refuses(HeaneyHou(), name, status)


def test_survives_drift():
    laws.survives_drift(HeaneyHou())


def test_ignores_units():
    laws.ignores_units(HeaneyHou(), "redundant")


def test_no_rows():
    laws.solves_alone(HeaneyHou(), NO_ROWS)


def test_solves_large():
    laws.solves_compiled(HeaneyHou(), LARGE, dof=4)


def test_unequal_inertias():
    laws.solves_compiled(HeaneyHou(), WIDE, dof=4, tolerance=1e-7)
