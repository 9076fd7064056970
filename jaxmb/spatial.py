"""Rotations and poses, with derivatives that stay finite at rotation angles 0 and pi.

Notation: `p_AP_A` is the position of P from A in the axes of A, `R_WB` turns vectors of B into W, `w_WB_B` is the
angular velocity of B in W in the axes of B. W is the world.
"""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

Vec3 = Float[Array, "3"]
Mat3 = Float[Array, "3 3"]

# Products of vectors and matrices of three are sums here: XLA makes a call of every `dot`, but fuses these, so that the equations
# of a mechanism are faster to evaluate and to compile.

#: For functions that builders call outside of any program: there each of their operations would be compiled by itself.
as_one = functools.partial(jax.jit, inline=True)


def dot(a: Float[Array, "*batch n"], b: Float[Array, "*batch n"]) -> Float[Array, "*batch"]:
    """a . b over the last axis."""
    return jnp.sum(a * b, axis=-1)


def turn(R: Float[Array, "*batch n k"], x: Float[Array, "*batch k"]) -> Float[Array, "*batch n"]:
    """R x."""
    return jnp.sum(R * x[..., None, :], axis=-1)


def compose(A: Float[Array, "*batch n k"], B: Float[Array, "*batch k l"]) -> Float[Array, "*batch n l"]:
    """A B."""
    return jnp.sum(A[..., :, :, None] * B[..., None, :, :], axis=-2)


def cross(a: Float[Array, "*#batch 3"], b: Float[Array, "*#batch 3"]) -> Float[Array, "*batch 3"]:
    """a x b over the last axis."""
    return _next(a * _next(b) - _next(a) * b)


def _next(a):
    """(y, z, x) of (x, y, z)."""
    return jnp.concatenate([a[..., 1:], a[..., :1]], axis=-1)


class Pose(eqx.Module):
    """Position `p` and rotation matrix `R` of a frame in another one; the columns of R are its axes."""

    p: Float[Array, "*batch 3"]
    R: Float[Array, "*batch 3 3"]

    def __matmul__(self, other: "Pose") -> "Pose":
        return Pose(self.p + turn(self.R, other.p), compose(self.R, other.R))

    def inverse(self) -> "Pose":
        return Pose(-turn(self.R.T, self.p), self.R.T)

    @property
    def x(self) -> Vec3:
        return self.R[:, 0]

    @property
    def y(self) -> Vec3:
        return self.R[:, 1]

    @property
    def z(self) -> Vec3:
        return self.R[:, 2]


@as_one
def seen_from(frame: Pose, other: Pose) -> Pose:
    """The pose of `other` in `frame`, from the poses of both in the world."""
    return frame.inverse() @ other


class Motion(eqx.Module):
    """A frame on the move: its pose in the world, the velocity `v` of its origin and its angular velocity `w`
    (world)."""

    pose: Pose
    v: Vec3
    w: Vec3


def inverse(A: Float[Array, "*batch 3 3"]) -> Float[Array, "*batch 3 3"]:
    """The inverse by cross products of the rows."""
    a, b, c = A[..., 0, :], A[..., 1, :], A[..., 2, :]
    columns = jnp.stack([cross(b, c), cross(c, a), cross(a, b)], axis=-1)
    return columns / dot(a, columns[..., 0])[..., None, None]


def identity_pose() -> Pose:
    return Pose(jnp.zeros(3), jnp.eye(3))


def skew(w: Vec3) -> Mat3:
    """The matrix with skew(w) @ x = cross(w, x)."""
    zero = jnp.zeros_like(w[0])
    return jnp.array([[zero, -w[2], w[1]], [w[2], zero, -w[0]], [-w[1], w[0], zero]])


def unskew(W: Mat3) -> Vec3:
    """The vector of the skew-symmetric part of W."""
    return 0.5 * jnp.stack([W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]])


def rotation_about(axis: int, angle: Float[Array, ""]) -> Mat3:
    """Rotation about a coordinate axis (0, 1, 2)."""
    e = np.eye(3)[axis]
    along, across = np.outer(e, e), np.cross(np.eye(3), -e).T
    return jnp.cos(angle) * (np.eye(3) - along) + jnp.sin(angle) * across + along


