"""A body without extent."""

import equinox as eqx
import jax.numpy as jnp

from ..spatial import Pose
from .base import Coordinates


class PointMass(Coordinates):
    """q = position of the mass, v = qdot; the body does not turn, so it needs no inertia.

    `planar=True` keeps x and y only.
    """

    planar: bool = eqx.field(static=True, default=False)

    @property
    def nq(self) -> int:
        return 2 if self.planar else 3

    def pose(self, q):
        p = jnp.concatenate([q, jnp.zeros(1)]) if self.planar else q
        return Pose(p, jnp.eye(3))

    def from_pose(self, pose):
        return pose.p[: self.nq]
