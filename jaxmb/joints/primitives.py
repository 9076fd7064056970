"""The few relations between two frames from which the joints are composed; all vectors in world axes."""

from jaxtyping import Array, Float

from ..spatial import Pose, Vec3, angle_about_z, compose, dot, turn


def coincide(F: Pose, G: Pose) -> Vec3:
    """The origins are one point (3 rows, in world axes)."""
    return G.p - F.p


def perpendicular1(a: Vec3, b: Vec3) -> Float[Array, "1"]:
    """A direction of one body is perpendicular to a direction of the other (1 row)."""
    return dot(a, b)[None]


def perpendicular2(a: Vec3, F: Pose, G: Pose) -> Float[Array, "1"]:
    """The line from F to G is perpendicular to the direction a (1 row)."""
    return dot(a, G.p - F.p)[None]


def parallel1(F: Pose, G: Pose) -> Float[Array, "2"]:
    """The z axes are parallel (2 rows): z of G is perpendicular to x and y of F. Two of the three rows of a cross
    product would vanish for some directions; these never do."""
    return turn(F.R[:, :2].T, G.z)


def parallel2(F: Pose, G: Pose) -> Float[Array, "2"]:
    """The origin of G lies on the z axis of F (2 rows)."""
    return turn(F.R[:, :2].T, G.p - F.p)


def distance(F: Pose, G: Pose, length: Float[Array, ""]) -> Float[Array, "1"]:
    """The origins are `length` apart (1 row, in metres near the solution; no square root, so it is smooth at zero)."""
    d = G.p - F.p
    return ((dot(d, d) - length**2) / (2 * length))[None]


def angle(F: Pose, G: Pose) -> Float[Array, ""]:
    """How far G is turned from F about the z axis they share."""
    return angle_about_z(compose(F.R.T, G.R))
