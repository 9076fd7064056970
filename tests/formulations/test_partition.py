import numpy as np
import pytest

from jaxmb.formulations.partition import Partition
from jaxmb.status import Status

from . import laws
from .systems import LARGE, NO_FREEDOM, NO_ROWS, SMALL


@pytest.mark.parametrize("name", ["redundant", "repeated", "empty row", "singular mass"])
def test_solves(name):
    laws.solves(Partition(), name)
    laws.differentiates(Partition(), name)


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
    laws.refuses(Partition(), name, status)


def test_survives_drift():
    laws.survives_drift(Partition())


def test_ignores_units():
    laws.ignores_units(Partition(), "redundant")


@pytest.mark.parametrize("path", [NO_ROWS, NO_FREEDOM], ids=["no rows", "no freedom"])
def test_solves_alone(path):
    laws.solves_alone(Partition(), path)


def test_solves_large():
    laws.solves_compiled(Partition(), LARGE, dof=4)


def test_speeds_chosen_by_hand():
    laws.solves_alone(Partition((5, 0, 3)), SMALL["redundant"])


def test_refuses_speeds_that_do_not_determine_the_others():
    """The third and the sixth are tied together, so not both can be independent."""
    out = Partition((0, 2, 5)).solve(*laws.arrays(SMALL["repeated"].at()))
    assert out.status == Status.singular_configuration
    assert np.all(np.isnan(out.a)) and np.all(np.isnan(out.lam))


def test_refuses_another_rank_than_that_of_the_chosen_speeds():
    assert Partition((0, 1, 2)).solve(*laws.arrays(SMALL["rank two"].at())).status == Status.rank_change


@pytest.mark.parametrize("independent", [(0, 1, 6), (0, 1, -1), (0, 1, 1)])
def test_rejects_indices(independent):
    with pytest.raises(ValueError, match=r"Partition\(independent=.*of the 6 speeds.*repeated or not in 0..5.*Correct"):
        Partition(independent).solve(*laws.arrays(SMALL["redundant"].at()))


def test_rejects_another_number_of_degrees_of_freedom():
    with pytest.raises(ValueError, match="dof is another number"):
        Partition((0, 1, 2), dof=2).solve(*laws.arrays(SMALL["redundant"].at()))
