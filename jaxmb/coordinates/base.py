"""How the pose and speed of a body are written as numbers.

A kind needs `pose` and its inverse; where the speeds are the rates of the positions (v = qdot) everything else follows
by one jvp, so no kind writes a derivative by hand.
"""

import abc
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..spatial import Pose, compose, unskew


class Coordinates(eqx.Module):
    """A coordinate kind. The pose is that of the body axes with the centre of mass as origin."""

    twist_is_v: ClassVar[bool] = False
    """The speeds are the twist itself, so that T is the identity and need not be formed."""
    singular_mass: ClassVar[bool] = False
    """M = T' B T lacks full rank (more speeds than motions)."""
    own_rows: ClassVar[tuple[str, ...]] = ()
    """Names of the constraint rows that the coordinates themselves bring."""

    @property
    @abc.abstractmethod
    def nq(self) -> int:
        """Number of position coordinates of a body."""

    @property
    def nv(self) -> int:
        """Number of speeds of a body."""
        return self.nq

    @abc.abstractmethod
    def pose(self, q: Float[Array, " nq"]) -> Pose:
        """Pose of the body at its centre of mass, in the world."""

    @abc.abstractmethod
    def from_pose(self, pose: Pose) -> Float[Array, " nq"]:
        """The coordinates of a pose; the inverse of `pose`."""

    def twist(self, q: Float[Array, " nq"], v: Float[Array, " nv"]) -> Float[Array, "6"]:
        """World velocity of the centre of mass and body-frame angular velocity; linear in v."""
        pose, rate = jax.jvp(self.pose, (q,), (self.qdot(q, v),))
        return jnp.concatenate([rate.p, unskew(compose(pose.R.T, rate.R))])

    def from_twist(self, q: Float[Array, " nq"], twist: Float[Array, "6"]) -> Float[Array, " nv"]:
        """The smallest speeds with that twist; motions the kind cannot have are dropped."""
        T = jax.jacfwd(self.twist, argnums=1)(q, jnp.zeros(self.nv))
        return jnp.linalg.pinv(T) @ twist

    def qdot(self, q: Float[Array, " nq"], v: Float[Array, " nv"]) -> Float[Array, " nq"]:
        """Rate of the positions."""
        return v

    def retract(self, q: Float[Array, " nq"], dv: Float[Array, " nv"]) -> Float[Array, " nq"]:
        """The positions reached by the small displacement dv (speeds times time)."""
        return q + dv

    # Around a pose, implicit integrators use local coordinates x and speeds u in axes that go with the body, in which a body that
    # merely turns, and all it carries, changes nothing. Kinds without such axes have x = displacement and u = v.

    def chart(self, q: Float[Array, " nq"], x: Float[Array, " nv"]) -> Float[Array, " nq"]:
        """The positions at the local coordinates x around q."""
        return self.retract(q, x)

    def chart_speed(
        self, q: Float[Array, " nq"], x: Float[Array, " nv"], rate: Float[Array, " nv"]
    ) -> Float[Array, " nv"]:
        """The speeds u at the local coordinates x, which change at `rate`."""
        return rate

    def to_axes(self, q: Float[Array, " nq"], v: Float[Array, " nv"]) -> Float[Array, " nv"]:
        """Speeds in axes that go with the body."""
        return v

    def from_axes(self, q: Float[Array, " nq"], u: Float[Array, " nv"]) -> Float[Array, " nv"]:
        """The inverse of `to_axes`."""
        return u

    def drift(self, u: Float[Array, " nv"]) -> Float[Array, " nv"]:
        """What the turning axes add to the rate of u to make it that of v: to_axes(q, a) = du/dt + drift(u)."""
        return jnp.zeros_like(u)

    def own_residual(self, q: Float[Array, " nq"]) -> Float[Array, " rows"]:
        """The kind's own constraint rows."""
        return jnp.zeros(0)

    def regularity(self, q: Float[Array, " nq"]) -> Float[Array, ""]:
        """A signed measure that is zero where the coordinates are singular (1 where they never are)."""
        return jnp.ones(())
