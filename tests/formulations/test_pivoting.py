import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmb.formulations.pivoting import count_rank, dependent_speeds, full_pivoting

from . import laws
from .systems import LARGE, NO_ROWS, SMALL

CASES = {"large": LARGE, "no rows": NO_ROWS} | {
    name: SMALL[name] for name in ("redundant", "repeated", "independent", "rank two", "empty row")
}
everything = jax.jit(lambda J: (full_pivoting(J), dependent_speeds(J)))


def eliminate(J):
    """Full pivoting as in a textbook: swap, eliminate, shrink."""
    A, rows, columns, pivots = J.copy(), np.arange(len(J)), np.arange(J.shape[1]), []
    for k in range(min(J.shape)):
        i, j = np.unravel_index(np.argmax(np.abs(A[k:, k:])), A[k:, k:].shape)
        for order, x in ((rows, i + k), (columns, j + k)):
            order[[k, x]] = order[[x, k]]
        A[[k, i + k]] = A[[i + k, k]]
        A[:, [k, j + k]] = A[:, [j + k, k]]
        pivots.append(abs(A[k, k]))
        if A[k, k] != 0:
            A[k + 1 :] -= np.outer(A[k + 1 :, k] / A[k, k], A[k])
    return rows, columns, np.array(pivots)


@pytest.mark.parametrize("name", CASES)
def test_orders(name):
    J = CASES[name].at()[1]
    rank = np.linalg.matrix_rank(J, rtol=1e-6) if len(J) else 0
    found, dependent = everything(jnp.asarray(J))
    assert found.rank == rank == np.sum(dependent)
    assert sorted(found.columns) == [*range(J.shape[1])] and sorted(found.rows) == [*range(len(J))]
    np.testing.assert_array_equal(np.sort(found.columns[:rank]), np.flatnonzero(dependent))
    np.testing.assert_allclose(found.pivots[rank:], 0, atol=1e-11)
    if rank:
        # The independent rows determine the dependent speeds; all rows follow from them.
        assert np.linalg.cond(J[np.ix_(found.rows[:rank], found.columns[:rank])]) < 1e4
        assert np.linalg.matrix_rank(J[found.rows[:rank]], rtol=1e-6) == rank


@pytest.mark.parametrize("name", ["large", "redundant", "independent", "rank two"])
def test_takes_the_same_pivots_as_the_textbook(name):
    J = CASES[name].at()[1]
    found, _ = everything(jnp.asarray(J))
    rows, columns, pivots = eliminate(J)
    rank = found.rank
    np.testing.assert_array_equal(found.rows[:rank], rows[:rank])
    np.testing.assert_array_equal(found.columns[:rank], columns[:rank])
    np.testing.assert_allclose(found.pivots[:rank], pivots[:rank], rtol=1e-10)


@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_ignores_units(scale):
    J = jnp.asarray(SMALL["redundant"].at()[1])
    np.testing.assert_array_equal(everything(scale * J)[1], everything(J)[1])


def test_vmap_equals_loop_without_knowing_the_rank():
    names = ["redundant", "independent", "rank two", "empty row"]
    Js = jnp.stack([jnp.asarray(SMALL[name].at()[1]) for name in names])
    found = jax.jit(jax.vmap(dependent_speeds))(Js)
    np.testing.assert_array_equal(np.sum(found, axis=1), [3, 4, 2, 3])
    for k, J in enumerate(Js):
        np.testing.assert_array_equal(found[k], everything(J)[1])


def test_nearly_dependent_rows_count_as_dependent_below_the_tolerance():
    J = SMALL["redundant"].at()[1]
    disturbance = np.linalg.svd(J)[0][:, 3:] @ np.linalg.svd(J)[2][3:4]
    for size, rank in ((1e-8, 3), (1e-3, 4)):
        assert everything(laws.arrays([J + size * disturbance])[0])[0].rank == rank


@pytest.mark.parametrize("rank", [0, 1, 2])
def test_exactly_equal_rows(rank):
    J = jnp.zeros((4, 6)).at[:, :rank].set(jnp.arange(4.0)[:, None] + jnp.arange(float(rank))[None, :] ** 2 * 2)
    found, dependent = everything(J)
    assert found.rank == rank == np.sum(dependent)
    assert np.all(np.isfinite(found.pivots))


def test_count_rank():
    assert count_rank(jnp.array([5.0, 1.0, 1e-9, 0.0])) == 2
    assert count_rank(jnp.zeros(3)) == 0
    assert count_rank(jnp.zeros(0)) == 0
