"""Seven positions, six speeds: the default."""

from typing import ClassVar

import jax
import jax.numpy as jnp

from ..spatial import (
    Pose,
    compose,
    cross,
    dot,
    mean_rotation,
    quaternion_product,
    quaternion_to_rotation,
    rotation_to_quaternion,
    rotation_vector_to_quaternion,
    unskew,
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

    def chart(self, q, x):
        """Along a screw: the body turns by x[3:] about an axis of its own while it moves along it."""
        R = quaternion_to_rotation(q[3:])
        e = quaternion_product(q[3:], rotation_vector_to_quaternion(x[3:]))
        return jnp.concatenate([q[:3] + R @ mean_rotation(x[3:], x[:3]), e / jnp.sqrt(dot(e, e))])

    def chart_speed(self, q, x, rate):
        pose, change = jax.jvp(lambda x: self.pose(self.chart(q, x)), (x,), (rate,))
        return jnp.concatenate([pose.R.T @ change.p, unskew(compose(pose.R.T, change.R))])

    def to_axes(self, q, v):
        return jnp.concatenate([quaternion_to_rotation(q[3:]).T @ v[:3], v[3:]])

    def from_axes(self, q, u):
        return jnp.concatenate([quaternion_to_rotation(q[3:]) @ u[:3], u[3:]])

    def drift(self, u):
        return jnp.concatenate([cross(u[3:], u[:3]), jnp.zeros(3)])
