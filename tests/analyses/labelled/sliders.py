"""Mechanisms of the plane with sliders, in planar and in spatial coordinates."""

import jaxmb as mb

from .geometry import X, Y, Z, polar, turn, unit
from .label import each, label, ring
from .planar_linkages import PIN, PLANAR


def slider_crank_points(angle, crank, coupler):
    """Shaft, crank pin, slider pin on the x axis, and a point of the slider below it."""
    A = polar(angle, crank)
    C = A + (coupler**2 - A[1] ** 2) ** 0.5 * X - A[1] * Y
    return [0 * X, A, C, C - 0.3 * Y]


@label(
    rows=20,
    dof=1,
    redundant=3,
    reactions=ring(4, "partly"),
    note="""Planar loop in space: 18 - 20 = -2 by count, 1 in truth, 3 redundant. Its screws span the plane's 3
    freedoms in the stretched dead centre too (pose 1: the slider moves along x, the collinear pins give rotation and
    motion along y).""",
)
def slider_crank_in_space(m, pose):
    points = slider_crank_points((0.7, 0.0, 2.5)[pose], 1.0, 2.3)
    m.loop(points, [Z, Z, Z, X], [mb.Revolute] * 3 + [mb.Prismatic])


@label(
    rows=9,
    dof=0,
    redundant=0,
    here_dof=(0, 1, 1),
    coordinates=PLANAR,
    note="""3 x 3 - 4 x 2 - 1 = 0 with the slider driven. In both dead centres (stretched in pose 1, folded in pose 2)
    the three pins are on one line and the crank can be pushed with the slider held: rank 8.""",
)
def driven_slider_crank(m, pose):
    folded = [0 * X, -X, 1.3 * X, 1.3 * X - 0.3 * Y]
    points = (slider_crank_points(0.7, 1.0, 2.3), slider_crank_points(0.0, 1.0, 2.3), folded)[pose]
    m.loop(points, [None, None, None, X], [PIN] * 3 + [mb.PlanarPrismatic])
    m.relation("drive", mb.Driver("P4", 0.0))


@label(
    rows=8,
    dof=1,
    redundant=0,
    here_dof=(1, 2, 1),
    coordinates=PLANAR,
    note="""3 x 3 - 4 x 2 = 1. With coupler and crank of equal length the slider pin meets the shaft when the crank
    stands across (pose 1): two rotations about one point, one about A and the slide along x span 2 freedoms, so 2
    motions meet. The stretched dead centre (pose 2) is not singular.""",
)
def equal_slider_crank(m, pose):
    across = [0 * X, Y, 0 * X, -0.3 * Y]
    points = (slider_crank_points(0.8, 1.0, 1.0), across, slider_crank_points(0.0, 1.0, 1.0))[pose]
    m.loop(points, [None, None, None, X], [PIN] * 3 + [mb.PlanarPrismatic])


@label(
    rows=5,
    dof=1,
    redundant=0,
    coordinates=PLANAR,
    reactions=each(("shaft", "guide", "slot"), "unique"),
    note="2 x 3 - 2 - 2 - 1 = 1; in the dead centre (pose 1) the slot's row still holds the yoke, so nothing is lost.",
)
def scotch_yoke(m, pose):
    pin = polar((0.6, 0.0, 2.0)[pose])
    m.bar("crank", 0 * X, pin)
    m.block("yoke", pin[0] * X - 0.5 * Y)
    m.joint("shaft", PIN, "ground", "crank", 0 * X)
    m.joint("guide", mb.PlanarPrismatic, "ground", "yoke", pin[0] * X - 0.5 * Y, X)
    m.joint("slot", mb.PlanarSlot, "yoke", "crank", pin, Y)


