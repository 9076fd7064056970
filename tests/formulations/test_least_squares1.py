import pytest

from jaxmb.formulations.least_squares1 import LeastSquares1
from jaxmb.status import Status

from . import laws
from .systems import LARGE, NO_ROWS


@pytest.mark.parametrize("name", ["independent", "redundant", "repeated", "empty row", "rank two"])
def test_solves(name):
    laws.solves(LeastSquares1(), name)
    laws.differentiates(LeastSquares1(), name)


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
    laws.refuses(LeastSquares1(), name, status)


def test_survives_drift():
    laws.survives_drift(LeastSquares1())


def test_ignores_units():
    laws.ignores_units(LeastSquares1(), "redundant")


def test_no_rows():
    laws.solves_alone(LeastSquares1(), NO_ROWS)


def test_solves_large():
    laws.solves_compiled(LeastSquares1(), LARGE, dof=4)
