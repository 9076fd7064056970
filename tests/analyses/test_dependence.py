"""Rank and dependent sets of matrices whose dependencies are put in by hand or found by trying every subset."""

import itertools

import numpy as np
import pytest

from jaxmb.analyses.dependence import decompose, dependent_sets

RNG = np.random.default_rng(5)


def test_rank_and_null_spaces():
    A = RNG.normal(size=(6, 4)) @ RNG.normal(size=(4, 9))
    found = decompose(A)
    assert found.rank == 4
    assert found.null_rows.shape == (6, 2)
    assert found.null_columns.shape == (9, 5)
    np.testing.assert_allclose(found.null_rows.T @ A, 0.0, atol=1e-12)
    np.testing.assert_allclose(A @ found.null_columns, 0.0, atol=1e-12)
    np.testing.assert_allclose(found.null_rows.T @ found.null_rows, np.eye(2), atol=1e-12)


def test_gap_is_between_what_counts_and_what_does_not():
    found = decompose(np.diag([2.0, 1e-2, 2e-10]))
    assert found.rank == 2
    assert (found.smallest, found.zero, found.gap) == pytest.approx((5e-3, 1e-10, 5e7))
    assert decompose(np.eye(3)).gap == np.inf


@pytest.mark.parametrize("shape", [(0, 4), (3, 4)])
def test_no_rows_and_empty_rows(shape):
    found = decompose(np.zeros(shape))
    assert (found.rank, found.null_rows.shape[1], found.null_columns.shape) == (0, shape[0], (4, 4))
    assert dependent_sets(np.zeros(shape), 0) == [[k] for k in range(shape[0])]


def circuits(A):
    """Every smallest dependent set of rows, by trying all of them."""
    found = []
    for size in range(1, len(A) + 1):
        for rows in itertools.combinations(range(len(A)), size):
            if not any(set(c) <= set(rows) for c in found) and np.linalg.matrix_rank(A[list(rows)], tol=1e-9) < size:
                found.append(rows)
    return found


def joined(circuits):
    sets = []
    for circuit in map(set, circuits):
        together = [s for s in sets if s & circuit]
        sets = [s for s in sets if not s & circuit] + [circuit.union(*together)]
    return sorted(sorted(s) for s in sets)


@pytest.mark.parametrize("seed", range(6))
def test_sets_are_the_connected_components_of_all_circuits(seed):
    """Rows with many zeros, copies and sums, in random order."""
    rng = np.random.default_rng(seed)
    basis = rng.normal(size=(5, 7))
    mix = rng.normal(size=(4, 5)) * (rng.random((4, 5)) < 0.4)
    A = np.concatenate([basis, mix @ basis])[rng.permutation(9)]
    A = A / np.maximum(np.linalg.norm(A, axis=1, keepdims=True), 1e-300)
    assert dependent_sets(A, decompose(A).rank) == joined(circuits(A))


def test_independent_rows_are_in_no_set():
    assert dependent_sets(np.eye(3), 3) == []
