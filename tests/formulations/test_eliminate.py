"""Systems by blocks against NumPy on the same matrix."""

import jax.numpy as jnp
import numpy as np
import pytest

from jaxmb.elimination import elimination
from jaxmb.formulations.eliminate import dependent_rows, find_dependent, solver

R = 3
CHAIN = tuple((k - 1, k) if k else (0,) for k in range(20))
CROSSED = (*CHAIN, (3, 15), (7, 11))


def blocks_of(bodies_of, redundant=()):
    """J J' of random rows that act on the bodies of each joint, dense and by blocks; some joints repeat another's rows."""
    rng, plan = np.random.default_rng(5), elimination(bodies_of)
    J = np.zeros((len(bodies_of), R, 1 + max(max(b) for b in bodies_of), 6))
    for joint, bodies in enumerate(bodies_of):
        J[joint][:, list(bodies)] = rng.normal(size=(R, len(bodies), 6))
    for joint in redundant:
        J[joint, 2] = J[joint, 0] - 2 * J[joint, 1]
    S = np.einsum("arbk,csbk->arcs", J, J)
    pairs = [(k, k) for k in range(len(bodies_of))] + list(plan.pairs)
    return plan, S.reshape(R * len(bodies_of), -1), jnp.asarray(np.stack([S[a, :, b] for a, b in pairs], axis=-1))


@pytest.mark.parametrize("bodies_of", [CHAIN, CROSSED])
def test_solves_as_a_dense_solver(bodies_of):
    plan, S, blocks = blocks_of(bodies_of)
    b = np.random.default_rng(6).normal(size=(len(bodies_of), R))
    x = solver(plan, blocks, jnp.zeros((R, len(bodies_of))))(jnp.asarray(b.T))
    np.testing.assert_allclose(np.asarray(x).T.reshape(-1), np.linalg.solve(S, b.reshape(-1)), rtol=1e-8)


@pytest.mark.parametrize("redundant", [(), (0, 7, 19), tuple(range(20))])
def test_dependent_rows_are_found_and_do_no_harm(redundant):
    plan, S, blocks = blocks_of(CROSSED, redundant)
    dropped, pivots = find_dependent(plan, blocks, 1e-9)
    assert int(np.sum(dropped)) == len(S) - np.linalg.matrix_rank(S) == len(redundant)
    assert np.all(np.isinf(pivots) == (np.asarray(dropped) == 1))
    b = S @ np.random.default_rng(7).normal(size=len(S))
    x = np.asarray(solver(plan, blocks, dropped)(jnp.asarray(b.reshape(-1, R).T)))
    np.testing.assert_allclose(S @ x.T.reshape(-1), b, atol=1e-8)
    np.testing.assert_allclose(x[np.asarray(dropped) == 1], 0.0, atol=1e-8)


def test_pivots_are_the_largest_first():
    P = np.diag([2.0, 5.0, 1e-12])
    P[0, 1] = P[1, 0] = 1.0
    dropped, pivots = dependent_rows(jnp.asarray(P)[..., None], 1e-9)
    np.testing.assert_array_equal(dropped[:, 0], [0, 0, 1])
    np.testing.assert_allclose(pivots[:, 0], [2.0 - 1 / 5, 5.0, np.inf])
