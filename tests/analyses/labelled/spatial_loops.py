"""Single loops in space. F = 6 (n - 1) - rows by Kutzbach; more when the joint screws span fewer than 6 freedoms."""

import numpy as np

import jaxmb as mb

from .geometry import X, Y, Z, angle_with, polar, turn, unit
from .label import each, label, ring
from .model import TILTED
from .planar_linkages import four_bar_points

PLANAR_IN_SPACE = """Planar loop of four hinges in space: 18 - 20 = -2 by count, but the parallel screws span the
    plane's 3 freedoms, so 4 - 3 = 1 freedom and 6 - 3 = 3 redundant rows. The force along the axes and the moments
    across them are not unique, the forces in the plane are."""
CRANK_ANGLES = (0.4, 1.9, -2.2)


@label(rows=20, dof=1, redundant=3, reactions=ring(4, "partly"), note=PLANAR_IN_SPACE)
def four_bar_in_space(m, pose):
    m.loop(four_bar_points(CRANK_ANGLES[pose]), [Z] * 4)


@label(
    rows=20,
    dof=1,
    redundant=3,
    reactions=ring(4, "partly"),
    coordinates=mb.EulerAngles("zxz"),
    places=(TILTED,) * 3,
    note=f"{PLANAR_IN_SPACE} A rigid displacement of all changes nothing.",
)
def tilted_four_bar(m, pose):
    m.loop(four_bar_points(CRANK_ANGLES[pose]), [Z] * 4)


@label(
    rows=17,
    dof=1,
    redundant=0,
    reactions=ring(4, "unique"),
    note="""The same loop with a cylindrical and a ball joint, R-C-S-R: the slide along z and the ball's two tilts add
    what the planar screws lack, rank 6, so 7 - 6 = 1 freedom and nothing redundant.""",
)
def determinate_four_bar(m, pose):
    kinds = [mb.Revolute, mb.Cylindrical, mb.Spherical, mb.Revolute]
    m.loop(four_bar_points(CRANK_ANGLES[pose]), [Z, Z, Z, Z], kinds)


def skew_four_bar_points(angle):
    """A crank that turns about z, a coupler of length 2 and a rocker that turns about y."""
    B, D, rocker = polar(angle, 0.5), 1.5 * X + 0.9 * Y, 1.1
    c = D - B
    # C = D + rocker (cos X + sin Z) at the distance 2 from B
    swing = angle_with(c[0], c[2], (2.0**2 - c @ c - rocker**2) / (2 * rocker))
    return [0 * X, B, D + rocker * (np.cos(swing) * X + np.sin(swing) * Z), D]


@label(
    rows=16,
    dof=2,
    redundant=0,
    reactions=ring(4, "unique"),
    note="""R-S-S-R: 18 - (5 + 3 + 3 + 5) = 2, of which one is the idle spin of the coupler about the line through its
    balls.""",
)
def four_bar_rssr(m, pose):
    kinds = [mb.Revolute, mb.Spherical, mb.Spherical, mb.Revolute]
    m.loop(skew_four_bar_points(CRANK_ANGLES[pose]), [Z, Z, Y, Y], kinds)


@label(
    rows=17,
    dof=1,
    redundant=0,
    coordinates=mb.EulerParameters(),
    reactions=ring(4, "unique"),
    note="R-U-S-R: 18 - (5 + 4 + 3 + 5) = 1; the cross joint takes the coupler's spin.",
)
def four_bar_rusr(m, pose):
    A, B, C, D = skew_four_bar_points(CRANK_ANGLES[pose])
    in_crank = unit(B - A + 0.5 * Z)
    in_coupler = unit(np.cross(in_crank, C - B))
    kinds = [mb.Revolute, mb.Universal, mb.Spherical, mb.Revolute]
    m.loop([A, B, C, D], [Z, (in_crank, in_coupler), Y, Y], kinds)


