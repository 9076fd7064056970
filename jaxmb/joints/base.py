"""What a joint is: a residual between frames fixed in bodies. Jacobian, rate and gamma are derived, never written."""

import abc
from typing import Any, ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Float

from ..ports import Element, pair
from ..spatial import Pose


class Joint(Element):
    """Base of all two-body joints.

    Geometry either by a world `point` and `axis` in the reference configuration, where the joint coordinates are zero,
    or by points fixed in the bodies: `at` on the first, `to` on the second (three numbers in the body frame or a
    point's name), with `axis` in the frame of the first and `axis_to` (the same numbers by default) in that of the
    second.

    A subclass writes `residual` on the two frames F and G in the world (z is the axis) and names its rows.
    """

    rows: ClassVar[tuple[str, ...]]
    """Names of the constraint rows."""
    coordinates: ClassVar[tuple[str, ...]] = ()
    """Names of what `measure` returns; those that begin with 'angle' are in radians, the others in metres."""
    rheonomic: ClassVar[bool] = False
    """Whether the residual depends on time by itself."""

    def __init__(self, first: str, second: str, *, point=None, at=None, to=None, axis: Any = "z", axis_to=None):
        self.ports = pair(type(self).__name__, first, second, point, at, to, axis, axis_to)

    @property
    def nrows(self) -> int:
        return len(self.rows)

    @abc.abstractmethod
    def residual(self, F: Pose, G: Pose, t: Float[Array, ""]) -> Float[Array, " rows"]:
        """Zero when the joint is closed; metres, or the sine of an angle."""

    def measure(self, F: Pose, G: Pose) -> Float[Array, " coordinates"]:
        """The joint coordinates."""
        return jnp.zeros(0)
