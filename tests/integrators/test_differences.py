"""The differences against polynomials, which they reproduce, and against the constants of the literature."""

import jax.numpy as jnp
import numpy as np
import pytest

from jaxmb.integrators.differences import (
    differences,
    growth,
    integrals,
    powers,
    rounding,
    span,
    truncation,
    uniform_truncation,
)

TIMES = np.array([0.0, 0.13, 0.2, 0.41, 0.5, 0.72, 0.8])  # the last one is the end of the step


def history(f):
    """Phi* at the start of the step and its a, by going through the times one by one."""
    K = len(TIMES) - 1
    stars = jnp.zeros((K, 1))
    for n in range(K):
        past = TIMES[n] - TIMES[:n][::-1]
        distances = np.concatenate([past, 1.0 + np.arange(K - 1 - n)])  # what is not known yet must not matter
        a = jnp.asarray(np.concatenate([[0.0], distances]) / (TIMES[n + 1] - TIMES[n]))
        stars = growth(a)[:, None] * differences(jnp.array([f(TIMES[n])]), stars)[:-1]
        stars = jnp.where(jnp.arange(K)[:, None] <= n, stars, 0.0)
    return stars, a


@pytest.mark.parametrize("degree", range(6))
def test_a_polynomial_is_integrated_exactly(degree):
    stars, a = history(lambda t: (degree + 1) * t**degree)
    h = TIMES[-1] - TIMES[-2]
    step = h * integrals(powers(a))[:-1] @ stars[:, 0]
    assert abs(step - (TIMES[-1] ** (degree + 1) - TIMES[-2] ** (degree + 1))) < 1e-14


def test_the_next_difference_is_a_derivative():
    """Phi_j(n+1) = span_j h^j / j! f^(j), exact for a polynomial of that degree."""
    stars, a = history(lambda t: t**6)
    h = TIMES[-1] - TIMES[-2]
    Phi = differences(jnp.array([TIMES[-1] ** 6]), stars)
    assert abs(Phi[6, 0] / (span(a)[6] * h**6) - 1.0) < 1e-9


def test_nothing_cancels():
    P = powers(jnp.array([0.0, 0.2, 1.7, 3.0, 40.0]))
    assert np.all(P >= 0) and np.max(np.abs(np.sum(P, axis=1) - 1.0)) < 1e-15


def test_equal_steps_have_the_constants_of_adams():
    """gamma_j of the explicit, |gamma*_j| of the implicit formulas [Hairer, Norsett and Wanner I, tables III.1.1 and III.1.2]."""
    g = integrals(powers(jnp.arange(5.0)))
    assert np.max(np.abs(g - np.array([1, 1 / 2, 5 / 12, 3 / 8, 251 / 720, 95 / 288]))) < 1e-15
    implicit = np.array([1 / 2, 1 / 12, 1 / 24, 19 / 720, 3 / 160])
    assert np.max(np.abs(truncation(g)[1:] - implicit)) < 1e-15
    assert np.max(np.abs(uniform_truncation(5)[1:] / (implicit * [1, 2, 6, 24, 120]) - 1.0)) < 1e-12


def test_rounding_is_bounded():
    """Values that are wrong by 1e-6 this way and that change the differences by no more than the bound."""
    rng = np.random.default_rng(1)
    wrong = dict(zip(TIMES, 1e-6 * rng.choice([-1.0, 1.0], TIMES.size), strict=True))
    stars, noise, largest = jnp.zeros((6, 1)), jnp.zeros(6), 0.0
    for n in range(6):
        distances = np.concatenate([TIMES[n] - TIMES[:n][::-1], 1.0 + np.arange(5 - n)])
        beta = growth(jnp.asarray(np.concatenate([[0.0], distances]) / (TIMES[n + 1] - TIMES[n])))
        stars = beta[:, None] * differences(jnp.array([wrong[TIMES[n]]]), stars)[:-1]
        noise = beta * rounding(jnp.asarray(1e-6), noise)[:-1]
        assert np.all(np.abs(stars[:, 0]) <= noise * (1 + 1e-12))
        largest = max(largest, float(jnp.max(jnp.abs(stars[:, 0]) / noise)))
    assert largest > 0.5
