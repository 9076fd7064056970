"""Newton's method for a step: roots, dependent rows, derivatives, failures, and the units of its matrix."""

import jax
import jax.numpy as jnp
import jax.scipy as jsp
import numpy as np
import pytest

import jaxmb as mb
from jaxmb.formulations.deflated import null_space
from jaxmb.integrators.newton import FAILED, NOT_FINITE, newton, scaling

from .orders import build

NOTHING = jnp.zeros((2, 2))


def circle(p):
    """x2 + y2 = p, y = x3 near (1, 1)."""
    return lambda z: jnp.stack([z[0] ** 2 + z[1] ** 2 - p, z[1] - z[0] ** 3])


GUESS = jnp.array([1.1, 0.8])


def test_root_to_rounding_with_one_matrix():
    z, outcome = newton(circle(2.0), jnp.array([1.01, 0.99]), NOTHING)
    np.testing.assert_allclose(z, [1.0, 1.0], rtol=0, atol=2e-16 * 4)
    assert float(outcome.status) == 0.0
    assert float(outcome.evaluations) == float(outcome.iterations) + 2, "two columns once, and the iterations"


def test_slow_iterations_get_a_fresh_matrix():
    far, near = (newton(circle(2.0), jnp.array(guess), NOTHING)[1] for guess in ((2.0, 0.1), (1.0001, 1.0)))
    assert float(far.evaluations) - float(far.iterations) > 2
    assert float(near.evaluations) - float(near.iterations) == 2
    assert float(far.status) == 0.0


def test_derivative_is_that_of_the_root_whatever_the_matrix():
    """dz/dp = -K^-1 dr/dp, checked by differences; the iteration uses a matrix that is 20 % wrong."""

    def root(p):
        wrong = lambda z: 1.2 * jax.jacfwd(circle(p))(z)  # noqa: E731
        return newton(circle(p), GUESS, NOTHING, matrix=wrong)[0]

    forward, reverse = jax.jacfwd(root)(2.0), jax.jacrev(root)(2.0)
    differences = (root(2.0 + 1e-5) - root(2.0 - 1e-5)) / 2e-5
    np.testing.assert_allclose(forward, differences, rtol=1e-8)
    np.testing.assert_allclose(reverse, forward, rtol=1e-12)


def test_first_matrix_from_nearby_is_used_and_dropped_when_bad():
    guess = jnp.array([1.01, 0.99])
    good = jsp.linalg.lu_factor(jax.jacfwd(circle(2.0))(guess))
    bad = jsp.linalg.lu_factor(jnp.array([[0.1, 0.0], [0.0, -0.1]]))
    z, outcome = newton(circle(2.0), guess, NOTHING, first=good)
    assert float(outcome.evaluations) == float(outcome.iterations)
    np.testing.assert_allclose(z, 1.0, atol=1e-15)
    z, outcome = newton(circle(2.0), guess, NOTHING, first=bad)
    assert float(outcome.evaluations) > float(outcome.iterations)
    np.testing.assert_allclose(z, 1.0, atol=1e-15)


def test_dependent_rows_are_filled():
    """min (x - p)2 / 2 on the unit circle, written twice: the multipliers share the force, and derivatives exist."""

    def root(p):
        def r(z):
            x, lam = z[:2], z[2:]
            g = 0.5 * (jnp.dot(x, x) - 1.0)
            return jnp.concatenate([x - p + x * (lam[0] + lam[1]), jnp.stack([g, g])])

        N = jnp.array([1.0, -1.0]) / jnp.sqrt(2.0)
        fill = jnp.zeros((4, 4)).at[2:, 2:].set(-jnp.outer(N, N))
        return newton(r, jnp.array([1.0, 0.2, 0.0, 0.0]), fill)

    p = jnp.array([3.0, 1.5])
    z, outcome = root(p)
    assert float(outcome.status) == 0.0
    size = float(jnp.sqrt(jnp.dot(p, p)))
    np.testing.assert_allclose(z[:2], p / size, atol=1e-14)
    np.testing.assert_allclose(z[2:], 0.5 * (size - 1.0), atol=1e-13)
    e = np.asarray(p) / size
    np.testing.assert_allclose(jax.jacrev(lambda p: root(p)[0][:2])(p), (np.eye(2) - np.outer(e, e)) / size, atol=1e-13)


def test_failures_return_the_guess():
    no_root = lambda z: z**2 + 1.0  # noqa: E731
    z, outcome = newton(no_root, GUESS, NOTHING, max_iterations=7)
    assert float(outcome.status) == FAILED and float(outcome.iterations) <= 7
    np.testing.assert_array_equal(z, GUESS)
    z, outcome = newton(lambda z: z * jnp.nan, GUESS, NOTHING)
    assert float(outcome.status) == NOT_FINITE
    np.testing.assert_array_equal(z, GUESS)


def test_vmap_equals_the_loop():
    ps = jnp.array([1.0, 2.0, 30.0])
    z, outcome = jax.vmap(lambda p: newton(circle(p), GUESS, NOTHING))(ps)
    for k, p in enumerate(ps):
        one, o = newton(circle(p), GUESS, NOTHING)
        np.testing.assert_allclose(z[k], one, rtol=1e-15)
        assert float(outcome.evaluations[k]) == float(o.evaluations)


@pytest.mark.parametrize("name", ["loop", "Euler parameters"])
def test_units_make_the_matrix_regular_and_independent_of_units(name):
    """A redundant system, and one with a singular mass: the filled matrix does not change with the unit of mass or of a row."""
    system, state = build(name)
    terms = mb.System.equations(system).terms(state.t, state.q, state.v)
    M, J = terms.M, terms.J

    def condition(M, J):
        units = scaling(M, J, null_space(J))
        E, D = np.asarray(units.E), np.asarray(units.D)
        coupling = D[:, None] * np.asarray(J) * E[None, :]
        K = np.block([[E[:, None] * np.asarray(M) * E[None, :], coupling.T], [coupling, np.asarray(units.fill)]])
        np.testing.assert_allclose(coupling.T @ np.asarray(units.N), 0.0, atol=1e-12)
        return np.linalg.cond(K)

    rows = jnp.logspace(-3, 3, J.shape[0])
    plain = condition(M, J)
    assert plain < 1e4
    assert condition(1e6 * M, J) == pytest.approx(plain, rel=1e-6)
    assert condition(M, rows[:, None] * J) == pytest.approx(plain, rel=0.3)
