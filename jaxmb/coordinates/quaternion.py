"""Seven positions, six speeds: the default."""

from typing import ClassVar

import jax.numpy as jnp

from ..spatial import (
    Pose,
    dot,
    quaternion_product,
    quaternion_to_rotation,
    rotation_to_quaternion,
    rotation_vector_to_quaternion,
)
from .base import Coordinates


class Quaternion(Coordinates):
    """q = (position of the centre of mass, unit quaternion), v = (its world velocity, body-frame angular velocity).

    The mass matrix is regular and constant, there is no singular rotation, and the unit length needs no constraint row
    because it is restored in `retract`.
    """

    twist_is_v: ClassVar[bool] = True

    @property
    def nq(self) -> int:
        return 7

    @property
    def nv(self) -> int:
        return 6

    def pose(self, q):
        return Pose(q[:3], quaternion_to_rotation(q[3:]))

    def from_pose(self, pose):
        return jnp.concatenate([pose.p, rotation_to_quaternion(pose.R)])

    def twist(self, q, v):
        return v

    def from_twist(self, q, twist):
        return twist

    def qdot(self, q, v):
        spin = jnp.concatenate([jnp.zeros(1), v[3:]])
        return jnp.concatenate([v[:3], 0.5 * quaternion_product(q[3:], spin)])

    def retract(self, q, dv):
        e = quaternion_product(q[3:], rotation_vector_to_quaternion(dv[3:]))
        return jnp.concatenate([q[:3] + dv[:3], e / jnp.sqrt(dot(e, e))])
