import numpy as np
import pytest

from jaxmb.formulations.schur import Schur
from jaxmb.status import Status

from . import laws
from .systems import MIXED, NO_ROWS, SMALL, solution


@pytest.mark.parametrize("name", ["independent"])
def test_solves(name):
    laws.solves(Schur(), name)
    laws.differentiates(Schur(), name)


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("redundant", Status.redundant),
        ("repeated", Status.redundant),
        ("empty row", Status.redundant),
        ("singular mass", Status.singular_mass),
        ("drifted", Status.redundant),
        ("force is NaN", Status.not_finite),
        ("row is infinite", Status.not_finite),
    ],
)
def test_refuses(name, status):
    laws.refuses(Schur(), name, status)


def test_ignores_units():
    laws.ignores_units(Schur(), "independent")


def test_no_rows():
    laws.solves_alone(Schur(), NO_ROWS)


def test_mixed_units_within_one_system():
    """Rows in meters and radians, speeds in kilograms and milligrams."""
    (a, lam), status, _, _ = laws.results(Schur())["independent, mixed units"]
    assert status == Status.successful
    for found, expected in zip((MIXED[0] * a, MIXED[1] * lam), solution(*SMALL["independent"].at()), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-10)
