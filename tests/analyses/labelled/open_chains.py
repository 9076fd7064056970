"""Chains and trees without loops: every row is independent in every pose."""

import numpy as np

import jaxmb as mb

from .geometry import X, Y, Z, polar, turn
from .label import each, label


@label(rows=0, dof=6, redundant=0, note="A body without joints has the six freedoms of space.")
def free_body(m, pose):
    m.block("body", (0.3 * pose, 0.1, -0.2 * pose), turn((1.0, -2.0, 0.5), 0.4 + pose))


@label(
    rows=5,
    dof=1,
    redundant=0,
    note="One hinge: 6 - 5. Open chain, so statics gives every reaction.",
    reactions={"hinge": "unique"},
)
def pendulum(m, pose):
    m.bar("rod", 0 * X, polar((-1.5, 0.2, 2.0)[pose]))
    m.joint("hinge", mb.Revolute, "ground", "rod", 0 * X, Z)


@label(
    rows=4,
    dof=2,
    redundant=0,
    coordinates=mb.Planar(),
    reactions=each(("O", "A"), "unique"),
    note="""Planar open chain: 2 x 3 - 2 x 2. Stretched (pose 1) and folded (pose 2) it loses nothing: a chain is
    singular for what is driven at its tip only.""",
)
def double_pendulum(m, pose):
    first, second = ((-1.2, 0.5), (0.0, 0.0), (0.7, 0.7 + np.pi))[pose]
    A = polar(first)
    m.bar("upper", 0 * X, A)
    m.bar("lower", A, A + polar(second, 0.8))
    m.joint("O", mb.PlanarRevolute, "ground", "upper", 0 * X)
    m.joint("A", mb.PlanarRevolute, "upper", "lower", A)


@label(
    rows=21,
    dof=9,
    redundant=0,
    coordinates=mb.EulerAngles("xyz"),
    reactions=each(("cross", "bore", "slide", "thread", "ball"), "unique"),
    note="""Open chain: the freedoms of its joints add up, U 2 + C 2 + P 1 + H 1 + S 3 = 9 = 5 x 6 - (4 + 4 + 5 + 5 +
    3).""",
)
def mixed_chain(m, pose):
    a, b, c, d = ((0.2, 0.3, -0.4, 0.2), (0.9, -0.5, 0.6, -0.3), (-0.7, 0.6, 0.1, 0.5))[pose]
    pitch = 0.3
    R, p = turn(Z, a) @ turn(Y, b), 0 * X
    m.bar("link1", p, p + R @ X, R @ Z)
    m.joint("cross", mb.Universal, "ground", "link1", p, Z, R @ Y)
    p = p + R @ (X + d * Z)
    axis, R = R @ Z, R @ turn(Z, c)
    m.bar("link2", p, p + R @ X, R @ Z)
    m.joint("bore", mb.Cylindrical, "link1", "link2", p, axis)
    p = p + R @ (X + (0.4 - d) * Y)
    m.bar("link3", p, p + R @ X, R @ Z)
    m.joint("slide", mb.Prismatic, "link2", "link3", p, R @ Y)
    p = p + R @ (X + pitch * b / (2 * np.pi) * Z)
    axis, R = R @ Z, R @ turn(Z, b)
    m.bar("link4", p, p + R @ X, R @ Z)
    m.joint("thread", mb.Screw, "link3", "link4", p, axis, pitch=m.length * pitch)
    p = p + R @ X
    R = R @ turn((1.0, 0.5, -1.0), a - c)
    m.bar("link5", p, p + R @ X, R @ Z)
    m.joint("ball", mb.Spherical, "link4", "link5", p)
