"""Gear trains: a mesh is 1 row, the axles are hinges."""

import numpy as np

import jaxmb as mb

from .geometry import X, Y, Z, polar, turn
from .label import each, label


def wheel(m, name, center, angle, carrier="ground"):
    m.block(name, center, turn(Z, angle), size=(0.4, 0.4, 0.1))
    m.joint(f"{name}_axle", mb.Revolute, carrier, name, center, Z)


@label(
    rows=11,
    dof=1,
    redundant=0,
    reactions=each(("first_axle", "second_axle", "mesh"), "unique"),
    note="Two wheels on hinges and a mesh: 12 - 2 x 5 - 1 = 1.",
)
def gear_pair(m, pose):
    angle = (0.0, 0.7, -1.3)[pose]
    wheel(m, "first", 0 * X, angle)
    wheel(m, "second", X, -angle * 20 / 30)
    m.relation("mesh", mb.Gear("first_axle", "second_axle", teeth=(20, 30)))


@label(
    rows=11,
    dof=1,
    redundant=0,
    reactions=each(("pinion_axle", "slide", "mesh"), "unique"),
    note="A pinion on a hinge, a rack on a slider and a mesh: 12 - 5 - 5 - 1 = 1.",
)
def rack_and_pinion(m, pose):
    angle, radius = (0.0, 0.7, -1.3)[pose], 0.3
    wheel(m, "pinion", 0 * X, angle)
    rack = radius * angle * X - radius * Y
    m.block("rack", rack, size=(2.0, 0.1, 0.1))
    m.joint("slide", mb.Prismatic, "ground", "rack", rack, X)
    m.relation("mesh", mb.Coupler("slide", "pinion_axle", ratio=m.length * radius))


def planetary(m, pose, planets):
    """Sun (20 teeth), planets (22) and ring (64) on a carrier; angles of the wheels are relative to it."""
    carried, sun = ((0.0, 0.0), (0.5, 0.9), (-1.1, 0.4))[pose]
    planet, ring = -sun * 20 / 22, -sun * 20 / 64
    m.block("carrier", 0 * X, turn(Z, carried))
    m.joint("carrier_axle", mb.Revolute, "ground", "carrier", 0 * X, Z)
    wheel(m, "sun", 0.1 * Z, carried + sun, "carrier")
    wheel(m, "ring", 0.2 * Z, carried + ring, "carrier")
    for k in range(planets):
        wheel(m, f"planet{k}", polar(carried + 2 * np.pi * k / 3, 0.7), carried + planet, "carrier")
        m.relation(f"inner{k}", mb.Gear("sun_axle", f"planet{k}_axle", teeth=(20, 22)))
        m.relation(f"outer{k}", mb.Gear(f"planet{k}_axle", "ring_axle", teeth=(22, 64), internal=True))


@label(
    rows=22,
    dof=2,
    redundant=0,
    reactions=each(("inner0", "outer0", "sun_axle", "planet0_axle"), "unique"),
    note="""A simple planetary set runs with 2 freedoms until one of sun, carrier and ring is held: 4 x 6 - 4 x 5 - 2
    = 2.""",
)
def planetary_gear(m, pose):
    planetary(m, pose, planets=1)


@label(
    rows=36,
    dof=2,
    redundant=2,
    reactions=each((f"{mesh}{k}" for mesh in ("inner", "outer") for k in range(3)), "not unique")
    | each(("sun_axle", "ring_axle", "carrier_axle", "planet0_axle"), "unique"),
    note="""Each further planet brings 6 speeds and 5 + 2 rows but asks for the ratio that the first has set: 1
    redundant row each. How the planets share the torque is undetermined; meshes transmit torque only, so the axles do
    not feel it.""",
)
def planetary_gear_with_three_planets(m, pose):
    planetary(m, pose, planets=3)


@label(
    rows=24,
    dof=1,
    redundant=1,
    reactions=each((f"mesh{k}" for k in range(4)), "not unique") | each((f"wheel{k}_axle" for k in range(4)), "unique"),
    note="""Four wheels in a ring: 24 - 20 - 4 = 0 by count, but with an even number the ring turns whatever the
    teeth, for neighbors turn opposite ways and the ratios multiply to 1: 1 redundant row. A torque can go around the
    ring of meshes.""",
)
def gear_square(m, pose):
    teeth, arc = (20, 30, 24, 36), (0.0, 14.0, -26.0)[pose]
    for k, center in enumerate((0 * X, X, X + Y, Y)):
        wheel(m, f"wheel{k}", center, (1, -1)[k % 2] * arc / teeth[k])
    for k in range(4):
        other = (k + 1) % 4
        m.relation(f"mesh{k}", mb.Gear(f"wheel{k}_axle", f"wheel{other}_axle", teeth=(teeth[k], teeth[other])))
