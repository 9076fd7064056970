"""Where joints and forces attach: frames fixed in bodies, as the user names them and as the equations need them."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import equinox as eqx
import numpy as np

from .body import Body, vector
from .errors import ModelError, did_you_mean, is_concrete, unknown_name
from .spatial import Pose, Vec3, frame_with_z, seen_from

GROUND = "ground"
_UNIT = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


def direction(axis, what: str) -> Vec3:
    """'x', 'y', 'z' or three numbers that are not all zero."""
    if isinstance(axis, str):
        if axis not in _UNIT:
            raise ModelError(f"{what} has axis '{axis}', which is not a direction. Use 'x', 'y', 'z' or three numbers.")
        axis = _UNIT[axis]
    a = vector(axis, f"{what} axis")
    if is_concrete(a) and not (np.all(np.isfinite(a)) and np.any(np.asarray(a) != 0)):
        raise ModelError(
            f"{what} has axis {np.asarray(a).tolist()}, which has no direction. Give a non-zero axis such as 'z'."
        )
    return a


class Port(eqx.Module):
    """A frame fixed in a body: where an element attaches. `frame` is its pose in the body frame."""

    body: str = eqx.field(static=True)
    frame: Pose


class Anchor(eqx.Module):
    """A port as the user names it: by a world point in the reference configuration, or by a point of the body (three
    numbers in the body frame, or the name of a point) with the axis in the same frame."""

    body: str = eqx.field(static=True)
    point: Vec3 | str
    axis: Vec3
    in_world: bool = eqx.field(static=True)

    def resolve(self, what: str, bodies: Mapping[str, Body]) -> Port:
        if self.body == GROUND:
            if isinstance(self.point, str):
                raise ModelError(
                    f"{what} uses point '{self.point}' of the ground, which has no named points. Give three numbers."
                )
            return Port(GROUND, Pose(self.point, frame_with_z(self.axis)))
        if self.body not in bodies:
            raise unknown_name(f"{what} connects to body", "Bodies", self.body, [GROUND, *bodies])
        body = bodies[self.body]
        if isinstance(self.point, str):
            if self.point not in body.points:
                raise ModelError(
                    f"{what} uses point '{self.point}' of body '{self.body}', which it does not have. Points: "
                    f"{', '.join(body.points)}.{did_you_mean(self.point, body.points)}"
                )
            return Port(self.body, Pose(body.points[self.point], frame_with_z(self.axis)))
        frame = Pose(self.point, frame_with_z(self.axis))
        if not self.in_world:
            return Port(self.body, frame)
        if not body.placed:
            raise ModelError(
                f"{what} is given by a world point, but body '{self.body}' has no place in the world yet. Give the "
                "body a position (for a rod: its two end points), or use at= and to= with points of the bodies."
            )
        return Port(self.body, seen_from(body.pose, frame))


class Element(eqx.Module):
    """What joints and forces share: the frames by which they hold on to bodies."""

    ports: tuple[Anchor | Port, ...]

    @property
    def bodies(self) -> tuple[str, ...]:
        return tuple(port.body for port in self.ports)

    @property
    def attached(self) -> bool:
        """Whether the frames are known."""
        return bool(self.ports) and all(isinstance(port, Port) for port in self.ports)

    def attach(self, what: str, bodies: Mapping[str, Body], joints: Mapping[str, Any]) -> "Element":
        """The element with its frames found in the bodies; names are checked here. `what` begins the error message."""
        ports = tuple(port if isinstance(port, Port) else port.resolve(what, bodies) for port in self.ports)
        return replace(self, ports=ports)


def pair(what: str, first: str, second: str, point, at, to, axis, axis_to) -> tuple[Anchor, Anchor]:
    """The two ports of an element between two bodies, from a world point or from body points."""
    if point is not None and (at is not None or to is not None):
        raise ModelError(
            f"{what}('{first}', '{second}') has both point= and at=/to=. Give a world point, or body points."
        )
    if isinstance(point, str):
        raise ModelError(
            f"{what}('{first}', '{second}') has point='{point}', but point= is a place in the world. Give three "
            "numbers, or name points of the bodies with at= and to=."
        )
    if first == second:
        raise ModelError(f"{what} connects '{first}' with itself. It needs two different bodies.")
    axis = direction(axis, what)
    axis_to = axis if axis_to is None else direction(axis_to, what)
    first_point, second_point = (at, to) if point is None else (point, point)
    world = point is not None
    return anchor(first, first_point, axis, world, what), anchor(second, second_point, axis_to, world, what)


def port(body: str, point="com", *, axis="z") -> Anchor:
    """A port for an element of one's own: at a point of a body (its name, or three numbers in the body frame)."""
    return anchor(body, point, direction(axis, "port"), False, "port")


def anchor(body: str, point, axis: Vec3, in_world: bool, what: str) -> Anchor:
    if point is None:
        point = (0.0, 0.0, 0.0)
    return Anchor(body, point if isinstance(point, str) else vector(point, f"{what} point"), axis, in_world)


def replace(module, **changes) -> Any:
    """A copy of a module with other values for some of its fields (`eqx.tree_at` cannot select an empty tuple)."""
    copy = object.__new__(type(module))
    for field in dataclasses.fields(module):
        object.__setattr__(copy, field.name, changes.get(field.name, getattr(module, field.name)))
    return copy
