"""From the blocks of the joints to the dense Jacobian."""

from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float


def scatter(J_twist, T, columns, m: int, n: int) -> Float[Array, "m n"]:
    """The dense Jacobian from the blocks of the joints, by gathering: each entry of J is looked up in the list of block
    entries (or finds zero). A joint with two ports on one body needs a second look-up, which is added."""
    places, starts, widths = columns
    nv_max = int(widths.max(initial=0))
    if not J_twist or n == 0:
        return jnp.zeros((m, n))
    flat, maps, offset = [], [], 0
    T_padded = None if T is None else _pad(T, nv_max)
    for J, (rows, bodies) in zip(J_twist, places, strict=True):
        # J is (joints, ports, rows, 6)
        if T_padded is not None:
            J = jnp.einsum("gkri,gkij->gkrj", J, T_padded[bodies])
        width = J.shape[-1]
        index = offset + np.arange(J.size).reshape(J.shape)
        for g, k, c in np.ndindex(J.shape[0], J.shape[1], width):
            if c < widths[bodies[g, k]]:
                maps.extend(
                    zip(rows[g], np.full(rows.shape[1], starts[bodies[g, k]] + c), index[g, k, :, c], strict=True)
                )
        flat.append(J.reshape(-1))
        offset += J.size
    entries = jnp.concatenate([*flat, jnp.zeros(1)])
    layers = [np.full((m, n), offset)]
    for row, column, index in maps:
        for layer in layers:
            if layer[row, column] == offset:
                layer[row, column] = index
                break
        else:
            layers.append(np.full((m, n), offset))
            layers[-1][row, column] = index
    return sum((entries[layer] for layer in layers[1:]), entries[layers[0]])


def _pad(T: Sequence[Float[Array, "_ 6 _"]], width: int) -> Float[Array, "frames 6 width"]:
    padded = [jnp.pad(x, ((0, 0), (0, 0), (0, width - x.shape[2]))) for x in T]
    return jnp.concatenate([*padded, jnp.zeros((1, 6, width))])
