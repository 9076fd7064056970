import numpy as np
import pytest

from jaxmb.formulations.kkt import KKT
from jaxmb.status import Status

from . import laws
from .systems import MIXED, NO_ROWS, SMALL, solution


@pytest.mark.parametrize("name", ["independent", "independent, singular mass"])
def test_solves(name):
    laws.solves(KKT(), name)
    laws.differentiates(KKT(), name)


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("redundant", Status.redundant),
        ("repeated", Status.redundant),
        ("empty row", Status.redundant),
        ("singular mass", Status.redundant),
        ("massless", Status.not_unique),
        ("drifted", Status.redundant),
        ("force is NaN", Status.not_finite),
        ("row is infinite", Status.not_finite),
    ],
)
def test_refuses(name, status):
    laws.refuses(KKT(), name, status)


def test_ignores_units():
    laws.ignores_units(KKT(), "independent")


def test_no_rows():
    laws.solves_alone(KKT(), NO_ROWS)


def test_mixed_units_within_one_system():
    """Rows in meters and radians, speeds in kilograms and milligrams."""
    (a, lam), status, _, _ = laws.results(KKT())["independent, mixed units"]
    assert status == Status.successful
    for found, expected in zip((MIXED[0] * a, MIXED[1] * lam), solution(*SMALL["independent"].at()), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_free_bodies_of_very_unequal_inertia():
    d = 10.0 ** np.array([6, -6, 0, 4, -2, 2])
    out = KKT().solve(*laws.arrays(NO_ROWS.scaled(d).at()))
    assert out.status == Status.successful
    np.testing.assert_allclose(d * out.a, solution(*NO_ROWS.at())[0], rtol=1e-10)
