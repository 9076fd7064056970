"""Linkages of the plane with pins, in planar coordinates: 3 speeds for a body, 2 rows for a pin."""

import numpy as np

import jaxmb as mb

from .geometry import X, Y, Z, polar, third_point, turn, unit
from .label import each, label, ring

PIN, PLANAR = mb.PlanarRevolute, mb.Planar()


def four_bar_points(angle):
    """A crank that can turn fully (1 + 1.6 < 1.5 + 1.2), so no pose has its pins in one line."""
    B, D = polar(angle), 1.6 * X
    return [0 * X, B, third_point(B, D, 1.5, 1.2), D]


@label(
    rows=8,
    dof=1,
    redundant=0,
    coordinates=PLANAR,
    reactions=ring(4, "unique"),
    note="Gruebler in the plane: 3 x 3 - 4 x 2 = 1.",
)
def planar_four_bar(m, pose):
    m.loop(four_bar_points((0.4, 1.9, -2.2)[pose]), kinds=PIN)


@label(
    rows=10,
    dof=2,
    redundant=0,
    coordinates=PLANAR,
    reactions=ring(5, "unique"),
    note="""Gruebler in the plane: 4 x 3 - 5 x 2 = 2. In pose 2 two links are aligned, which is singular for motors on
    the two cranks but not for the pins, because the five are not on one line.""",
)
def five_bar(m, pose):
    angle, between = ((1.8, 1.5), (2.0, 1.2), (2.4, 2.4))[pose]
    B, E = polar(angle), 1.4 * X
    D = third_point(B, E, between, 1.0)
    C = 0.5 * (B + D) + np.sqrt(1.2**2 - (between / 2) ** 2) * np.cross(Z, unit(D - B))
    m.loop([0 * X, B, C, D, E], kinds=PIN)


@label(
    rows=8,
    dof=1,
    redundant=0,
    here_dof=(1, 2, 2),
    coordinates=PLANAR,
    note="""Gruebler in the plane: 1. Flat (poses 1 and 2) its four pins are on one line: rotations about points of
    one line span 2 freedoms, not 3, so 4 - 2 = 2 motions meet (parallelogram and antiparallelogram) and the force
    along the line is undetermined.""",
)
def flat_parallelogram(m, pose):
    tip = (polar(0.9), X, -X)[pose]
    m.loop([0 * X, tip, tip + 1.7 * X, 1.7 * X], kinds=PIN)


def windows(m, count, tip):
    """The N-four-bar: uprights in a row and couplers of the same length between their ends."""
    for i in range(count + 1):
        m.bar(f"upright{i}", i * X, i * X + tip)
        m.joint(f"A{i}", PIN, "ground", f"upright{i}", i * X)
    for i in range(count):
        m.bar(f"coupler{i}", i * X + tip, (i + 1) * X + tip)
        m.joint(f"B{i}", PIN, f"upright{i}", f"coupler{i}", i * X + tip)
        m.joint(f"C{i}", PIN, f"coupler{i}", f"upright{i + 1}", (i + 1) * X + tip)


@label(
    rows=14,
    dof=1,
    redundant=0,
    here_dof=(1, 3, 3),
    coordinates=PLANAR,
    note="""6 N + 2 = 14 rows for 3 (2 N + 1) = 15 speeds. With all pins on one line each of the N = 2 loops can carry
    a force along that line for nothing, so the rank drops by N (poses 1 and 2).""",
)
def two_windows(m, pose):
    windows(m, 2, (polar(1.1), X, -X)[pose])


@label(
    rows=32,
    dof=1,
    redundant=0,
    here_dof=(1, 1, 6),
    coordinates=PLANAR,
    note="""6 N + 2 = 32 rows for 3 (2 N + 1) = 33 speeds; as for two windows, the rank drops by N = 5 when all is
    aligned (pose 2).""",
)
def five_windows(m, pose):
    windows(m, 5, (polar(1.6), polar(-0.4), X)[pose])


