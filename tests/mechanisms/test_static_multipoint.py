"""The static lever against a linear solve in 30 digits and the published displacements."""

import csv
from importlib import resources

import jax
import numpy as np
import pytest

import jaxmb as mb
from jaxmb.mechanisms import get_mechanism, static_multipoint, static_solution


@pytest.fixture(scope="module")
def table():
    text = (resources.files("jaxmb.mechanisms") / "reference" / "static_mpc.csv").read_text(encoding="utf-8")
    return {row["node"]: row for row in csv.DictReader(text.splitlines())}


def column(table, name):
    return [float(table[f"Q{k}"][name]) for k in range(1, 6)]


@pytest.mark.parametrize("formulation", [None, mb.LeastSquares2(), mb.KKT(), mb.NullSpaceQR()])
def test_exact(table, formulation):
    out = static_solution(static_multipoint(), formulation)
    np.testing.assert_allclose(out.a, column(table, "exact_mm"), rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(out.lam, [-26004.515, -25598.194, 26004.515, 25598.194], rtol=1e-7)


def test_penalty_as_published(table):
    C = float(table["C"]["penalty_mm"])
    out = static_solution(static_multipoint(), mb.StaticPenalty(C))
    np.testing.assert_allclose(out.a, column(table, "penalty_mm"), rtol=1e-10)
    np.testing.assert_array_equal(np.round(np.asarray(out.a), 4), column(table, "published_mm"))


def test_displacements_follow_the_load():
    slope = jax.grad(lambda load: static_solution(static_multipoint(load=load)).a[4])(30e3)
    np.testing.assert_allclose(slope, static_solution(static_multipoint()).a[4] / 30e3, rtol=1e-10)


def test_singular_stiffness_is_refused_where_it_must_be():
    out = static_solution(static_multipoint(), mb.UdwadiaKalaba())
    assert bool(out.status == mb.Status.singular_mass) and np.all(np.isnan(out.a))


def test_it_is_no_motion():
    with pytest.raises(mb.ModelError, match="is a static problem"):
        get_mechanism("static-multipoint")
