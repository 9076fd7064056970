"""Platforms on several legs, and an axle on four rods."""

import numpy as np

import jaxmb as mb

from .geometry import X, Y, Z, angle_with, polar, third_point, turn, unit
from .label import each, label


def stewart(m, position, rotation):
    """Six legs U-P-S from pairs of points of the base to pairs of points of the platform."""
    m.block("platform", position, rotation)
    for k in range(6):
        side = 1 - 2 * (k % 2)
        at = 2 * np.pi * (k // 2) / 3
        foot, head = polar(at + 0.3 * side), position + rotation @ polar(at + 0.8 * side, 0.7)
        along, tangent = unit(head - foot), polar(at + np.pi / 2)
        across = unit(np.cross(tangent, along))
        m.bar(f"cylinder{k}", foot, foot + 0.5 * along, across)
        m.bar(f"piston{k}", head - 0.5 * along, head, across)
        m.joint(f"foot{k}", mb.Universal, "ground", f"cylinder{k}", foot, tangent, across)
        m.joint(f"leg{k}", mb.Prismatic, f"cylinder{k}", f"piston{k}", head, along)
        m.joint(f"head{k}", mb.Spherical, f"piston{k}", "platform", head)


ELSEWHERE = (0.1 * X - 0.05 * Y + 1.1 * Z, turn((0.5, 1.0, 0.4), 0.3))


@label(
    rows=72,
    dof=6,
    redundant=0,
    note="""Stewart-Gough platform, 6 legs U-P-S: each leg has 6 freedoms and takes none from the platform; 13 x 6 - 6
    (4 + 5 + 3) = 6.""",
)
def stewart_platform(m, pose):
    stewart(m, *(ELSEWHERE, (Z, turn(Z, 0.2)), (1.2 * Z + 0.2 * Y, turn(X, -0.4)))[pose])


@label(
    rows=78,
    dof=0,
    redundant=0,
    here_dof=(0, 0, 1),
    note="""The same with the six legs driven: 0. Turned by 90 degrees about the vertical above the center of the base
    (pose 2) it is singular (Fichter 1986): by symmetry vertical force and moment of the legs to either side of the
    pairs are h, h and r sin(90 + d), r sin(90 - d), which are proportional, so one screw about the vertical is
    free.""",
)
def driven_stewart_platform(m, pose):
    stewart(m, *(ELSEWHERE, (Z, turn(Z, 0.2)), (1.1 * Z, turn(Z, np.pi / 2)))[pose])
    for k in range(6):
        m.relation(f"drive{k}", mb.Driver(f"leg{k}", 0.0))


def delta_arms(m, position):
    """The upper arms of a Delta robot. Gives for each leg its elbow, the point of the platform below, and the axis of
    its hinges."""
    m.block("platform", position)
    for k in range(3):
        radial = polar(2 * np.pi * k / 3)
        hip, below, axis = 0.5 * radial, position + 0.25 * radial, np.cross(Z, radial)
        # elbow = hip + cos radial - sin Z at the distance 2 from the point below
        c = hip - below
        swing = angle_with(2 * c @ radial, -2 * c @ Z, 2.0**2 - c @ c - 1.0, branch=-1)
        elbow = hip + np.cos(swing) * radial - np.sin(swing) * Z
        m.bar(f"arm{k}", hip, elbow, axis)
        m.joint(f"hip{k}", mb.Revolute, "ground", f"arm{k}", hip, axis)
        yield k, elbow, below, axis


DELTA = (-1.6 * Z, 0.3 * X - 0.2 * Y - 1.8 * Z, -0.4 * X + 0.1 * Y - 1.4 * Z)
SIDES = {"left": -0.15, "right": 0.15}


@label(
    rows=51,
    dof=9,
    redundant=0,
    note="""Delta robot with six ball-ended rods: 10 x 6 - 3 x 5 - 12 x 3 = 9, which are the 3 translations of the
    platform and the idle spins of the 6 rods.""",
)
def delta_with_ball_rods(m, pose):
    for k, elbow, below, axis in delta_arms(m, DELTA[pose]):
        for side, offset in SIDES.items():
            rod, start, end = f"{side}{k}", elbow + offset * axis, below + offset * axis
            m.bar(rod, start, end, axis)
            m.joint(f"elbow_{rod}", mb.Spherical, f"arm{k}", rod, start)
            m.joint(f"wrist_{rod}", mb.Spherical, rod, "platform", end)


@label(
    rows=105,
    dof=3,
    redundant=12,
    note="""Delta robot after Clavel with hinges only, legs R-R-Pa-R: 16 x 6 - 21 x 5 = -9 by count. Each
    parallelogram has 3 redundant rows, and each leg takes two rotations from the platform, 6 for its 3: 3 x 3 + 3 =
    12 redundant, 3 translations left.""",
)
def delta_with_hinged_parallelograms(m, pose):
    for k, elbow, below, axis in delta_arms(m, DELTA[pose]):
        across = unit(np.cross(axis, below - elbow))
        ends = {f"upper{k}": elbow, f"lower{k}": below}
        for cross_bar, middle in ends.items():
            m.bar(cross_bar, middle - 0.15 * axis, middle + 0.15 * axis, across)
        m.joint(f"elbow{k}", mb.Revolute, f"arm{k}", f"upper{k}", elbow, axis)
        m.joint(f"wrist{k}", mb.Revolute, f"lower{k}", "platform", below, axis)
        for side, offset in SIDES.items():
            rod = f"{side}{k}"
            m.bar(rod, elbow + offset * axis, below + offset * axis, across)
            for cross_bar, middle in ends.items():
                m.joint(f"{cross_bar}_{rod}", mb.Revolute, cross_bar, rod, middle + offset * axis, across)


@label(
    rows=24,
    dof=6,
    redundant=0,
    reactions=each((f"{end}{k}" for end in ("front", "rear") for k in range(4)), "unique"),
    note="""Rigid axle on four ball-ended rods, the upper two splayed: 5 x 6 - 8 x 3 = 6, which are bounce and roll of
    the axle and the idle spins of the 4 rods.""",
)
def axle_on_four_rods(m, pose):
    # Bounce keeps the plane of symmetry, in which it is the motion of a four-bar (x, z) with the rods seen from the side.
    lower, upper = 0.1 * X, 0.15 * X + 0.35 * Y
    below = lower + polar(np.pi + (0.1, -0.2, 0.35)[pose], 1.0)
    above = third_point(below, upper, 0.35, 1.0)

    def space(point, y):
        return np.array([point[0], y, point[1]])

    x = unit(below - above)
    m.block("axle", space(0.5 * (below + above), 0.0), np.stack([space(x, 0.0), Y, np.cross(space(x, 0.0), Y)], axis=1))
    rods = ((lower, below, 0.4, 0.5), (lower, below, -0.4, -0.5), (upper, above, 0.5, 0.1), (upper, above, -0.5, -0.1))
    for k, (front, rear, y_front, y_rear) in enumerate(rods):
        start, end = space(front, y_front), space(rear, y_rear)
        m.bar(f"rod{k}", start, end)
        m.joint(f"front{k}", mb.Spherical, "ground", f"rod{k}", start)
        m.joint(f"rear{k}", mb.Spherical, f"rod{k}", "axle", end)
