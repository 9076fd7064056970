"""A tree of parameters as the vector of its free numbers, with names, bounds and priors."""

from collections.abc import Mapping, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PyTree

from ..errors import ModelError, did_you_mean

Number = float | int
Bounds = Mapping[str, tuple[Number | None, Number | None]]
Priors = Mapping[str, tuple[Number, Number]]


class Parameters:
    """What is fitted: each float of a tree, by a name such as `spring.stiffness` or `offset[1]`, but for those that are fixed."""

    def __init__(self, tree: PyTree, fixed: Sequence[str], bounds: Bounds, priors: Priors):
        moving, self._rest = eqx.partition(tree, eqx.is_inexact_array_like)
        leaves, self._structure = jax.tree.flatten(moving)
        self._leaves = [np.asarray(leaf, float) for leaf in leaves]
        paths = [
            jax.tree_util.keystr(path, simple=True, separator=".") for path, _ in jax.tree.leaves_with_path(moving)
        ]
        entries = [_entries(path, leaf) for path, leaf in zip(paths, self._leaves, strict=True)]
        everything = [name for names in entries for name in names]
        # A leaf can be named as a whole.
        wholes = dict(zip(paths, entries, strict=True))
        held = {name for given in fixed for name in _resolve("fixed", given, everything, wholes)}
        self._free = np.array([name not in held for name in everything], bool)
        self.names = tuple(name for name in everything if name not in held)
        if not self.names:
            raise ModelError(
                f"identify was given parameters of which none is free ({len(everything)} floats, {len(held)} fixed). Give "
                "numbers of type float, and leave some of them out of fixed."
            )
        self.start: np.ndarray = np.concatenate([leaf.reshape(-1) for leaf in self._leaves])[self._free]
        self.lower, self.upper = self._limits(bounds, everything, wholes)
        self.prior_mean, self.prior_deviation = np.zeros(self.start.size), np.full(self.start.size, np.inf)
        for given, (mean, deviation) in priors.items():
            if not deviation > 0:
                raise ModelError(
                    f"identify was given the prior ({mean}, {deviation}) for '{given}'; its second number is a standard "
                    "deviation and must be positive."
                )
            for k in self._places("priors", given, everything, wholes):
                self.prior_mean[k], self.prior_deviation[k] = mean, deviation

    def tree(self, x: Float[Array, " p"]) -> PyTree:
        """The parameters with the free numbers x. Traceable."""
        flat: Any = jnp.asarray(np.concatenate([leaf.reshape(-1) for leaf in self._leaves]))
        return self._filled(flat.at[np.flatnonzero(self._free)].set(x), self._rest)

    def like(self, x: np.ndarray, held: float) -> PyTree:
        """Numbers that belong to the free parameters, in a tree of the same form, with `held` for fixed ones."""
        flat = np.full(self._free.size, held)
        flat[self._free] = x
        return self._filled(flat, jax.tree.map(lambda _: None, self._rest))

    def _filled(self, flat, rest) -> PyTree:
        ends = np.cumsum([leaf.size for leaf in self._leaves])
        parts = [flat[end - leaf.size : end].reshape(leaf.shape) for end, leaf in zip(ends, self._leaves, strict=True)]
        return eqx.combine(jax.tree.unflatten(self._structure, parts), rest)

    def _limits(self, bounds: Bounds, everything, wholes) -> tuple[np.ndarray, np.ndarray]:
        lower, upper = np.full(self.start.size, -np.inf), np.full(self.start.size, np.inf)
        for given, (low, high) in bounds.items():
            low, high = -np.inf if low is None else float(low), np.inf if high is None else float(high)
            if not low < high:
                raise ModelError(
                    f"identify was given the bounds ({low}, {high}) for '{given}', between which there is nothing. Give the "
                    "lower one first, or make the parameter fixed."
                )
            for k in self._places("bounds", given, everything, wholes):
                lower[k], upper[k] = low, high
                if not low <= self.start[k] <= high:
                    raise ModelError(
                        f"identify starts at {self.names[k]} = {self.start[k]:.6g}, which is outside of its bounds ({low:.6g}, "
                        f"{high:.6g}). Start between them."
                    )
        return lower, upper

    def _places(self, what: str, given: str, everything, wholes) -> list[int]:
        names = _resolve(what, given, everything, wholes)
        held = [name for name in names if name not in self.names]
        if held:
            raise ModelError(f"identify was given {what} for '{held[0]}', which is fixed. Leave it out of one of them.")
        return [self.names.index(name) for name in names]


def _entries(path: str, leaf: np.ndarray) -> list[str]:
    path = path or "parameter"
    if leaf.ndim == 0:
        return [path]
    return [path + "".join(f"[{i}]" for i in index) for index in np.ndindex(leaf.shape)]


def _resolve(what: str, given: str, everything: list[str], wholes: Mapping[str, list[str]]) -> list[str]:
    """The entries that a name means."""
    if given in wholes:
        return wholes[given]
    if given in everything:
        return [given]
    known = ", ".join(wholes)
    raise ModelError(
        f"identify was given {what} for '{given}', which is not a parameter. Parameters: {known}.{did_you_mean(given, wholes)}"
    )
