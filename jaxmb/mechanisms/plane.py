"""Links of planar mechanisms, and the closing of their loops."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from ..body import Body
from ..spatial import rotation_about
from .mechanism import Number

Point = Float[Array, "2"]


def polar(length: Number, angle: Number) -> Point:
    """The point at a distance from the origin, in a direction counted from x."""
    return jnp.stack([jnp.asarray(length * jnp.cos(angle)), jnp.asarray(length * jnp.sin(angle))])


def third_point(A: Point, B: Point, from_A: Number, from_B: Number) -> Point:
    """The point at two given distances from A and B that lies to the left of the way from A to B.

    NaN when the distances are too short to meet.
    """
    AB = B - A
    d2 = jnp.dot(AB, AB)
    along = (from_A**2 - from_B**2 + d2) / (2 * d2)
    across = jnp.sqrt(from_A**2 / d2 - along**2)
    return A + along * AB + across * jnp.stack([-AB[1], AB[0]])


def direction(A: Point, B: Point) -> Float[Array, ""]:
    """Angle of the way from A to B, counted from x."""
    return jnp.arctan2(B[1] - A[1], B[0] - A[0])


def plate(mass: Number, inertia: Number, origin: Point, angle: Number, *, com=(0.0, 0.0), points) -> Body:
    """A flat body in the plane z = 0 with its frame at `origin`, turned by `angle`; `inertia` (kg m2) is about z
    through the centre of mass. What is in the plane has Jx + Jy = Jz."""
    J = jnp.asarray(inertia, float)
    rotation = rotation_about(2, jnp.asarray(angle, float))
    position = jnp.stack([origin[0], origin[1], jnp.zeros(())])
    flat = {name: (*point, 0.0) for name, point in points.items()}
    return Body(mass, jnp.stack([J / 2, J / 2, J]), com=(*com, 0.0), position=position, rotation=rotation, points=flat)


def bar(mass: Number, inertia: Number, start: Point, angle: Number, a: Number, b: Number) -> Body:
    """A bar from `start` in the direction `angle`, its centre of mass (and frame) `a` from the start and `b` from the
    end."""
    return plate(mass, inertia, start + polar(a, angle), angle, points={"start": (-a, 0.0), "end": (b, 0.0)})


def heading(rotation: Float[Array, "times 3 3"], axis: int = 0) -> Float[Array, " times"]:
    """Angle about z of an axis of a body, counted from x and continuous in time."""
    return jnp.unwrap(jnp.arctan2(rotation[:, 1, axis], rotation[:, 0, axis]))
