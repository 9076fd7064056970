import pytest

from jaxmb.formulations.kkt_pinv import KKTPinv
from jaxmb.status import Status

from . import laws
from .systems import LARGE, NO_FREEDOM, NO_ROWS


@pytest.mark.parametrize(
    "name",
    ["independent", "redundant", "repeated", "empty row", "rank two", "singular mass", "independent, singular mass"],
)
def test_solves(name):
    laws.solves(KKTPinv(), name)
    laws.differentiates(KKTPinv(), name)


@pytest.mark.parametrize(
    ("name", "status"),
    [("massless", Status.not_unique), ("force is NaN", Status.not_finite), ("row is infinite", Status.not_finite)],
)
def test_refuses(name, status):
    laws.refuses(KKTPinv(), name, status)


def test_survives_drift():
    laws.survives_drift(KKTPinv())


def test_ignores_units():
    laws.ignores_units(KKTPinv(), "redundant")


@pytest.mark.parametrize("path", [NO_ROWS, NO_FREEDOM], ids=["no rows", "no freedom"])
def test_solves_alone(path):
    laws.solves_alone(KKTPinv(), path)


def test_solves_large():
    laws.solves_compiled(KKTPinv(), LARGE, dof=4)
