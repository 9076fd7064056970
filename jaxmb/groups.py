"""Equal elements of a mechanism stacked, so that each kind is evaluated once for all of its members."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .ports import Element, replace
from .spatial import Pose


class Group(eqx.Module):
    """Equal elements stacked: `element` has a leading axis on every array, `frames` are its ports from the centre of
    mass, port after port, `bodies` the index of each port's body (the ground is last), `order` the place of each in the
    System."""

    element: Any
    frames: Pose
    bodies: tuple[tuple[int, ...], ...] = eqx.field(static=True)
    order: tuple[int, ...] = eqx.field(static=True)

    @property
    def index(self) -> np.ndarray:
        """Body of each of the frames."""
        return np.array(self.bodies, int).T.reshape(-1)

    def map(self, function: Callable, rides: Any, *others):
        """`function(element, rides of its ports, *others)` over the stack; `rides` has the leading axis of `frames`, the others
        that of the element."""
        count, ports = len(self.order), len(self.bodies[0])
        ported = tuple(jax.tree.map(lambda x, k=k: x[k * count : (k + 1) * count], rides) for k in range(ports))
        return eqx.filter_vmap(function)(self.element, ported, *others)


def group_elements(
    elements: Sequence[Element], numbers: Mapping[str, int], com: Float[Array, "frames 3"]
) -> tuple[Group, ...]:
    """Equal elements stacked. Two are equal when they differ in numbers only: same class, options and functions. `com` has the
    centre of mass of each body in its frame, by the `numbers` of the bodies (zero for the ground, which is last)."""
    found: dict[Any, list[int]] = {}
    bare = [replace(element, ports=()) for element in elements]
    for k, element in enumerate(bare):
        arrays, rest = eqx.partition(element, eqx.is_array)
        shapes = tuple(x.shape for x in jax.tree.leaves(arrays))
        found.setdefault((jax.tree.structure(arrays), tuple(jax.tree.leaves(rest)), shapes), []).append(k)
    groups = []
    for members in found.values():
        arrays, rest = zip(*(eqx.partition(bare[k], eqx.is_array) for k in members), strict=True)
        bodies = np.array([[numbers.get(body, len(com) - 1) for body in elements[k].bodies] for k in members])
        ports = [port.frame for ported in zip(*(elements[k].ports for k in members), strict=True) for port in ported]
        frames = jax.tree.map(lambda *x: jnp.stack(x), *ports)
        groups.append(
            Group(
                element=eqx.combine(jax.tree.map(lambda *x: jnp.stack(x), *arrays), rest[0]),
                frames=Pose(frames.p - com[bodies.T.reshape(-1)], frames.R),
                bodies=tuple(tuple(row) for row in bodies.tolist()),
                order=tuple(members),
            )
        )
    return tuple(groups)
