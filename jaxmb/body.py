"""Rigid bodies and the usual ways to make one."""

from collections.abc import Mapping

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Float

from .errors import ModelError, is_concrete
from .spatial import Mat3, Pose, Vec3, as_one

#: Axial radius of gyration of a thin rod, as a fraction of its length: it keeps the spatial mass matrix regular.
THIN = 0.01


def vector(value, what: str) -> Vec3:
    """Three numbers as an array; `what` names them in the error."""
    try:
        array = jnp.asarray(value, float)
    except (TypeError, ValueError) as error:
        raise ModelError(
            f"{what} needs three numbers (x, y, z), but is {value!r}. Give for example (1, 0, 0)."
        ) from error
    if array.shape != (3,):
        raise ModelError(
            f"{what} needs three numbers (x, y, z), but has shape {array.shape}. Give for example (1, 0, 0)."
        )
    return array


class Body(eqx.Module):
    """A rigid body: mass (kg), inertia about the centre of mass in body axes (kg m2), centre of mass in the body frame
    (m), reference pose of the body frame in the world, and named points in the body frame (m).

    `inertia` is three principal values or a full 3 x 3 matrix; a body used as a point mass needs none. `rotation` is
    the matrix R_WB in the reference configuration. Without a `position` the body is placed by the assembly.
    """

    mass: Float[Array, ""]
    inertia: Mat3
    com: Vec3
    pose: Pose
    points: dict[str, Vec3]
    placed: bool = eqx.field(static=True)

    def __init__(
        self,
        mass: ArrayLike,
        inertia=None,
        *,
        com=(0.0, 0.0, 0.0),
        position=None,
        rotation=None,
        points: Mapping[str, object] | None = None,
    ):
        self.mass = jnp.asarray(mass, float)
        J = jnp.zeros(3) if inertia is None else jnp.asarray(inertia, float)
        if J.shape not in ((3,), (3, 3)) or self.mass.shape != ():
            raise ModelError(
                f"Body needs a scalar mass and three principal inertias or a 3 x 3 inertia matrix, but got shapes "
                f"{self.mass.shape} and {J.shape}. Give for example Body(1.0, (0.1, 0.2, 0.2))."
            )
        self.inertia = jnp.diag(J) if J.ndim == 1 else J
        self.com = vector(com, "Body com")
        self.placed = position is not None
        R = jnp.eye(3) if rotation is None else jnp.asarray(rotation, float)
        if R.shape != (3, 3):
            raise ModelError(f"Body rotation must be a 3 x 3 matrix R_WB, but has shape {R.shape}.")
        self.pose = Pose(jnp.zeros(3) if position is None else vector(position, "Body position"), R)
        self.points = {"com": self.com} | {k: vector(p, f"Point '{k}'") for k, p in (points or {}).items()}

    def problem(self, needs_inertia: str) -> str | None:
        """What is physically wrong with the numbers, if they are known now; `needs_inertia` is 'xyz', 'z' or ''."""
        if not is_concrete(self.mass, self.inertia, self.com, self.pose):
            return None
        mass, J = float(self.mass), np.asarray(self.inertia)
        if not np.isfinite(mass) or mass <= 0:
            return f"has mass {mass:g} kg; a mass must be a positive finite number"
        if not np.all(np.isfinite(J)) or not np.allclose(J, J.T, rtol=1e-9, atol=1e-12 * np.abs(J).max()):
            return f"has the inertia matrix {J.tolist()}; it must be finite and symmetric"
        for what, place in (("centre of mass", self.com), ("reference position", self.pose.p)):
            if not np.all(np.isfinite(place)):
                return f"has the {what} {np.asarray(place).tolist()}; it must be finite"
        R = np.asarray(self.pose.R)
        if not np.allclose(R @ R.T, np.eye(3), atol=1e-8) or np.linalg.det(R) < 0:
            return f"has the rotation {R.tolist()}, which is not a rotation matrix; its columns must be orthonormal"
        principal = np.linalg.eigvalsh(J)
        if principal[0] < -1e-12 * principal[2] or principal[0] + principal[1] < principal[2] * (1 - 1e-9):
            return (
                f"has principal inertias {principal.tolist()} kg m2, which no body can have; each must be at most the "
                "sum of the other two, and none negative"
            )
        missing = J[2, 2] <= 0 if needs_inertia == "z" else principal[0] <= 1e-12 * principal[2]
        if needs_inertia and missing:
            return (
                f"has no inertia about some axis (principal inertias {principal.tolist()} kg m2); give "
                "Body(mass, inertia), use rod, box, cylinder or sphere, or describe it by PointMass() coordinates"
            )
        return None


