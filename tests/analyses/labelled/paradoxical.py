"""Loops that move although a count of freedoms says that they do not."""

import numpy as np

import jaxmb as mb

from .geometry import X, Y, Z, polar, turn, unit
from .label import each, label, ring
from .model import TILTED

#: Sine of the twist over the length, the same for all links of a family of Bennett loops.
RATIO = 0.65


def bennett_corner(length):
    """A link of the family: its twist."""
    return np.arcsin(RATIO * length)


def bennett(a, b, angle):
    """Points and axes of Bennett's loop, beginning with a hinge at the origin about z; the last link, of length a, goes
    from (a, 0, 0) back to it, and the first, of length b, leaves at an angle to it.

    The loop is symmetric about a line: the half turn about it swaps opposite hinges. It goes through the middle of the second and
    the fourth hinge along the difference of their axes, which is perpendicular to their distance just when the sines of the
    twists are as the lengths.
    """
    R = turn(Z, angle)
    second, fourth = R @ (b * X), a * X
    axis2, axis4 = R @ turn(X, bennett_corner(b)) @ Z, turn(X, bennett_corner(a)) @ Z
    h = unit(axis2 - axis4)
    half_turn = 2 * np.outer(h, h) - np.eye(3)
    middle = 0.5 * (second + fourth)
    return [0 * X, second, middle - half_turn @ middle, fourth], [Z, axis2, half_turn @ Z, axis4]


@label(
    rows=20,
    dof=1,
    redundant=3,
    reactions=ring(4, "partly"),
    note="""Bennett 1903: 18 - 20 = -2 by count, but with equal opposite links, no offsets and sin(twist) proportional
    to length it moves. Its four axes are lines of one regulus, rank 3: 4 - 3 = 1 freedom, 6 - 3 = 3 redundant
    rows.""",
)
def bennett_loop(m, pose):
    m.loop(*bennett(1.0, 1.4, (0.7, 1.5, 2.4)[pose]))


@label(
    rows=25,
    dof=1,
    redundant=2,
    reactions=ring(5, "partly"),
    note="""Goldberg 1943: two Bennett loops that share a link, with two links on its hinge welded together and the
    shared link taken away. 24 - 25 = -1 by count, 1 in truth: 2 redundant rows, five screws of rank 4.""",
)
def goldberg_loop(m, pose):
    angle = (0.8, 1.4, 2.0)[pose]
    (_, P1, P2, P3), (_, z1, z2, z3) = bennett(1.0, 1.3, angle)
    (_, P6, P5, _), (_, z6, z5, _) = bennett(1.0, 0.8, angle + 0.8)
    # The welded links, between the hinges 1 and 6, are the ground.
    back = turn(Z, -angle)
    m.loop([back @ P for P in (P1, P2, P3, P5, P6)], [back @ z for z in (z1, z2, z3, z5, z6)])


@label(
    rows=30,
    dof=1,
    redundant=1,
    coordinates=mb.EulerParameters(),
    reactions=ring(6, "partly"),
    note="""Bricard's trihedral loop of equal links with twists of 90 degrees (pose 0 is the cube of the benchmark
    A04): 30 - 30 = 0 by count, but it moves in threefold symmetry: 1 freedom, six screws of rank 5, 1 redundant
    row.""",
)
def bricard_loop(m, pose):
    odd = (np.pi / 2, 1.1, 0.6)[pose]
    # Two steps make a third of a turn when the trace of their rotation is zero: cos cos' + cos + cos' = 0.
    even = np.arccos(-np.cos(odd) / (1 + np.cos(odd)))
    R, p, points, axes = np.eye(3), 0 * X, [], []
    for k in range(6):
        points.append(p)
        axes.append(R @ Z)
        R = R @ turn(Z, (odd, even)[k % 2])
        p, R = p + R @ X, R @ turn(X, (np.pi / 2, -np.pi / 2)[k % 2])
    m.loop(points, axes)


@label(
    rows=30,
    dof=1,
    redundant=1,
    here_dof=(1, 1, 2),
    places=(TILTED,) * 3,
    reactions=ring(6, "partly"),
    note="""Sarrus 1853: two legs of three parallel hinges each, with the directions across: 30 - 30 = 0 by count, but
    the plate moves straight up. The screws lack only the rotation about the vertical, rank 5: 1 freedom, and a moment
    about the vertical goes around. With the legs stretched (pose 2) the hinges of each lie in one plane and give 2
    freedoms instead of 3: rank 4.""",
)
def sarrus_loop(m, pose):
    knee = (0.6, 1.0, 0.0)[pose]
    rise, out = np.cos(knee) * Z, np.sin(knee)
    A, D = -Y, -X
    m.loop([A, A + rise - out * Y, A + 2 * rise, D + 2 * rise, D + rise - out * X, D], [X, X, X, Y, Y, Y])


SARRUS_HINGES = tuple(f"{part}{k}" for k in range(3) for part in ("foot", "knee", "head"))


@label(
    rows=45,
    dof=1,
    redundant=4,
    reactions=each(SARRUS_HINGES, "partly"),
    note="""Sarrus with three legs: each leg holds the plate by a force along its hinges and two moments across them.
    The nine span all forces but the vertical and all moments, 5, so 9 - 5 = 4 are redundant, and 42 - 45 + 4 = 1. Any
    two legs can take what the third transmits, of which nothing is unique; the in-plane forces of its hinges are.""",
)
def sarrus_with_three_legs(m, pose):
    knee = (0.6, 1.0, 0.3)[pose]
    rise, out = np.cos(knee) * Z, np.sin(knee)
    m.block("plate", 2 * rise)
    for k in range(3):
        radial = polar(2 * np.pi * k / 3)
        axis = np.cross(Z, radial)
        foot = radial
        middle, head = foot + rise + out * radial, foot + 2 * rise
        m.bar(f"lower{k}", foot, middle, axis)
        m.bar(f"upper{k}", middle, head, axis)
        m.joint(f"foot{k}", mb.Revolute, "ground", f"lower{k}", foot, axis)
        m.joint(f"knee{k}", mb.Revolute, f"lower{k}", f"upper{k}", middle, axis)
        m.joint(f"head{k}", mb.Revolute, f"upper{k}", "plate", head, axis)
