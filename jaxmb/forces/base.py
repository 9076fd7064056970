"""What a force element is.

Most act on a measured quantity (a length, a joint angle, the six displacements of a bushing): then geometry is
`measure`, the law is apart from it, and the loads on the bodies follow from virtual power.
"""

import abc

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..ports import Element
from ..spatial import Motion, Pose, Vec3, cross

Load = tuple[Vec3, Vec3]
"""Force (N) and torque (N m) at the origin of a port, in world axes."""


class Force(Element):
    """Base of all force elements; a subclass says what it does at each of its ports."""

    @abc.abstractmethod
    def loads(self, *motions: Motion, t: Float[Array, ""]) -> tuple[Load, ...]:
        """The load on each port."""

    def energy(self, *poses: Pose) -> Float[Array, ""]:
        """Potential energy (J) of the conservative part."""
        return jnp.zeros(())


class MeasuredForce(Force):
    """A force that opposes measured quantities x: loads = -(dx / d twist)' f(x, xdot, t)."""

    @abc.abstractmethod
    def measure(self, *poses: Pose) -> Float[Array, " k"]:
        """The measured quantities."""

    @abc.abstractmethod
    def magnitude(self, x: Float[Array, " k"], xdot: Float[Array, " k"], t: Float[Array, ""]) -> Float[Array, " k"]:
        """The force along each of them, positive when it reduces x."""

    def loads(self, *motions, t):
        def displaced(twists):
            return self.measure(*(displace(m.pose, *twist) for m, twist in zip(motions, twists, strict=True)))

        zero = tuple((jnp.zeros(3), jnp.zeros(3)) for _ in motions)
        x, pull_back = jax.vjp(displaced, zero)
        _, xdot = jax.jvp(displaced, (zero,), (tuple((m.v, m.w) for m in motions),))
        (loads,) = pull_back(-self.magnitude(x, xdot, t))
        return loads


def displace(pose: Pose, dp: Vec3, dphi: Vec3) -> Pose:
    """The pose after a small displacement and turn in world axes, to first order."""
    return Pose(pose.p + dp, pose.R + cross(dphi[None, :], pose.R.T).T)
