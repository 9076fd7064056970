"""Frames that ride on bodies: poses, rates and second derivatives of all ports of a mechanism at once."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from .spatial import Pose, compose, cross, turn


class Ride(eqx.Module):
    """A frame fixed in a moving body, which has the twist (world velocity of its centre of mass, body-frame angular velocity).

    `rate` and `drift` are the first derivative of the frame's pose and the second one at constant twist, `basis` what each
    entry of the twist makes of the pose: together they are all that derivatives of a function of the pose need.
    """

    pose: Pose
    rate: Pose
    drift: Pose
    basis: Pose
    w: Float[Array, "*batch 3"]
    """Angular velocity in world axes."""
    arm: Float[Array, "*batch 3"]
    """From the centre of mass to the frame, in world axes."""
    R_body: Float[Array, "*batch 3 3"]


def ride(body: Pose, twist: Float[Array, "*batch 6"], frame: Pose) -> Ride:
    """The frame at `frame` from the centre of mass of a body with pose `body` and `twist`."""
    arm, axes = turn(body.R, frame.p), jnp.swapaxes(compose(body.R, frame.R), -1, -2)
    # Four vectors that turn with the body: the arm and the three axes of the frame.
    X = jnp.concatenate([arm[..., None, :], axes], axis=-2)
    w = turn(body.R, twist[..., 3:])
    X_rate = cross(w[..., None, :], X)
    X_drift = cross(w[..., None, :], X_rate)
    X_basis = cross(jnp.swapaxes(body.R, -1, -2)[..., :, None, :], X[..., None, :, :])
    pose, rate, drift, turned = (_pose(x) for x in (X, X_rate, X_drift, X_basis))
    shifts = jnp.broadcast_to(jnp.eye(3), turned.p.shape)
    basis = Pose(
        jnp.concatenate([shifts, turned.p], axis=-2), jnp.concatenate([jnp.zeros_like(turned.R), turned.R], axis=-3)
    )
    return Ride(
        Pose(body.p + pose.p, pose.R), Pose(twist[..., :3] + rate.p, rate.R), drift, basis, w, arm, body.R
    )  # fmt: skip


def _pose(X: Float[Array, "*batch 4 3"]) -> Pose:
    return Pose(X[..., 0, :], jnp.swapaxes(X[..., 1:, :], -1, -2))
