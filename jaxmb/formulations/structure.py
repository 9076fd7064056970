"""Blocks of a mechanism with the batch in the last axis, and the index arrays that lead from one to the other."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..elimination import elimination
from ..jacobian import BlockJacobian, Layout, stacked
from ..terms import BlockDiagonal


class Structure:
    """Index arrays of a layout."""

    def __init__(self, layout: Layout):
        flat_rows = [rows for group in layout.rows for rows in group]
        flat_bodies = [bodies for group in layout.bodies for bodies in group]
        ground, (m, n) = len(layout.widths) - 1, layout.shape
        self.r, self.w = max(map(len, flat_rows)), max(layout.widths)
        ports = [(joint, body) for joint, bodies in enumerate(flat_bodies) for body in bodies]
        # Blocks come as (joints, ports) of each group, one group after the other.
        self.chosen = np.array([k for k, (_, body) in enumerate(ports) if body != ground])
        self.joint, self.body = np.array([ports[k] for k in self.chosen]).T
        self.plan = elimination(tuple(tuple(b for b in bodies if b != ground) for bodies in flat_bodies))
        on = [np.flatnonzero(self.joint == joint).tolist() for joint in range(len(flat_rows))]
        self.own = stacked(on, self.chosen.size)
        self.riders = stacked([np.flatnonzero(self.body == body).tolist() for body in range(ground)], self.chosen.size)
        shared = [
            (pair, a, b)
            for pair, (row, column) in enumerate(self.plan.pairs)
            for a in on[row]
            for b in on[column]
            if self.body[a] == self.body[b]
        ]
        self.first, self.second = (np.array([x[k] for x in shared], int) for k in (1, 2))
        of_pair = [[k for k, x in enumerate(shared) if x[0] == pair] for pair in range(len(self.plan.pairs))]
        self.shared = stacked(of_pair, len(shared))
        self.rows = stacked([list(rows) for rows in flat_rows], m)
        self.columns = stacked(
            [list(range(start, start + width)) for start, width in zip(layout.starts, layout.widths, strict=True)][:-1],
            n,
        )
        self.row_place, self.column_place = (
            np.argsort(x.reshape(-1))[:size] for x, size in ((self.rows, m), (self.columns, n))
        )

    @staticmethod
    @functools.lru_cache(maxsize=64)
    def of(layout: Layout) -> "Structure":
        return Structure(layout)

    def to_joints(self, x: Float[Array, " m"]) -> Float[Array, "r joints"]:
        return take(x, self.rows)

    def to_rows(self, x: Float[Array, "r joints"]) -> Float[Array, " m"]:
        return take(x.reshape(-1), self.row_place)

    def to_bodies(self, x: Float[Array, " n"]) -> Float[Array, "w bodies"]:
        return take(x, self.columns)

    def to_columns(self, x: Float[Array, "w bodies"]) -> Float[Array, " n"]:
        return take(x.reshape(-1), self.column_place)

    def blocks(self, J: BlockJacobian) -> Float[Array, "r w ports"]:
        """The blocks of all ports that are not on the ground."""
        padded = [jnp.pad(x, ((0, 0), (0, 0), (0, self.r - x.shape[2]), (0, 0))) for x in J.blocks]
        flat = [jnp.moveaxis(x.reshape(-1, self.r, self.w), 0, -1) for x in padded]
        return take(jnp.concatenate(flat, axis=-1), self.chosen)

    def inverses(self, M: BlockDiagonal) -> Float[Array, "w w bodies"]:
        padded = [jnp.pad(x, ((0, 0), *2 * ((0, self.w - x.shape[1]),))) for x in M.inverses or ()]
        return jnp.moveaxis(jnp.concatenate(padded), 0, -1)

    def times(self, J: Float[Array, "r w ports"], x: Float[Array, "w bodies"]) -> Float[Array, "r joints"]:
        return gather(jnp.sum(J * take(x, self.body)[None], axis=1), self.own)

    def transposed_times(self, J: Float[Array, "r w ports"], x: Float[Array, "r joints"]) -> Float[Array, "w bodies"]:
        return gather(jnp.sum(J * take(x, self.joint)[:, None], axis=0), self.riders)

    def schur(self, W: Float[Array, "r w ports"], J: Float[Array, "r w ports"]) -> Float[Array, "r r blocks"]:
        """W J' by blocks, in the order of the elimination's first level."""
        diagonal = gather(jnp.sum(W[:, None] * J[None], axis=2), self.own)
        beside = jnp.sum(take(W, self.first)[:, None] * take(J, self.second)[None], axis=2)
        return jnp.concatenate([diagonal, gather(beside, self.shared)], axis=-1)


def take(x: Float[Array, "*batch k"], index: np.ndarray) -> Array:
    """x at places of its last axis; zero past its end."""
    if index.size == 0 or index.max() < x.shape[-1]:
        return x.at[..., index].get(mode="promise_in_bounds")
    return x.at[..., index].get(mode="fill", fill_value=0.0)


def gather(x: Float[Array, "*batch k"], layers: np.ndarray) -> Float[Array, "*batch l"]:
    """Sums of entries along the last axis, those of a column of `layers` each."""
    zero = jnp.zeros((*x.shape[:-1], layers.shape[1]))
    return sum((take(x, layer) for layer in layers), zero) if len(layers) != 1 else take(x, layers[0])


def unit_scale(diagonal: Float[Array, "*batch"]) -> Float[Array, "*batch"]:
    """By which a diagonal becomes 1; 1 for an empty row."""
    return jnp.where(diagonal > 0, jax.lax.rsqrt(jnp.where(diagonal > 0, diagonal, 1.0)), 1.0)
