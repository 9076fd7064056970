"""Linear dependence of constraint rows: rank, and the sets of rows that depend on each other."""

from dataclasses import dataclass

import numpy as np
import scipy.linalg

#: Singular values below this part of the largest are zero; rows have unit length and columns no unit. At closed joints the true
#: zeros are at rounding level (1e-13), those of a mechanism away from singular configurations above 1e-3.
RANK_TOLERANCE = 1e-6
#: Coefficients of a dependency below this are rounding.
TAKES_PART = 1e-6


@dataclass(frozen=True)
class Decomposition:
    """Singular values of scaled rows (largest first) and orthonormal bases: `null_rows` of the combinations of rows that vanish,
    `null_columns` of the motions that no row forbids."""

    values: np.ndarray
    rank: int
    null_rows: np.ndarray
    null_columns: np.ndarray

    @property
    def smallest(self) -> float:
        """Smallest singular value that counts, relative to the largest (infinite without rows)."""
        return float(self.values[self.rank - 1] / self.values[0]) if self.rank else np.inf

    @property
    def zero(self) -> float:
        """Largest singular value that does not count, relative to the largest (0 if there is none)."""
        return float(self.values[self.rank] / self.values[0]) if 0 < self.rank < len(self.values) else 0.0

    @property
    def gap(self) -> float:
        """Between the smallest value that counts and the largest that does not; infinite when no value is dropped."""
        return self.smallest / self.zero if self.zero > 0 else np.inf


def decompose(J: np.ndarray) -> Decomposition:
    """Rank and null spaces of scaled rows."""
    m, n = J.shape
    if not m:
        return Decomposition(np.zeros(0), 0, np.zeros((0, 0)), np.eye(n))
    U, values, Vt = np.linalg.svd(J)
    rank = int(np.sum(values > RANK_TOLERANCE * values[0])) if values[0] > 0 else 0
    return Decomposition(values, rank, U[:, rank:], Vt[rank:].T)


def dependent_sets(J: np.ndarray, rank: int) -> list[list[int]]:
    """Sets of rows that depend on each other, every member an equal: two rows are in one set when some smallest dependency
    has both (the connected components of the matroid of the rows). Rows in no dependency are in no set."""
    m = J.shape[0]
    if rank == m:
        return []
    order = scipy.linalg.qr(J.T, mode="r", pivoting=True)[1]  # pyright: ignore[reportGeneralTypeIssues]
    basis, others = order[:rank], order[rank:]
    # Each other row with the basis rows it is made of is a smallest dependency, and these connect all there are.
    coefficients = np.linalg.lstsq(J[basis].T, J[others].T, rcond=None)[0] if rank else np.zeros((0, len(others)))
    sets: list[set[int]] = []
    for k, row in enumerate(others):
        circuit = {int(row), *(int(i) for i in basis[np.abs(coefficients[:, k]) > TAKES_PART])}
        joined = [s for s in sets if s & circuit]
        sets = [s for s in sets if not s & circuit] + [circuit.union(*joined)]
    return sorted(sorted(s) for s in sets)