@label(
    rows=6,
    dof=1,
    redundant=1,
    coordinates=PLANAR,
    reactions=each(("O", "A"), "partly") | each(("x", "y"), "not unique"),
    note="""Scott Russell's linkage with both ends of the coupler guided: 2 x 3 - 2 - 2 - 1 = 1 with one guide, and
    the other end runs on a straight line by itself: 1 redundant. The normals of the guides and the crank meet in the
    pole, so three forces balance: both guides are not unique, of the pins the part along the crank.""",
)
def guided_scott_russell(m, pose):
    A = polar((0.5, 1.1, 2.2)[pose])
    B, C = 2 * A[0] * X, 2 * A[1] * Y
    m.bar("crank", 0 * X, A)
    m.bar("coupler", B, C)
    m.joint("O", PIN, "ground", "crank", 0 * X)
    m.joint("A", PIN, "crank", "coupler", A)
    m.joint("x", mb.PlanarSlot, "ground", "coupler", B, X)
    m.joint("y", mb.PlanarSlot, "ground", "coupler", C, Y)


def wedges(m, pose, kind):
    """Two wedges: one slides along x, the other along y, and they slide on each other."""
    slide = (0.0, 0.3, -0.4)[pose]
    slope = unit((1.0, -0.6, 0.0))
    first, second = slide * X, X + (0.5 + 0.6 * slide) * Y
    m.block("first", first)
    m.block("second", second)
    m.joint("P1", kind, "ground", "first", first, X)
    m.joint("P2", kind, "first", "second", second, slope)
    m.joint("P3", kind, "ground", "second", second, Y)


@label(
    rows=6,
    dof=1,
    redundant=1,
    coordinates=PLANAR,
    reactions=ring(3, "partly"),
    note="""2 x 3 - 3 x 2 = 0 by count, but the loop of three sliders never turns: its screws span the 2 translations,
    so 3 - 2 = 1 freedom and 1 redundant row, the moment. The forces are unique.""",
)
def planar_wedges(m, pose):
    wedges(m, pose, mb.PlanarPrismatic)


@label(
    rows=15,
    dof=1,
    redundant=4,
    reactions=ring(3, "partly"),
    note="""Three sliders in a plane, modelled in space: screws of rank 2, so 3 - 2 = 1 freedom and 6 - 2 = 4
    redundant rows (three moments and the force out of the plane); of each slider only the in-plane force is
    unique.""",
)
def wedges_in_space(m, pose):
    wedges(m, pose, mb.Prismatic)


@label(
    rows=20,
    dof=1,
    redundant=3,
    reactions=ring(4, "partly"),
    note="""Oldham's coupling, a planar loop R-P-P-R in space: rotation and two translations span the plane's 3
    freedoms, 4 - 3 = 1 freedom, 6 - 3 = 3 redundant rows.""",
)
def oldham_coupling(m, pose):
    R, offset = turn(Z, (0.3, 1.2, -0.8)[pose]), 0.4 * X
    along, across = R @ X, R @ Y
    middle = (along @ offset) * along
    m.block("driving", 0 * X, R)
    m.block("disk", middle, R)
    m.block("driven", offset, R)
    m.joint("P1", mb.Revolute, "ground", "driving", 0 * X, Z)
    m.joint("P2", mb.Prismatic, "driving", "disk", middle, along)
    m.joint("P3", mb.Prismatic, "disk", "driven", middle, across)
    m.joint("P4", mb.Revolute, "ground", "driven", offset, Z)


@label(
    rows=13,
    dof=0,
    redundant=1,
    reactions=each(("x", "y", "drive_y"), "unique") | each(("drive_x", "again_x"), "not unique"),
    note="""Two sliders in a row, 12 - 10 = 2, both driven: 0. A second driver on the first is 1 redundant row; how
    the two share their load is undetermined and loads nothing else.""",
)
def twice_driven_cross_slide(m, pose):
    x, y = ((0.0, 0.0), (0.4, -0.3), (-0.2, 0.6))[pose]
    m.block("carriage", x * X)
    m.block("table", x * X + y * Y + 0.5 * Z)
    m.joint("x", mb.Prismatic, "ground", "carriage", x * X, X)
    m.joint("y", mb.Prismatic, "carriage", "table", x * X + 0.5 * Z, Y)
    m.relation("drive_x", mb.Driver("x", 0.0))
    m.relation("drive_y", mb.Driver("y", 0.0))
    m.relation("again_x", mb.Driver("x", 0.0))
