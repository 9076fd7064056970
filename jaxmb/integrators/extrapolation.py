"""One explicit step of any even order, by extrapolation [Gragg; Hairer, Norsett and Wanner I, II.9]."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

Scalar = Float[Array, ""]


def extrapolate(
    f: Callable[[Scalar, Float[Array, " n"]], Float[Array, " n"]],
    t: Scalar,
    y: Float[Array, " n"],
    slope: Float[Array, " n"],
    h: Scalar,
    columns: int,
) -> tuple[Float[Array, " n"], Float[Array, "evaluations n"]]:
    """y(t + h) of order 2 `columns`, and the slopes on the way; `slope` is f(t, y).

    The midpoint rule with 2, 4, ... substeps has an error in even powers of their size, and these are eliminated. All substeps
    are one loop, so that f is compiled once.
    """
    counts = 2 * np.arange(1, columns + 1)
    number = np.concatenate([np.full(c - 1, c) for c in counts])
    position = np.concatenate([np.arange(1, c) for c in counts])

    def substep(carry, at):
        before, here = carry
        size, position = h / at[0], at[1]
        first = position == 1
        before = jnp.where(first, y, before)
        here = jnp.where(first, y + size * slope, here)
        rate = f(t + position * size, here)
        after = before + 2 * size * rate
        return (here, after), (after, rate)

    schedule = jnp.asarray(np.stack([number, position], axis=1), float)
    _, (reached, rates) = jax.lax.scan(substep, (y, y), schedule)
    ends = reached[np.cumsum(counts - 1) - 1]
    return weights(counts) @ ends, rates


def evaluations(columns: int) -> int:
    """Of f, besides the one at the start."""
    return columns * columns


def weights(counts: np.ndarray) -> np.ndarray:
    """The value at zero of the polynomial in 1 / count^2 through given values."""
    squares = counts.astype(float) ** 2
    return np.array([np.prod([s / (s - other) for other in squares if other != s]) for s in squares])
