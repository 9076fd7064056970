"""Frames for the tests of the joints: what a joint allows and forbids is tried on them by hand."""

import jax.numpy as jnp
import numpy as np

from jaxmb.spatial import Pose

from ..oracles import rotation_matrices, turn

F = Pose(jnp.array([0.4, -0.3, 0.7]), jnp.array(rotation_matrices(1, seed=21)[0]))
"""Where the first body holds the joint."""
T = jnp.array(0.0)


def along(x=0.0, y=0.0, z=0.0):
    """A displacement in the axes of a frame."""
    return Pose(jnp.array([x, y, z]), jnp.eye(3))


def about(axis, angle):
    """A turn about a direction of a frame ('x', 'y', 'z' or three numbers)."""
    axis = dict(zip("xyz", np.eye(3), strict=True))[axis] if isinstance(axis, str) else axis
    return Pose(jnp.zeros(3), jnp.array(turn(axis, angle)))


def gap(joint, *motions, start=F, t=T):
    """Largest entry of the residual when the second frame stands off the first by the motions, one after the other."""
    G = start
    for motion in motions:
        G = G @ motion
    return float(jnp.max(jnp.abs(joint.residual(start, G, t))))


def coordinates(joint, *motions):
    G = F
    for motion in motions:
        G = G @ motion
    return np.asarray(joint.measure(F, G))


MOTIONS = {
    "x": along(x=0.3),
    "y": along(y=0.3),
    "z": along(z=0.3),
    "turn x": about("x", 0.4),
    "turn y": about("y", 0.4),
    "turn z": about("z", 0.4),
}
"""The six small motions of a frame."""


def allowed(joint) -> set[str]:
    """Which of the six motions keep the joint closed; the others must open it clearly."""
    gaps = {name: gap(joint, motion) for name, motion in MOTIONS.items()}
    assert all(g < 1e-12 or g > 1e-2 for g in gaps.values()), gaps
    return {name for name, g in gaps.items() if g < 1e-12}
