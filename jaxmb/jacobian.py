"""The Jacobian of a mechanism by blocks: a joint has columns for the bodies of its ports only."""

import dataclasses
import functools
import itertools
from collections.abc import Iterable, Sequence

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .spatial import turn


@dataclasses.dataclass(frozen=True)
class Layout:
    """Which rows and columns the blocks are in. Joints come in groups of equal ones; the ground, without columns, is the last
    body."""

    rows: tuple[tuple[tuple[int, ...], ...], ...]
    """Row numbers of each joint of each group."""
    bodies: tuple[tuple[tuple[int, ...], ...], ...]
    """Bodies of the ports of each joint of each group."""
    widths: tuple[int, ...]
    """Number of speeds of each body, 0 for the ground."""

    @property
    def shape(self) -> tuple[int, int]:
        return sum(len(joint) for group in self.rows for joint in group), sum(self.widths)

    @property
    def starts(self) -> np.ndarray:
        """First column of each body."""
        return np.concatenate([[0], np.cumsum(self.widths)[:-1]])


class BlockJacobian(eqx.Module):
    """J as (joints, ports, rows, speeds of a body) for each group of equal joints; narrow bodies are filled up with zeros."""

    blocks: tuple[Float[Array, "_ _ _ _"], ...]
    layout: Layout = eqx.field(static=True)

    def __matmul__(self, v: Float[Array, " n"]) -> Float[Array, " m"]:
        """J v."""
        columns = [
            range(start, start + width) for start, width in zip(self.layout.starts, self.layout.widths, strict=True)
        ]
        speeds = v.at[stacked(columns, v.size).T].get(mode="fill", fill_value=0.0)
        parts = [
            jnp.sum(turn(block, speeds[np.array(bodies)]), axis=1).reshape(-1)
            for block, bodies in zip(self.blocks, self.layout.bodies, strict=True)
        ]
        place = np.argsort([row for group in self.layout.rows for joint in group for row in joint])
        return jnp.concatenate(parts)[place] if parts else jnp.zeros(0)

    def dense(self) -> Float[Array, "*batch m n"]:
        """J itself, by gathering: each entry is looked up in the list of block entries (or finds zero). A joint with two ports on
        one body needs a second look-up, which is added. Axes before the blocks' own, as `vmap` gives them, are kept."""
        batch = self.blocks[0].shape[:-4] if self.blocks else ()
        flat = (block.reshape(*batch, -1) for block in self.blocks)
        entries = jnp.concatenate([*flat, jnp.zeros((*batch, 1))], axis=-1)
        first, *others = _places(self.layout, tuple(block.shape[-1] for block in self.blocks))
        return sum((entries[..., place] for place in others), entries[..., first])


def block_jacobian(J_twist, T, layout: Layout) -> BlockJacobian:
    """From the Jacobians on twists, with twist = T v per body (T is None where the speeds are the twist)."""
    if T is None:
        return BlockJacobian(tuple(J_twist), layout)
    width = max(layout.widths)
    padded = [jnp.pad(x, ((0, 0), (0, 0), (0, width - x.shape[2]))) for x in T]
    # The ground has neither twist nor speeds.
    T = jnp.concatenate([*padded, jnp.zeros((1, 6, width))])
    blocks = (
        jnp.einsum("gkri,gkij->gkrj", J, T[np.array(bodies)]) for J, bodies in zip(J_twist, layout.bodies, strict=True)
    )
    return BlockJacobian(tuple(blocks), layout)


@functools.lru_cache(maxsize=64)
def _places(layout: Layout, wide: tuple[int, ...]) -> list[np.ndarray]:
    """For each entry of J its place in the list of block entries, in as many layers as needed."""
    starts, offset = layout.starts, 0
    at: dict[tuple[int, int], list[int]] = {}
    for rows, bodies, width in zip(layout.rows, layout.bodies, wide, strict=True):
        shape = (len(rows), len(bodies[0]), len(rows[0]), width)
        for g, k, r, c in np.ndindex(shape):
            body = bodies[g][k]
            if c < layout.widths[body]:
                place = offset + int(np.ravel_multi_index((g, k, r, c), shape))
                at.setdefault((rows[g][r], starts[body] + c), []).append(place)
        offset += int(np.prod(shape))
    layers = [np.full(layout.shape, offset) for _ in range(max(map(len, at.values()), default=1))]
    for entry, found in at.items():
        for layer, place in zip(layers, found, strict=False):
            layer[entry] = place
    return layers


def stacked(lists: Iterable[Sequence[int]], nothing: int) -> np.ndarray:
    """Lists as columns, filled up with `nothing` where one is short: sums over lists of unequal length are then sums of rows."""
    lists = list(lists)
    return np.array(list(itertools.zip_longest(*lists, fillvalue=nothing)), int).reshape(-1, len(lists))
