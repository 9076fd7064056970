"""x, y and an angle."""

import jax.numpy as jnp

from ..spatial import Pose, angle_about_z, rotation_about
from .base import Coordinates


class Planar(Coordinates):
    """q = (x, y, angle about z), v = qdot, for mechanisms in the plane z = 0. M is regular and constant.

    Use the planar joints (`PlanarRevolute`, ...) with it: the out-of-plane rows of a spatial joint are empty here,
    which a formulation must tolerate as redundancy.
    """

    @property
    def nq(self) -> int:
        return 3

    def pose(self, q):
        return Pose(jnp.stack([q[0], q[1], jnp.zeros_like(q[0])]), rotation_about(2, q[2]))

    def from_pose(self, pose):
        return jnp.stack([pose.p[0], pose.p[1], angle_about_z(pose.R)])

    def twist(self, q, v):
        # As it follows from `pose`, but XLA does not see that it is linear with constant weights, and so is M.
        zero = jnp.zeros_like(v[0])
        return jnp.stack([v[0], v[1], zero, zero, zero, v[2]])
