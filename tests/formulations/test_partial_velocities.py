import pytest

from jaxmb.formulations.partial_velocities import PartialVelocities
from jaxmb.status import Status

from . import laws
from .systems import LARGE, NO_FREEDOM, NO_ROWS


@pytest.mark.parametrize("name", ["redundant", "repeated", "empty row", "singular mass"])
def test_solves(name):
    laws.solves(PartialVelocities(), name)
    laws.differentiates(PartialVelocities(), name)


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("massless", Status.not_unique),
        ("rank two", Status.rank_change),
        ("independent", Status.rank_change),
        ("force is NaN", Status.not_finite),
        ("row is infinite", Status.not_finite),
    ],
)
def test_refuses(name, status):
    laws.refuses(PartialVelocities(), name, status)


def test_survives_drift():
    laws.survives_drift(PartialVelocities())


def test_ignores_units():
    laws.ignores_units(PartialVelocities(), "redundant")


@pytest.mark.parametrize("path", [NO_ROWS, NO_FREEDOM], ids=["no rows", "no freedom"])
def test_solves_alone(path):
    laws.solves_alone(PartialVelocities(), path)


def test_solves_large():
    laws.solves_compiled(PartialVelocities(), LARGE, dof=4)
