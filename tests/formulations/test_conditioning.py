import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmb.formulations.conditioning import factor, invert_kept, magnitude, penalty

from .systems import SMALL


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_factor_tells_regular_from_singular_in_any_units(scale):
    L, regular = factor(scale * jnp.asarray(SMALL["redundant"].M[0]))
    assert regular
    np.testing.assert_allclose(L @ L.T, scale * SMALL["redundant"].M[0], rtol=1e-12)
    assert not factor(scale * jnp.asarray(SMALL["singular mass"].M[0]))[1]


def test_factor_takes_a_light_body_for_what_it_is():
    assert factor(jnp.diag(jnp.array([1.0, 1e-20])))[1]
    assert not factor(jnp.diag(jnp.array([1.0, 0.0])))[1]
    assert not factor(jnp.diag(jnp.array([1.0, -1.0])))[1]


def test_factor_of_computed_numbers_is_judged_by_what_they_were_computed_from():
    rounding = jnp.diag(jnp.array([1.0, 1e-17]))
    assert factor(rounding)[1]
    assert not factor(rounding, reference=jnp.array(1.0))[1]
    assert not factor(rounding, reference=jnp.array([1.0, 1.0]))[1]


def test_factor_of_nothing():
    assert factor(jnp.zeros((0, 0)))[1]


def test_invert_kept():
    np.testing.assert_allclose(invert_kept(jnp.array([4.0, 1e-3, 1e-7, 0.0]), 1e-6), [0.25, 1e3, 0, 0])
    np.testing.assert_array_equal(invert_kept(jnp.zeros(2), 1e-6), 0)
    assert invert_kept(jnp.zeros(0), 1e-6).shape == (0,)


def test_magnitude():
    assert magnitude(jnp.array([[1.0, -3.0], [2.0, 0.0]])) == 3
    assert magnitude(jnp.zeros((2, 3))) == 1
    assert magnitude(jnp.zeros((0, 3))) == 1


def test_penalty():
    M, J = 8.0 * jnp.eye(2), jnp.array([[0.0, 2.0]])
    assert penalty(None, 10.0, M, J) == 20
    assert penalty(7, 10.0, M, J) == 7
    assert jax.grad(lambda k: penalty(None, 10.0, k * M, J))(1.0) == 0
