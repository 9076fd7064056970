"""Lengths against angles: the size of a mechanism, by which its equations lose their units.

Whether a singular value is small, or which of many corrections is the smallest, must not depend on whether lengths are in
millimetres or metres. Speeds and rows that are lengths are therefore measured by the size of the mechanism itself.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from .packed import Packed
from .spatial import Pose
from .terms import Equations


class Scaling(eqx.Module):
    """`J * columns[None, :]` has columns without a unit of length; rows marked by `lengths` are metres, the others angles."""

    length: Float[Array, ""]
    """Size of the mechanism (m)."""
    columns: Float[Array, " n"]
    """What one unit of each speed is: the size for a translation, 1 for a rotation."""

    def lengths(self, J: Float[Array, "m n"]) -> Bool[Array, " m"]:
        """Which rows of the constraints are lengths: those that a translation changes."""
        return jnp.any((J != 0) & (self.columns == self.length)[None, :], axis=1)

    def residual(self, J: Float[Array, "m n"], Phi: Float[Array, " m"]) -> Float[Array, " m"]:
        """Phi without a unit: lengths as parts of the size, angles in radians."""
        return jnp.where(self.lengths(J), Phi / self.length, Phi)

    def jacobian(self, J: Float[Array, "m n"]) -> tuple[Float[Array, "m n"], Float[Array, " m"]]:
        """J with scaled columns and rows of unit length, and the factors of the rows (1 for an empty row)."""
        J = J * self.columns[None, :]
        norm = jnp.sqrt(jnp.sum(J**2, axis=1))
        D = 1.0 / jnp.where(norm > 0, norm, 1.0)
        return D[:, None] * J, D


def scaling_of(equations: Equations, q: Float[Array, " nq"], J: Float[Array, "m n"]) -> Scaling:
    """The scaling at a pose; it has no derivative, because results do not depend on it."""
    if isinstance(equations, Packed):
        return jax.lax.stop_gradient(_of_bodies(equations, q))
    # Generalised coordinates have no known unit: the columns get equal weight.
    norm = jnp.sqrt(jnp.sum(J**2, axis=0))
    return jax.lax.stop_gradient(Scaling(jnp.ones(()), 1.0 / jnp.where(norm > 0, norm, 1.0)))


def _of_bodies(equations: Packed, q) -> Scaling:
    length = _size(equations, q)
    columns = []
    for flags in equations.over_bodies(_is_translation, q):
        columns.append(jnp.where(flags, length, 1.0).reshape(-1))
    return Scaling(length, jnp.concatenate(columns))


def _is_translation(kind):
    def of(q):
        T = jax.jacfwd(kind.twist, argnums=1)(q, jnp.zeros(kind.nv))
        return jnp.any(T[:3] != 0, axis=0)

    return of


def _size(equations: Packed, q) -> Float[Array, ""]:
    """Root mean square of the arms of the ports and of the distances of the ports from their middle. The radius of gyration
    stands in where these are zero but for rounding (a wheel on its hub), and 1 where nothing has an extent."""
    gyration = jnp.mean(jnp.trace(equations.inertia, axis1=1, axis2=2) / equations.mass)
    square = jnp.zeros(())
    if equations.joints:
        poses = equations.poses(q)
        arms = [
            jnp.where((group.index < equations.mass.size)[:, None], group.frames.p, 0.0) for group in equations.joints
        ]
        ports = jnp.concatenate([_origins(poses, group) for group in equations.joints])
        spread = ports - jnp.mean(ports, axis=0, keepdims=True)
        square = _mean_square(jnp.concatenate(arms)) + _mean_square(spread)
    square = jnp.where(square > 1e-16 * gyration, square, gyration)
    return jnp.where(square > 0, jnp.sqrt(jnp.where(square > 0, square, 1.0)), 1.0)


def _mean_square(x: Float[Array, "k 3"]) -> Float[Array, ""]:
    return jnp.mean(jnp.sum(x**2, axis=1))


def _origins(poses: Pose, group) -> Float[Array, "ports 3"]:
    return (Pose(poses.p[group.index], poses.R[group.index]) @ group.frames).p