@as_one
def _along(start: Vec3, end: Vec3) -> tuple[Vec3, Mat3, Float[Array, ""]]:
    """Middle, rotation (x axis along the line, z axis as near to the world's as can be) and length of a line."""
    length = jnp.sqrt(jnp.dot(end - start, end - start))
    x = (end - start) / length
    up = jnp.where(jnp.abs(x[2]) < 0.9, jnp.array([0.0, 0.0, 1.0]), jnp.array([0.0, 1.0, 0.0]))
    z = up - jnp.dot(up, x) * x
    z = z / jnp.sqrt(jnp.dot(z, z))
    return 0.5 * (start + end), jnp.stack([x, jnp.cross(z, x), z], axis=1), length


def _slender(start, end, length, inertia_of, mass, density, volume_of, points, what: str) -> Body:
    """A body along its x axis with points start, middle and end, from two world points or from its length."""
    by_points = start is not None and end is not None
    if by_points == (length is not None) or (start is None) != (end is None):
        raise ModelError(
            f"{what} needs either two points, {what}((0, 0, 0), (1, 0, 0), ...), or length=..., not both or neither."
        )
    middle, rotation = None, None
    if by_points:
        middle, rotation, length = _along(vector(start, "start"), vector(end, "end"))
    length = jnp.asarray(length, float)
    _check_sizes(what, length=length)
    mass = _mass(mass, density, volume_of(length), what)
    half = jnp.stack([0.5 * length, jnp.zeros(()), jnp.zeros(())])
    ends = {"start": -half, "middle": jnp.zeros(3), "end": half}
    return Body(mass, mass * inertia_of(length), position=middle, rotation=rotation, points=ends | dict(points or {}))


def _mass(mass, density, volume, what: str):
    if (mass is None) == (density is None) or (mass is None and volume is None):
        raise ModelError(
            f"{what} needs either mass (kg) or density (kg/m3) with its full dimensions, not both or neither."
        )
    return jnp.asarray(density * volume if mass is None else mass, float)


def _check_sizes(what: str, **sizes) -> None:
    for name, size in sizes.items():
        if size is not None and is_concrete(size) and not float(size) > 0:
            raise ModelError(
                f"{what} has {name} {float(size):g} m, which is no size. Give a positive number of metres."
            )


def rod(start=None, end=None, *, length=None, mass=None, density=None, radius=None, points=None) -> Body:
    """A straight rod with points "start", "middle" and "end", its x axis from start to end.

    By two world points (which also place it) or by `length`. Without a `radius` it is thin: m L^2 / 12 across, and
    along the axis the inertia of a radius of gyration of one hundredth of its length.
    """

    _check_sizes("rod", radius=radius)

    def inertia(L):
        axial, across = (THIN * L) ** 2, L**2 / 12
        if radius is not None:
            axial, across = radius**2 / 2, L**2 / 12 + radius**2 / 4
        return jnp.stack([jnp.asarray(i, float) for i in (axial, across, across)])

    def volume(L):
        return None if radius is None else jnp.pi * radius**2 * L

    return _slender(start, end, length, inertia, mass, density, volume, points, "rod")


def cylinder(start=None, end=None, *, length=None, radius, mass=None, density=None, points=None) -> Body:
    """A solid cylinder along its x axis, with points "start", "middle" and "end"."""
    return rod(start, end, length=length, mass=mass, density=density, radius=radius, points=points)


def box(start=None, end=None, *, length=None, width, height, mass=None, density=None, points=None) -> Body:
    """A cuboid along its x axis (width along y, height along z), with points "start", "middle" and "end"."""

    _check_sizes("box", width=width, height=height)

    def inertia(L):
        a, b, c = L**2, jnp.asarray(width, float) ** 2, jnp.asarray(height, float) ** 2
        return jnp.stack([b + c, a + c, a + b]) / 12

    return _slender(start, end, length, inertia, mass, density, lambda L: L * width * height, points, "box")


def sphere(center=None, *, radius, mass=None, density=None, points=None) -> Body:
    """A solid sphere about its centre."""
    _check_sizes("sphere", radius=radius)
    m = _mass(mass, density, 4 / 3 * jnp.pi * jnp.asarray(radius, float) ** 3, "sphere")
    J = 0.4 * m * jnp.asarray(radius, float) ** 2
    return Body(m, jnp.stack([J, J, J]), position=center, points=points)


def point_mass(position=None, *, mass) -> Body:
    """A mass without extent, for `PointMass` coordinates."""
    return Body(mass, position=position)
