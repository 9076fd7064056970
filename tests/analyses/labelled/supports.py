"""One or a few bodies held in more ways than needed."""

import numpy as np

import jaxmb as mb

from .geometry import X, Y, Z, polar, turn
from .label import each, label


def door(m, pose):
    R = turn(Z, (0.0, 0.9, 2.4)[pose])
    m.block("door", R @ (0.45 * X) + Z, R, size=(0.9, 0.04, 2.0))


def hinges(m, heights):
    for k, height in enumerate(heights):
        m.joint(f"hinge{k}", mb.Revolute, "ground", "door", height * Z, Z)


@label(
    rows=10,
    dof=1,
    redundant=5,
    reactions=each(("hinge0", "hinge1"), "not unique"),
    note="""Coaxial hinges allow the same rotation, so the second repeats all 5 rows of the first. What one hinge
    carries the other can take back: any force, and any moment across the axis.""",
)
def door_on_two_hinges(m, pose):
    door(m, pose)
    hinges(m, (0.4, 1.6))


@label(
    rows=15,
    dof=1,
    redundant=10,
    reactions=each(("hinge0", "hinge1", "hinge2"), "not unique"),
    note="As with two hinges; each further coaxial hinge repeats 5 rows.",
)
def door_on_three_hinges(m, pose):
    door(m, pose)
    hinges(m, (0.3, 1.1, 1.8))


@label(
    rows=5,
    dof=1,
    redundant=0,
    reactions=each(("pivot", "collar"), "unique"),
    note="""The statically determinate door: a ball below carries all forces, a collar above two across the axis, 6 -
    3 - 2 = 1.""",
)
def door_on_pivot_and_collar(m, pose):
    door(m, pose)
    m.joint("pivot", mb.Spherical, "ground", "door", 0.4 * Z)
    m.joint("collar", mb.InLine, "ground", "door", 1.6 * Z, Z)


@label(
    rows=6,
    dof=1,
    redundant=1,
    reactions={"ball": "unique", "parallel": "partly", "square": "not unique"},
    note="""A hinge put together of a ball and parallel axes, 6 - 3 - 2 = 1. That z of the body is perpendicular to x
    of the ground follows from its being parallel to z: 1 redundant row, and the moment about y is shared by the
    two.""",
)
def hinge_of_parts(m, pose):
    angle = (0.2, 1.3, -1.9)[pose]
    m.bar("bar", 0 * X, polar(angle))
    m.joint("ball", mb.Spherical, "ground", "bar", 0 * X)
    m.joint("parallel", mb.ParallelAxes, "ground", "bar", 0 * X, Z)
    m.joint("square", mb.PerpendicularAxes, "ground", "bar", 0 * X, X, Z)


@label(
    rows=4,
    dof=3,
    redundant=1,
    reactions=each(("leg0", "leg1", "leg2", "leg3"), "not unique"),
    note="""A table on a floor keeps the 3 freedoms of the plane; three legs fix height and two tilts, the fourth is
    redundant. The diagonal pairs of legs can press against each other, so no leg's load is unique.""",
)
def table_on_four_legs(m, pose):
    shift, angle = ((0 * X, 0.0), (0.5 * X - 0.2 * Y, 0.7), (-0.3 * X + Y, -1.9))[pose]
    R = turn(Z, angle)
    m.block("table", shift + 0.7 * Z, R, size=(1.2, 0.8, 0.05))
    for k, (x, y) in enumerate(((0.6, 0.4), (-0.6, 0.4), (-0.6, -0.4), (0.6, -0.4))):
        m.joint(f"leg{k}", mb.InPlane, "ground", "table", shift + R @ (x * X + y * Y), Z)


@label(
    rows=6,
    dof=3,
    redundant=3,
    reactions=each(("here", "there"), "not unique"),
    note="""Two faces of a body on one plane: each alone leaves the 3 freedoms of the plane, the other repeats its
    rows.""",
)
def plate_on_two_faces(m, pose):
    shift, angle = ((0 * X, 0.0), (0.5 * X - 0.2 * Y, 0.7), (-0.3 * X + Y, -1.9))[pose]
    R = turn(Z, angle)
    m.block("plate", shift + 0.1 * Z, R, size=(1.2, 0.8, 0.2))
    m.joint("here", mb.PlanarJoint, "ground", "plate", shift + R @ (0.4 * X), Z)
    m.joint("there", mb.PlanarJoint, "ground", "plate", shift - R @ (0.4 * X), Z)


@label(
    rows=22,
    dof=1,
    redundant=5,
    reactions=each(("P1", "P4"), "not unique") | each(("P2", "P3"), "partly"),
    note="""A rigid axle welded to two trailing arms on coaxial hinges: 18 - 22 = -4 by count, but it swings about the
    common axis; the loop's screws have rank 1, so 6 - 1 = 5 are redundant. Of the welds only the moment about that
    axis is unique.""",
)
def rigid_axle_on_two_arms(m, pose):
    R = turn(Y, (0.2, -0.3, 0.6)[pose])
    left, right, arm = -0.6 * Y, 0.6 * Y, R @ X
    across = R @ Z
    kinds = [mb.Revolute, mb.Fixed, mb.Fixed, mb.Revolute]
    m.loop([left, left + arm, right + arm, right], [Y, across, across, Y], kinds)


@label(
    rows=15,
    dof=1,
    redundant=4,
    reactions=each(("bearing", "nut", "guide"), "partly"),
    note="""Spindle in a bearing, nut on its thread, nut guided along it, all on one axis: the screws are a rotation
    about it, a translation along it and a screw made of both, rank 2, so 3 - 2 = 1 freedom and 6 - 2 = 4 redundant
    rows. Along and about the axis the reactions are unique, across it they are not.""",
)
def screw_jack(m, pose):
    angle, pitch = (0.0, 0.8, -1.4)[pose], 0.25
    height = 0.6 - pitch * angle / (2 * np.pi)
    m.bar("spindle", 0 * X, Z, polar(angle))
    m.block("carriage", height * Z)
    m.joint("bearing", mb.Revolute, "ground", "spindle", 0 * X, Z)
    m.joint("nut", mb.Screw, "spindle", "carriage", height * Z, Z, pitch=m.length * pitch)
    m.joint("guide", mb.Prismatic, "ground", "carriage", height * Z, Z)