def cranks(m, kind, axis, angle):
    """A parallelogram with a third crank, unequally spaced."""
    feet, tip = (0 * X, 1.0 * X, 2.2 * X), polar(angle, 0.9)
    m.bar("coupler", feet[0] + tip, feet[-1] + tip)
    for k, foot in enumerate(feet):
        m.bar(f"crank{k}", foot, foot + tip)
        m.joint(f"foot{k}", kind, "ground", f"crank{k}", foot, axis)
        m.joint(f"head{k}", kind, f"crank{k}", "coupler", foot + tip, axis)


PINS_OF_CRANKS = tuple(f"{end}{k}" for end in ("foot", "head") for k in range(3))


@label(
    rows=12,
    dof=1,
    redundant=1,
    coordinates=PLANAR,
    reactions=each(PINS_OF_CRANKS, "partly"),
    note="""4 x 3 - 6 x 2 = 0, but the third crank is parallel and equal to the others and moves along: 1 redundant.
    Three parallel forces along the cranks can balance on the coupler, so of each pin's force the part along the crank
    is not unique and the part across it is.""",
)
def three_cranks(m, pose):
    cranks(m, PIN, None, (0.5, 1.6, -2.3)[pose])


@label(
    rows=30,
    dof=1,
    redundant=7,
    reactions=each(PINS_OF_CRANKS, "partly"),
    note="""Two independent loops of parallel hinges give 3 redundant rows each (the force along the axes and two
    moments across), and the third parallel crank one more: 6 + 1 = 7 = 30 - 24 + 1. Of each hinge only the force
    across the crank is unique.""",
)
def three_cranks_in_space(m, pose):
    cranks(m, mb.Revolute, Z, (0.5, 1.6, -2.3)[pose])


@label(
    rows=21,
    dof=1,
    redundant=1,
    coordinates=PLANAR,
    reactions={"guide": "not unique"},
    note="""Peaucellier's linkage: 7 x 3 - 10 x 2 = 1 without the guide, independent; its point C runs on a straight
    line exactly, so a slot along that line is 1 redundant row, and takes part in the self-stress.""",
)
def guided_peaucellier(m, pose):
    O, A = 0 * X, X + polar((-0.6, 0.4, 1.0)[pose])
    B, D = third_point(O, A, 2.5, 1.2), third_point(A, O, 1.2, 2.5)
    C = B + D - A
    points = {"O": O, "Q": X, "A": A, "B": B, "C": C, "D": D}
    for name in ("QA", "OB", "OD", "AB", "AD", "BC", "DC"):
        m.bar(name, points[name[0]], points[name[1]])
    pins = ("Q ground QA", "O ground OB", "O ground OD", "A QA AB", "A QA AD")
    pins += ("B OB AB", "B OB BC", "D OD AD", "D OD DC", "C BC DC")
    for k, (point, first, second) in enumerate(pin.split() for pin in pins):
        m.joint(f"pin{k}", PIN, first, second, points[point])
    m.joint("guide", mb.PlanarSlot, "ground", "BC", C, Y)


@label(
    rows=21,
    dof=0,
    redundant=0,
    here_dof=(0, 1, 1),
    coordinates=PLANAR,
    note="""3-RPR platform with driven legs: 7 x 3 - 9 x 2 - 3 = 0. It is a body on three struts, which hold it unless
    their lines meet in one point: with the platform in the centre, turned by 0 (pose 1) or by half a turn (pose 2),
    it can rotate about that point.""",
)
def driven_planar_platform(m, pose):
    shift, angle = ((np.array([0.2, -0.1, 0.0]), 0.3), (0 * X, 0.0), (0 * X, np.pi))[pose]
    R = turn(Z, angle)
    m.block("platform", shift, R)
    for k in range(3):
        A, C = polar(2 * np.pi * k / 3, 2.0), shift + R @ polar(2 * np.pi * k / 3, 0.7)
        along = unit(C - A)
        m.bar(f"cylinder{k}", A, A + 0.4 * along)
        m.bar(f"piston{k}", C - 0.5 * along, C)
        m.joint(f"foot{k}", PIN, "ground", f"cylinder{k}", A)
        m.joint(f"leg{k}", mb.PlanarPrismatic, f"cylinder{k}", f"piston{k}", C, along)
        m.joint(f"head{k}", PIN, f"piston{k}", "platform", C)
        m.relation(f"drive{k}", mb.Driver(f"leg{k}", 0.0))
