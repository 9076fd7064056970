"""What a mechanism is drawn with: bodies and joints by the places they have in one pose."""

from dataclasses import dataclass, field

import numpy as np

import jaxmb as mb

from .geometry import Z, frame, turn

#: Radius of gyration of a bar about its own axis, as a part of its length.
SLENDER = 0.05


@dataclass(frozen=True)
class Place:
    """Where the whole mechanism is put, its ground included."""

    rotation: np.ndarray = field(default_factory=lambda: np.eye(3))
    shift: np.ndarray = field(default_factory=lambda: np.zeros(3))


HERE = Place()
#: A place that no axis of the world is aligned with.
TILTED = Place(turn((1.0, 2.0, -0.5), 0.9), np.array([0.7, -1.1, 0.4]))
#: Three places in the plane z = 0 and three in space, for structures: they have one pose only.
IN_PLANE = (HERE, Place(turn(Z, 0.8), np.array([0.5, 0.2, 0.0])), Place(turn(Z, -2.1), np.array([-1.0, 0.3, 0.0])))
IN_SPACE = (HERE, TILTED, Place(turn((-1.0, 0.3, 0.8), 2.0), np.array([-0.2, 0.4, 1.3])))


class Model:
    """Bodies and joints at the places they have in one pose, in units of length and mass; what comes out is scaled and placed.

    The frame of a body is fixed in it from pose to pose, so the poses of a mechanism are states of one system.
    """

    def __init__(self, length: float, mass: float, place: Place):
        self.length, self.mass, self.place = length, mass, place
        self.bodies: dict[str, mb.Body] = {}
        self.joints: dict[str, mb.Joint] = {}

    def _point(self, point):
        return self.length * (self.place.rotation @ point + self.place.shift)

    def _body(self, name, mass, gyration, center, rotation):
        """A body with its mass and the squares of its radii of gyration in units."""
        inertia = self.mass * mass * self.length**2 * np.asarray(gyration, float)
        position, rotation = self._point(center), self.place.rotation @ rotation
        self.bodies[name] = mb.Body(self.mass * mass, inertia, position=position, rotation=rotation)

    def bar(self, name, start, end, across=Z):
        """A bar with the mass of its length; `across` is a direction that is fixed in it."""
        line = np.asarray(end) - start
        l2 = line @ line
        gyration = l2 * np.array([SLENDER**2, 1 / 12, 1 / 12])
        self._body(name, np.sqrt(l2), gyration, 0.5 * (start + np.asarray(end)), frame(line, across))

    def block(self, name, center, rotation=HERE.rotation, size=(1.0, 0.8, 0.5)):
        """A cuboid of unit mass."""
        a, b, c = np.square(size)
        self._body(name, 1.0, np.array([b + c, a + c, a + b]) / 12, center, rotation)

    def node(self, name, position):
        """A point mass."""
        self.bodies[name] = mb.point_mass(self._point(position), mass=self.mass)

    def joint(self, name, kind, first, second, point, axis=None, axis_to=None, **numbers):
        """A joint by its place; `numbers` as they are, lengths among them scaled by the caller."""
        axes = {"axis": axis, "axis_to": axis_to}
        turned = {key: self.place.rotation @ value for key, value in axes.items() if value is not None}
        self.joints[name] = kind(first, second, point=self._point(point), **turned, **numbers)

    def strut(self, name, first, second, start, end):
        """A massless bar from a point of the first body to one of the second."""
        at, to = (self._local(body, self._point(point)) for body, point in ((first, start), (second, end)))
        length = np.linalg.norm(self._point(end) - self._point(start))
        self.joints[name] = mb.Distance(first, second, at=at, to=to, length=length)

    def _local(self, body, point):
        if body == "ground":
            return point
        pose = self.bodies[body].pose
        return np.asarray(pose.R).T @ (point - np.asarray(pose.p))

    def relation(self, name, joint):
        """An element that refers to joints by name: a driver or a gear."""
        self.joints[name] = joint

    def loop(self, points, axes=None, kinds=mb.Revolute):
        """A closed chain: joints P1, P2, ... at the points, bars "link1", "link2", ... between them, the ground from the
        last to the first. An axis is a direction, or one for each of the two bodies."""
        kinds = [kinds] * len(points) if isinstance(kinds, type) else kinds
        axes = [None] * len(points) if axes is None else axes
        chain = ["ground", *(f"link{k}" for k in range(1, len(points))), "ground"]
        for k, (point, axis, kind) in enumerate(zip(points, axes, kinds, strict=True)):
            first, second = axis if isinstance(axis, tuple) else (axis, axis)
            if k + 1 < len(points):
                self.bar(chain[k + 1], point, points[k + 1], Z if second is None else second)
            self.joint(f"P{k + 1}", kind, chain[k], chain[k + 1], point, first, second)

    def system(self, coordinates: mb.Coordinates) -> tuple[mb.System, mb.State]:
        system = mb.System(self.bodies, self.joints, coordinates=coordinates)
        return system, system.state()
