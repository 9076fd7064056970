"""Newton corrections with an old matrix."""

import jax.numpy as jnp
import numpy as np
import pytest

from jaxmb.integrators.correcting import correct

A = np.array([[2.0, 0.3], [0.1, 1.0]])
ROOT = np.array([0.4, -0.2])


def solve(wrong, scale=1e-6, limit=30):
    """A (k - ROOT) = 0 with corrections that shrink by `wrong`."""
    evaluate = lambda k: (jnp.asarray(A) @ (k - ROOT), jnp.sum(k))  # noqa: E731
    inverse = jnp.asarray((1 - wrong) * np.linalg.inv(A))
    return correct(evaluate, jnp.zeros(2), lambda r: -inverse @ r, jnp.full(2, scale), limit)


def test_an_exact_matrix_needs_two():
    found = solve(0.0)
    assert bool(found.converged) and int(found.count) == 2
    np.testing.assert_allclose(found.k, ROOT, atol=1e-15)


@pytest.mark.parametrize("wrong", [0.1, 0.5])
def test_the_rate_is_measured_and_the_error_is_below_the_tolerance(wrong):
    found = solve(wrong)
    assert bool(found.converged) and abs(float(found.rate) - wrong) < 1e-6
    assert np.max(np.abs(found.k - ROOT)) < 0.1 * 1e-6


def test_what_does_not_shrink_is_given_up():
    assert not bool(solve(-1.2).converged) and int(solve(-1.2).count) < 5
    assert not bool(solve(0.5, limit=4).converged)
