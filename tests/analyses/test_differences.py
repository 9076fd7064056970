"""Differences against closed forms: the error is within what is said of it, and noise is seen."""

import numpy as np
import pytest

from jaxmb.analyses.differences import difference


@pytest.mark.parametrize(
    ("function", "slope"),
    [(np.exp, 1.0), (np.sin, 1.0), (lambda x: 1e3 + np.sin(3 * x), 3.0), (lambda x: 7.0 * x + 1e8, 7.0)],
)
def test_derivative_of_smooth_functions(function, slope):
    found, uncertainty = difference(function, 1e-2)
    assert abs(found - slope) <= uncertainty
    assert uncertainty < 1e-12 * abs(function(0.0)) / 1e-4 + 1e-9


def test_noise_is_in_the_uncertainty():
    rng = np.random.default_rng(0)
    within = 0
    for _ in range(200):
        found, uncertainty = difference(lambda x: np.sin(x) + 1e-6 * rng.normal(), 1e-2)
        within += abs(found - 1.0) <= uncertainty
        assert uncertainty > 1e-6
    assert within > 180  # a spread of three is no bound, but nearly


def test_large_steps_that_fail_are_left_out():
    found, uncertainty = difference(lambda x: np.nan if x > 5e-3 else float(np.exp(x)), 1e-2)
    assert abs(found - 1.0) <= uncertainty < 1e-9


def test_a_function_that_is_never_finite_has_no_derivative():
    found, uncertainty = difference(lambda x: np.nan, 1e-2)
    assert np.isnan(found) and uncertainty == np.inf


def test_a_kink_is_not_certain():
    _, uncertainty = difference(lambda x: abs(x - 1e-4), 1e-2)
    assert uncertainty > 1e-3