def shafts(angle, bend):
    """The directions of two shafts that meet, and a direction across the first that turns with it."""
    into, out = X, turn(Z, bend) @ X
    return into, out, turn(into, angle) @ Z


SPHERICAL = """All axes meet in one point, so the screws span its 3 rotations: 4 - 3 = 1 freedom and 6 - 3 = 3
    redundant rows, 14 - 12 + 1. Any force through that point can go around the loop; moments are unique."""


@label(
    rows=14,
    dof=1,
    redundant=3,
    reactions=each(("in", "cross", "out"), "partly"),
    note=f"Hooke's joint, R-U-R. {SPHERICAL}",
)
def hooke_shaft(m, pose):
    into, out, first = shafts((0.3, 1.1, -0.9)[pose], 0.5)
    second = unit(np.cross(out, first))
    m.bar("input", -into, 0 * X, first)
    m.bar("output", 0 * X, out, second)
    m.joint("in", mb.Revolute, "ground", "input", -into, into)
    m.joint("cross", mb.Universal, "input", "output", 0 * X, first, second)
    m.joint("out", mb.Revolute, "ground", "output", out, out)


@label(
    rows=14,
    dof=1,
    redundant=3,
    reactions=each(("in", "ball", "out"), "partly"),
    note=f"Two shafts with a homokinetic joint, which also leaves 2 rotations about its center. {SPHERICAL}",
)
def constant_velocity_shaft(m, pose):
    angle, bend = (0.3, 1.1, -0.9)[pose], 0.5
    into, out, first = shafts(angle, bend)
    m.bar("input", -into, 0 * X, first)
    m.bar("output", 0 * X, out, turn(Z, bend) @ first)
    m.joint("in", mb.Revolute, "ground", "input", -into, into)
    m.joint("ball", mb.ConstantVelocity, "input", "output", 0 * X, into, out)
    m.joint("out", mb.Revolute, "ground", "output", out, out)


def cardan_shaft(m, pose, sliding):
    """Two skew shafts with a cross joint each at the ends of an intermediate shaft, which may be in two halves."""
    into, out, other = X, unit((1.0, 0.4, -0.3)), 1.2 * X + 0.3 * Y + 0.2 * Z
    first = turn(into, (0.3, 1.1, -0.9)[pose]) @ Z
    along = unit(other)
    second = unit(np.cross(along, first))
    third = turn(along, 0.4) @ second
    fourth = unit(np.cross(out, third))
    m.bar("input", -into, 0 * X, first)
    m.bar("output", other, other + out, fourth)
    m.bar("middle", 0 * X, 0.5 * other if sliding else other, second)
    if sliding:
        m.bar("sleeve", 0.5 * other, other, second)
        m.joint("spline", mb.Prismatic, "middle", "sleeve", 0.5 * other, along)
    m.joint("in", mb.Revolute, "ground", "input", -into, into)
    m.joint("cross1", mb.Universal, "input", "middle", 0 * X, first, second)
    m.joint("cross2", mb.Universal, "sleeve" if sliding else "middle", "output", other, third, fourth)
    m.joint("out", mb.Revolute, "ground", "output", other + out, out)


@label(
    rows=18,
    dof=1,
    redundant=1,
    reactions=each(("in", "cross1", "cross2", "out"), "partly"),
    note="""Double Hooke's joint, R-U-U-R: 18 - 18 = 0 by count. Each shaft's axis goes through the center of its
    cross, so the screws are the rotations about two points, rank 5: 6 - 5 = 1 freedom, 1 redundant row, a force along
    the line of the two centers.""",
)
def double_hooke_shaft(m, pose):
    cardan_shaft(m, pose, sliding=False)


@label(
    rows=23,
    dof=1,
    redundant=0,
    reactions=each(("in", "cross1", "spline", "cross2", "out"), "unique"),
    note="""The same with a spline in the intermediate shaft: the slide along the line of centers makes the rank 6, 7
    - 6 = 1.""",
)
def double_hooke_shaft_with_spline(m, pose):
    cardan_shaft(m, pose, sliding=True)
