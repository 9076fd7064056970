import jax.numpy as jnp
import numpy as np
import pytest

from jaxmb.formulations.udwadia_phohomsiri import UdwadiaPhohomsiri
from jaxmb.status import Status

from . import laws
from .systems import LARGE, NO_FREEDOM, NO_ROWS, SMALL, solution


@pytest.mark.parametrize(
    "name",
    ["independent", "redundant", "repeated", "empty row", "rank two", "singular mass", "independent, singular mass"],
)
def test_solves(name):
    laws.solves(UdwadiaPhohomsiri(), name)
    laws.differentiates(UdwadiaPhohomsiri(), name)


@pytest.mark.parametrize(
    ("name", "status"),
    [("massless", Status.not_unique), ("force is NaN", Status.not_finite), ("row is infinite", Status.not_finite)],
)
def test_refuses(name, status):
    laws.refuses(UdwadiaPhohomsiri(), name, status)


def test_survives_drift():
    laws.survives_drift(UdwadiaPhohomsiri())


def test_ignores_units():
    laws.ignores_units(UdwadiaPhohomsiri(), "redundant")


@pytest.mark.parametrize("path", [NO_ROWS, NO_FREEDOM], ids=["no rows", "no freedom"])
def test_solves_alone(path):
    laws.solves_alone(UdwadiaPhohomsiri(), path)


def test_solves_large():
    laws.solves_compiled(UdwadiaPhohomsiri(), LARGE, dof=4)


def test_constraint_forces_that_do_work():
    M, J, Q, gamma = SMALL["singular mass"].at()
    C = np.random.default_rng(3).normal(size=6)
    out = UdwadiaPhohomsiri(nonideal=lambda t, q, v: C).solve(*laws.arrays((M, J, Q, gamma)), jnp.asarray(C))
    a, lam = solution(M, J, Q + C, gamma)
    assert np.max(np.abs(a - solution(M, J, Q, gamma)[0])) > 0.1
    laws.assert_close(out.a, a, 1e-10)
    laws.assert_close(out.lam, lam, 1e-10)
    laws.assert_close(M @ out.a - Q, C - J.T @ lam, 1e-10)
