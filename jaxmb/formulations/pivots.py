"""The default solve for large mechanisms, in time that grows with the number of joints.

S = J M^-1 J' has blocks for joints that share a body only, and is eliminated in levels (`elimination`). Redundant rows are
left out: at the end of each step pivots are searched, largest first, and rows whose pivot vanishes are dropped until the next
one. Which of the dependent rows these are does not matter: the motion is the same.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from ..jacobian import BlockJacobian, Layout
from ..terms import BlockDiagonal
from .eliminate import find_dependent, solver
from .structure import Structure, gather, take, unit_scale

#: Rows of D J J' D with pivots below this are dependent on others; pivots are squares, as the eigenvalues of a `NullSpace` are.
PIVOT_TOLERANCE = 1e-9
#: The same for a run that passes singular configurations. A pivot carries the rounding of all eliminations before it, so it
#: cannot be as small as an eigenvalue there: of 1e-11 to 1e-8, A02 with N = 10 and 40 is most accurate between 1e-10 and 1e-9.
PASSING_TOLERANCE = 3e-10
#: Singular values within this factor of the smallest one vanish with it.
ABOUT_AS_SMALL = 10.0


class Pivots(eqx.Module):
    """What a run of a large mechanism carries instead of a null space: which rows are dropped, and the pivots of the others."""

    dropped: Float[Array, "r joints"]
    """1 for rows that are dropped (and for rows that a joint does not have), 0 for the others."""
    pivots: Float[Array, "r joints"]
    """Infinite for rows that are dropped."""
    D: Float[Array, "r joints"]
    """Weights of the rows, those of the start for a whole run."""
    layout: Layout = eqx.field(static=True)

    @property
    def deficiency(self) -> Int[Array, ""]:
        """Number of redundant rows."""
        return jnp.round(jnp.sum(self.dropped)).astype(int) - (self.dropped.size - self.layout.shape[0])

    @property
    def smallest(self) -> Float[Array, ""]:
        """In the place of the smallest singular value that is not null: the root of the smallest pivot."""
        return jnp.sqrt(jnp.min(self.pivots))

    def crossing(self, J: Any) -> tuple[Bool[Array, ""], Float[Array, ""]]:
        """Pivots are squares: they do not show the sign by which a passage through zero can be told inside of a step."""
        return jnp.zeros((), bool), jnp.zeros(())

    def at(self, J: BlockJacobian, passing: bool = False) -> "Pivots":
        """Those of J elsewhere, in a run that stops at singular configurations or passes them."""
        return find_pivots(J, self.D, PASSING_TOLERANCE if passing else PIVOT_TOLERANCE)

    def weakest(self, redundant: Int[Array, ""]) -> Float[Array, " m"]:
        """1 for the rows with the smallest pivots."""
        small = self.pivots <= ABOUT_AS_SMALL**2 * jnp.min(self.pivots)
        return Structure.of(self.layout).to_rows(jnp.where(small, 1.0, 0.0))


def find_pivots(
    J: BlockJacobian, D: Float[Array, "r joints"] | None = None, tolerance: float = PIVOT_TOLERANCE
) -> Pivots:
    """Which rows of D J to drop: those with pivots in D J J' D below the tolerance. It has no derivative: solutions do not depend
    on the choice."""
    structure = Structure.of(J.layout)
    blocks = jax.lax.stop_gradient(structure.blocks(J))
    if D is None:
        D = unit_scale(gather(jnp.sum(blocks**2, axis=1), structure.own))
    blocks = blocks * take(D, structure.joint)[:, None]
    dropped, pivots = find_dependent(structure.plan, structure.schur(blocks, blocks), tolerance)
    return Pivots(dropped, pivots, D, J.layout)


def structured_solve(M: BlockDiagonal, J: BlockJacobian, Q, gamma, dropped: Float[Array, "r joints"]):
    """a and a multiplier of M a + J' lam = Q, J a = gamma."""
    structure = Structure.of(J.layout)
    blocks, inverses = structure.blocks(J), structure.inverses(M)
    W = jnp.sum(blocks[:, :, None] * take(inverses, structure.body)[None], axis=1)
    a_free = jnp.sum(inverses * structure.to_bodies(Q)[None], axis=1)
    D = unit_scale(gather(jnp.sum(W * blocks, axis=1), structure.own))
    weights = take(D, structure.joint)[:, None]
    solve = solver(structure.plan, structure.schur(weights * W, weights * blocks), dropped)
    lam = D * solve(D * (structure.times(blocks, a_free) - structure.to_joints(gamma)))
    return structure.to_columns(a_free - structure.transposed_times(W, lam)), structure.to_rows(lam)


def structured_product(M: BlockDiagonal, J: BlockJacobian, a, lam):
    """M a + J' lam and J a."""
    structure = Structure.of(J.layout)
    blocks = structure.blocks(J)
    push = structure.to_columns(structure.transposed_times(blocks, structure.to_joints(lam)))
    return M.times(a) + push, structure.to_rows(structure.times(blocks, structure.to_bodies(a)))
