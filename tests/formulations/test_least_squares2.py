import pytest

from jaxmb.formulations.least_squares2 import LeastSquares2
from jaxmb.status import Status

from . import laws
from .systems import LARGE, NO_FREEDOM, NO_ROWS


@pytest.mark.parametrize(
    "name",
    ["independent", "redundant", "repeated", "empty row", "rank two", "singular mass", "independent, singular mass"],
)
def test_solves(name):
    laws.solves(LeastSquares2(), name)
    laws.differentiates(LeastSquares2(), name)


@pytest.mark.parametrize(
    ("name", "status"),
    [("massless", Status.not_unique), ("force is NaN", Status.not_finite), ("row is infinite", Status.not_finite)],
)
def test_refuses(name, status):
    laws.refuses(LeastSquares2(), name, status)


def test_survives_drift():
    laws.survives_drift(LeastSquares2())


def test_ignores_units():
    laws.ignores_units(LeastSquares2(), "redundant")


@pytest.mark.parametrize("path", [NO_ROWS, NO_FREEDOM], ids=["no rows", "no freedom"])
def test_solves_alone(path):
    laws.solves_alone(LeastSquares2(), path)


def test_solves_large():
    laws.solves_compiled(LeastSquares2(), LARGE, dof=4)
