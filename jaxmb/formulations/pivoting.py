"""Which speeds depend on which: Gaussian elimination of J with full pivoting, rank unknown, under jit."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from .base import RANK_TOLERANCE


class Pivoting(eqx.Module):
    """Orders in which full pivoting takes columns and rows; the first `rank` of each make a regular square block."""

    columns: Int[Array, " n"]
    """The first `rank` speeds depend on the others, the rest are independent."""
    rows: Int[Array, " m"]
    """Redundant rows come last."""
    pivots: Float[Array, " k"]
    """Size of each pivot, k = min(m, n); from `rank` on they are at rounding level."""

    @property
    def rank(self) -> Int[Array, ""]:
        """Number of pivots that are not negligible beside the first."""
        return count_rank(self.pivots)


def full_pivoting(J: Float[Array, "m n"]) -> Pivoting:
    """Eliminate J, taking the largest remaining entry as the next pivot (Park, Yoo & Hwang 2000, section 2.2).

    Not differentiable: an order has no derivative.
    """
    m, n = J.shape
    size = min(m, n)

    def eliminate(k, carry):
        A, column_rank, row_rank, pivots = carry
        # Rows and columns stay in place; those that are not taken yet have the rank `size`.
        free = (row_rank == size)[:, None] & (column_rank == size)[None, :]
        i, j = jnp.divmod(jnp.argmax(jnp.where(free, jnp.abs(A), -1.0)), n)
        pivot = A[i, j]
        # Past the rank the pivot may be exactly zero, and then there is nothing to eliminate.
        multipliers = jnp.where(pivot == 0, 0.0, A[:, j] / jnp.where(pivot == 0, 1.0, pivot))
        A = A - multipliers[:, None] * A[i][None, :]
        return A, column_rank.at[j].set(k), row_rank.at[i].set(k), pivots.at[k].set(jnp.abs(pivot))

    J = jax.lax.stop_gradient(J)
    start = (J, jnp.full(n, size), jnp.full(m, size), jnp.zeros(size))
    # Without rows there is nothing to trace: argmax refuses an empty array.
    _, column_rank, row_rank, pivots = jax.lax.fori_loop(0, size, eliminate, start) if size else start
    return Pivoting(jnp.argsort(column_rank), jnp.argsort(row_rank), pivots)


def dependent_speeds(J: Float[Array, "m n"]) -> Bool[Array, " n"]:
    """Which speeds depend on the others; as many are True as J has independent rows."""
    n = J.shape[1]
    found = full_pivoting(J)
    return jnp.zeros(n, bool).at[found.columns].set(jnp.arange(n) < found.rank)


def count_rank(sizes: Float[Array, " k"]) -> Int[Array, ""]:
    """How many singular values or pivots are not negligible beside the largest one."""
    return jnp.sum(sizes > RANK_TOLERANCE * jnp.max(sizes, initial=0.0))