def quaternion_to_rotation(e: Float[Array, "4"]) -> Mat3:
    """R of the Euler parameters e = (scalar, vector); any non-zero length stands for the same rotation."""
    w, x, y, z = e
    R = jnp.array(
        [
            [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
        ]
    )
    return R / dot(e, e)


@as_one
def rotation_to_quaternion(R: Mat3) -> Float[Array, "4"]:
    """Unit Euler parameters of R with a non-negative largest entry.

    The four candidates are the columns of one symmetric matrix; the longest is taken, so that no square root is near
    zero and the derivative is finite for every rotation, angle pi included.
    """
    t = jnp.trace(R)
    d = jnp.diagonal(R)
    a = 2 * unskew(R)
    top = jnp.concatenate([jnp.reshape(1 + t, (1,)), a])
    lower = jnp.concatenate([a[:, None], R + R.T + jnp.eye(3) * (1 - t)], axis=1)
    candidates = jnp.concatenate([top[None], lower])
    best = jnp.argmax(jnp.concatenate([jnp.reshape(t, (1,)), 2 * d - t]))
    e = candidates[best]
    return e / jnp.sqrt(dot(e, e))


def quaternion_product(a: Float[Array, "4"], b: Float[Array, "4"]) -> Float[Array, "4"]:
    scalar = a[0] * b[0] - dot(a[1:], b[1:])
    vector = a[0] * b[1:] + b[0] * a[1:] + cross(a[1:], b[1:])
    return jnp.concatenate([jnp.reshape(scalar, (1,)), vector])


def rotation_vector_to_quaternion(phi: Vec3) -> Float[Array, "4"]:
    """Euler parameters of the rotation by |phi| about phi."""
    angle2 = dot(phi, phi)
    small = angle2 < 1e-8
    # Both branches see a harmless argument, so that no NaN of the unused one leaks into the derivative.
    angle = jnp.sqrt(jnp.where(small, 1.0, angle2))
    sinc_half = jnp.where(small, 0.5 - angle2 / 48, jnp.sin(angle / 2) / angle)
    cos_half = jnp.where(small, 1 - angle2 / 8 + angle2**2 / 384, jnp.cos(angle / 2))
    return jnp.concatenate([jnp.reshape(cos_half, (1,)), sinc_half * phi])


def mean_rotation(phi: Vec3, x: Vec3) -> Vec3:
    """The mean of exp(s skew(phi)) x over s from 0 to 1: where a body moves that turns by phi with the velocity x in its own
    axes."""
    angle2 = dot(phi, phi)
    small = angle2 < 1e-4
    angle = jnp.sqrt(jnp.where(small, 1.0, angle2))
    b = jnp.where(small, 1 / 2 - angle2 / 24 + angle2**2 / 720, (1 - jnp.cos(angle)) / angle**2)
    c = jnp.where(small, 1 / 6 - angle2 / 120 + angle2**2 / 5040, (angle - jnp.sin(angle)) / angle**3)
    across = cross(phi, x)
    return x + b * across + c * cross(phi, across)


def rotation_vector(R: Mat3) -> Vec3:
    """The vector phi with R = exp(skew(phi)) and |phi| <= pi; differentiable everywhere but exactly at |phi| = pi,
    where the vector itself jumps to its opposite."""
    e = rotation_to_quaternion(R)
    e = jnp.where(e[0] < 0, -e, e)
    s2 = dot(e[1:], e[1:])
    small = s2 < 1e-8
    s = jnp.sqrt(jnp.where(small, 1.0, s2))
    # angle / sin(angle / 2), expanded at 0
    factor = jnp.where(small, 2 + s2 / 3 + 3 * s2**2 / 20, 2 * jnp.arctan2(s, e[0]) / s)
    return factor * e[1:]


@as_one
def frame_with_z(axis: Vec3) -> Mat3:
    """A right-handed frame whose z axis is along `axis`; for x, y and z themselves the other axes follow in cyclic
    order, so that a joint angle about z is counted from x."""
    z = axis / jnp.sqrt(dot(axis, axis))
    reference = jnp.eye(3)[(jnp.argmax(jnp.abs(z)) + 1) % 3]
    x = reference - dot(reference, z) * z
    x = x / jnp.sqrt(dot(x, x))
    return jnp.stack([x, cross(z, x), z], axis=1)


def angle_about_z(R_FG: Mat3) -> Float[Array, ""]:
    """Angle in (-pi, pi] by which G is turned about the z axis it shares with F; smooth also when z is shared only
    approximately, as it is while a mechanism is being assembled."""
    return jnp.arctan2(R_FG[1, 0] - R_FG[0, 1], R_FG[0, 0] + R_FG[1, 1])


def wrap(angle: Float[Array, ""]) -> Float[Array, ""]:
    """The angle brought to (-pi, pi], with derivative 1."""
    return jnp.arctan2(jnp.sin(angle), jnp.cos(angle))
