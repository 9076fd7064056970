"""Trusses and frames that do not move: their three poses are three places."""

import jaxmb as mb

from .geometry import X, Y, Z
from .label import each, label, ring
from .model import IN_PLANE, IN_SPACE
from .planar_linkages import PIN, PLANAR

NODES = mb.PointMass(planar=True)


@label(
    rows=9,
    dof=0,
    redundant=0,
    coordinates=PLANAR,
    places=IN_PLANE,
    reactions=each(("foot", "A", "B", "C", "roller"), "unique"),
    note="""Triangle of three bars on a pin and a roller: 3 bars + 3 supports = 2 x 3 nodes, statically determinate.
    As bodies: 3 x 3 speeds, 4 pins and a slot.""",
)
def triangle_truss(m, pose):
    A, B, C = 0 * X, 1.2 * X, 0.5 * X + 0.9 * Y
    m.bar("AB", A, B)
    m.bar("BC", B, C)
    m.bar("CA", C, A)
    m.joint("foot", PIN, "ground", "AB", A)
    m.joint("A", PIN, "AB", "CA", A)
    m.joint("B", PIN, "AB", "BC", B)
    m.joint("C", PIN, "BC", "CA", C)
    m.joint("roller", mb.PlanarSlot, "ground", "AB", B, X)


@label(
    rows=5,
    dof=0,
    redundant=1,
    coordinates=NODES,
    places=IN_PLANE,
    reactions=each(("left", "right", "top", "up", "down"), "not unique"),
    note="""A square with both diagonals, its lower side the ground: 5 bars for 2 nodes of 2 coordinates, once
    statically indeterminate. The self-stress of a braced square is in all its bars.""",
)
def crossed_square(m, pose):
    A, B, C, D = 0 * X, 1.3 * X, 1.3 * X + Y, Y
    m.node("C", C)
    m.node("D", D)
    m.strut("left", "ground", "D", A, D)
    m.strut("right", "ground", "C", B, C)
    m.strut("top", "D", "C", D, C)
    m.strut("up", "ground", "C", A, C)
    m.strut("down", "ground", "D", B, D)


@label(
    rows=2,
    dof=0,
    redundant=0,
    here_dof=(1, 1, 1),
    coordinates=NODES,
    places=IN_PLANE,
    note="""A node on two bars in one line: 2 - 2 = 0, and it does not move, but it can be displaced across without
    changing the lengths to first order: infinitesimally mobile, with a self-stress along the line.""",
)
def shaky_node(m, pose):
    m.node("N", 0.8 * X)
    m.strut("left", "ground", "N", 0 * X, 0.8 * X)
    m.strut("right", "ground", "N", 2.0 * X, 0.8 * X)


@label(
    rows=12,
    dof=0,
    redundant=6,
    places=IN_SPACE,
    reactions=each(("first", "second"), "not unique"),
    note="One weld holds the body; the other repeats its 6 rows, and any wrench can go through both.",
)
def welded_twice(m, pose):
    m.block("body", 0 * X)
    m.joint("first", mb.Fixed, "ground", "body", 0.5 * X, Z)
    m.joint("second", mb.Fixed, "ground", "body", -0.5 * X + 0.2 * Y, Z)


@label(
    rows=24,
    dof=0,
    redundant=6,
    places=IN_SPACE,
    reactions=ring(4, "not unique"),
    note="""Two columns and a beam, all welded: a closed frame is 6 times statically indeterminate in space, 24 - 3 x
    6 = 6.""",
)
def portal_frame(m, pose):
    m.loop([0 * X, 1.2 * Z, X + 1.2 * Z, X], [Y] * 4, mb.Fixed)


@label(
    rows=36,
    dof=0,
    redundant=18,
    places=IN_SPACE,
    reactions=each(("left_foot", "left_head", "right_foot", "right_head", "left", "right"), "not unique"),
    note="""Symmetric H-frame: two columns welded to the ground at both ends and a beam welded to them at half their
    height. Cut the beam at one end and the columns at their heads, and a tree of welds is left that carries all loads:
    3 cuts of 6 = 18 = 36 - 3 x 6. Every weld can be one of the cuts, so no part of its reaction is unique.""",
)
def h_frame(m, pose):
    for side, x in (("left", -0.5), ("right", 0.5)):
        foot, head = x * X, x * X + 1.2 * Z
        m.bar(f"{side}_column", foot, head, Y)
        m.joint(f"{side}_foot", mb.Fixed, "ground", f"{side}_column", foot, Z)
        m.joint(f"{side}_head", mb.Fixed, "ground", f"{side}_column", head, Z)
    m.bar("beam", -0.5 * X + 0.6 * Z, 0.5 * X + 0.6 * Z, Y)
    m.joint("left", mb.Fixed, "left_column", "beam", -0.5 * X + 0.6 * Z, X)
    m.joint("right", mb.Fixed, "right_column", "beam", 0.5 * X + 0.6 * Z, X)


@label(
    rows=18,
    dof=0,
    redundant=0,
    places=IN_SPACE,
    note="""Three wheels in a ring, each in mesh with both others: z1 a + z2 b = z2 b + z3 c = z3 c + z1 a = 0 has
    only the zero solution, for neighbors turn opposite ways and three is odd. It is locked: 18 - 15 - 3 = 0, all rows
    independent.""",
)
def gear_triangle(m, pose):
    teeth = (20, 30, 24)
    for k, center in enumerate((0 * X, X, 0.5 * X + 0.8 * Y)):
        m.block(f"wheel{k}", center, size=(0.4, 0.4, 0.1))
        m.joint(f"axle{k}", mb.Revolute, "ground", f"wheel{k}", center, Z)
    for k in range(3):
        other = (k + 1) % 3
        m.relation(f"mesh{k}", mb.Gear(f"axle{k}", f"axle{other}", teeth=(teeth[k], teeth[other])))
