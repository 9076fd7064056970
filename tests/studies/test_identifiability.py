"""Jacobians of which it is known what they tell."""

import numpy as np
import pytest

from jaxmb.studies.identifiability import identifiability

RNG = np.random.default_rng(3)
A, B, C = RNG.normal(size=(3, 40))


def test_covariance_of_independent_columns_is_the_textbook_one():
    J, size = np.stack([A, B, C], axis=1), np.array([2.0, 1e-3, 50.0])
    told = identifiability(J, size)
    np.testing.assert_allclose(told.covariance, np.linalg.inv(J.T @ J), rtol=1e-10)
    assert told.words(("a", "b", "c")) == ()
    np.testing.assert_allclose(told.sensitivity, size * np.linalg.norm(J, axis=0))


def test_collinearity_is_the_part_that_others_cannot_make():
    J = np.stack([A, A + 0.01 * B], axis=1)
    left = A - J[:, 1] * (A @ J[:, 1]) / (J[:, 1] @ J[:, 1])
    told = identifiability(J, np.ones(2))
    assert told.collinearity[0] == pytest.approx(np.linalg.norm(A) / np.linalg.norm(left), rel=1e-8)
    assert told.collinearity[0] > 50


def test_a_parameter_that_changes_nothing_is_named():
    told = identifiability(np.stack([A, np.zeros(40), B], axis=1), np.ones(3))
    assert told.words(("mass", "color", "length")) == ("the data do not depend on color",)
    assert np.isinf(told.covariance[1, 1]) and np.isnan(told.covariance[0, 1])
    assert told.covariance[0, 0] == pytest.approx(np.linalg.inv(np.stack([A, B]) @ np.stack([A, B]).T)[0, 0], rel=1e-8)
    assert told.collinearity[1] == np.inf


def test_a_combination_is_named_with_the_changes_that_cancel():
    """The residuals depend on k / m^2 and on l: 2 % more of k are 1 % less of m."""
    m, k, l = 2.0, 30.0, 1.5
    slope = A * k / m**2
    J = np.stack([-2 * slope / m, slope / k, B], axis=1)
    told = identifiability(J, np.array([m, k, l]))
    (sentence,) = told.words(("m", "k", "l"))
    assert sentence == "only a combination of m, k can be told: changing m by +1 %, k by +2 % changes nothing"
    assert np.isinf(told.covariance[0, 0]) and np.isinf(told.covariance[1, 1]) and np.isfinite(told.covariance[2, 2])


def test_two_combinations_are_kept_apart():
    told = identifiability(np.stack([A, A, B, B], axis=1), np.ones(4))
    sentences = told.words(("a", "b", "c", "d"))
    assert sorted(s[: s.index(" can")] for s in sentences) == [
        "only a combination of a, b",
        "only a combination of c, d",
    ]


def test_fewer_residuals_than_parameters():
    told = identifiability(np.array([[1.0, 1.0]]), np.ones(2))
    assert len(told.unseen) == 1
