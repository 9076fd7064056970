"""The mass matrix by blocks against the dense one."""

import jax.numpy as jnp
import numpy as np
from scipy.linalg import block_diag

from jaxmb import Terms
from jaxmb.terms import BlockDiagonal, Equations


def blocks(count, size, seed):
    X = np.random.default_rng(seed).normal(size=(count, size, size))
    return X @ X.transpose(0, 2, 1) + np.eye(size)


SMALL, LARGE = blocks(2, 3, 1), blocks(3, 6, 2)
MASS = BlockDiagonal(
    (jnp.array(SMALL), jnp.array(LARGE)), (jnp.array(np.linalg.inv(SMALL)), jnp.array(np.linalg.inv(LARGE)))
)


def test_dense_is_block_diagonal():
    np.testing.assert_array_equal(MASS.dense(), block_diag(*SMALL, *LARGE))


def test_inverse_times_is_a_solve():
    X = np.random.default_rng(3).normal(size=(5, 24))
    np.testing.assert_allclose(
        MASS.inverse_times(jnp.array(X)), np.linalg.solve(block_diag(*SMALL, *LARGE), X.T).T, rtol=1e-9
    )


def test_terms_take_a_dense_mass_too():
    empty = jnp.zeros(0)
    for mass in (MASS, MASS.dense()):
        terms = Terms(mass, empty, jnp.zeros((0, 24)), empty, empty, jnp.zeros(24), jnp.zeros(()))
        np.testing.assert_array_equal(terms.M, block_diag(*SMALL, *LARGE))


def test_equations_default_to_speeds_that_are_rates():
    class Free(Equations):
        row_names = ()
        speed_names = ("x",)

        def terms(self, t, q, v):
            raise NotImplementedError

        def energies(self, q, v):
            raise NotImplementedError

    q, v = jnp.ones(1), 2 * jnp.ones(1)
    np.testing.assert_array_equal(Free().qdot(q, v), v)
    np.testing.assert_array_equal(Free().retract(q, v), q + v)
    assert Free().rheonomic and Free().regularity(q)[0] == 1.0
