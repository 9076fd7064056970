"""Seven positions whose rates are the speeds, and a norm row: the classical singular mass matrix."""

from typing import ClassVar

import jax.numpy as jnp

from ..spatial import Pose, quaternion_to_rotation, rotation_to_quaternion
from .base import Coordinates


class EulerParameters(Coordinates):
    """q = (position of the centre of mass, e), v = qdot, with the row e.e - 1 = 0.

    omega = 2 G(e) edot, so the rotational mass 4 G' J G has rank 3 of 4: Udwadia-Kalaba and least-squares 1 must refuse
    it, least-squares 2 and Udwadia-Phohomsiri need not. `Quaternion` describes the same with a regular mass.
    """

    singular_mass: ClassVar[bool] = True
    own_rows: ClassVar[tuple[str, ...]] = ("norm",)

    @property
    def nq(self) -> int:
        return 7

    def pose(self, q):
        return Pose(q[:3], quaternion_to_rotation(q[3:]))

    def from_pose(self, pose):
        return jnp.concatenate([pose.p, rotation_to_quaternion(pose.R)])

    def own_residual(self, q):
        return jnp.reshape(jnp.dot(q[3:], q[3:]) - 1.0, (1,))
