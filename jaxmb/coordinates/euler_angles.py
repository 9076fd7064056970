"""Three angles about body axes, in any of the twelve sequences."""

import equinox as eqx
import jax.numpy as jnp

from ..errors import ModelError
from ..spatial import Pose, compose, rotation_about
from .base import Coordinates


class EulerAngles(Coordinates):
    """q = (position of the centre of mass, three angles), v = qdot, R = R_i(a) R_j(b) R_k(c) for the sequence ijk.

    Singular where sin(b) = 0 (sequences iji, as zxz) or cos(b) = 0 (ijk, as xyz): a run stops there with a status.
    """

    sequence: str = eqx.field(static=True, default="zxz")

    def __check_init__(self):
        letters = self.sequence
        if len(letters) != 3 or set(letters) - set("xyz") or letters[0] == letters[1] or letters[1] == letters[2]:
            raise ModelError(
                f"EulerAngles('{letters}') is not a rotation sequence: three letters of x, y, z are needed, no two "
                "neighbors equal. Use for example EulerAngles('zxz') or EulerAngles('xyz')."
            )

    @property
    def nq(self) -> int:
        return 6

    @property
    def axes(self) -> tuple[int, int, int]:
        i, j, k = ("xyz".index(letter) for letter in self.sequence)
        return i, j, k

    def pose(self, q):
        i, j, k = self.axes
        return Pose(q[:3], compose(compose(rotation_about(i, q[3]), rotation_about(j, q[4])), rotation_about(k, q[5])))

    def from_pose(self, pose):
        i, j, k = self.axes
        third = 3 - i - j
        sign = 1.0 if (j - i) % 3 == 1 else -1.0
        # R e_k does not depend on the last angle, so it gives the first, then the second; what is left is the last.
        R = pose.R
        sine, cosine = (R[j, k], -sign * R[third, k]) if k == i else (-sign * R[j, k], R[k, k])
        # In gimbal lock only the sum of first and last is known: the first is taken as zero.
        locked = sine**2 + cosine**2 < 1e-30
        a = jnp.arctan2(jnp.where(locked, 0.0, sine), jnp.where(locked, 1.0, cosine))
        R = rotation_about(i, a).T @ R
        b = jnp.arctan2(-sign * R[third, k], R[k, k]) if k == i else jnp.arctan2(sign * R[i, k], R[k, k])
        R = rotation_about(j, b).T @ R
        c = jnp.arctan2(R[(k + 2) % 3, (k + 1) % 3], R[(k + 1) % 3, (k + 1) % 3])
        return jnp.concatenate([pose.p, jnp.stack([a, b, c])])

    def regularity(self, q):
        return jnp.sin(q[4]) if self.sequence[0] == self.sequence[2] else jnp.cos(q[4])
