"""Slider-crank in space, from a thesis on vehicle simulation."""

# pyright: reportCallIssue=false
# (of a class made by a metaclass it does not see the inherited __init__)

import jax.numpy as jnp
from jaxtyping import Array

from ..body import Body
from ..coordinates import EulerParameters
from ..forces import Applied
from ..joints import Prismatic, Revolute, Spherical, Universal
from ..solution import Solution
from ..spatial import rotation_about
from ..system import System
from .mechanism import Mechanism, Number, Numbers, at_rest
from .plane import Point, direction


def slider_crank(
    *,
    pin: Numbers = (0.1732, -0.1),
    wrist: Numbers = (0.663, 0.0),
    slider: Numbers = (0.72, 0.0),
    masses: Numbers = (0.3361, 5.2493, 2.9956),
    crank_inertia: Numbers = (13.79e-6, 1304.74e-6, 1312.9336e-6),
    rod_inertia: Numbers = (1345.9128e-6, 127307e-6, 128107.26e-6),
    slider_inertia: Numbers = (1997.056e-6, 3994.1e-6, 5192.3456e-6),
    torque: Number = 0.005,
) -> System:
    """Crank from the origin to `pin`, rod on to `wrist`, and a slider along x with its centre of mass at `slider` (m,
    in the plane z = 0): revolute, spherical, universal and prismatic joints, 18 speeds, 17 rows, 1 degree of freedom.
    A constant `torque` (N m) turns the crank about z; no gravity. Masses in kg, principal inertias in kg m2, x along
    each link.

    Picture::

          y                                   __________
          ^                             wrist|          |
        O o--> x                       .  - 'o  slider  |--- guide: along x
         //// ' .              .  -  '       |__________|
          crank   ' .  .  -  '  rod
                     o
                    pin                      O: axis z;  pin: ball joint
                                             wrist: cross joint, axis z in the rod and y in the slider
                                             torque on the crank, about z;  no gravity

    Source: Carvalho 2022, tables 2 and 3, with the data of the workbook crank_slider.xlsx published with that thesis
    (there in mm). Assumed: that it is this one of the workbooks that was timed there. The motion stays in the plane,
    so that an equation of one angle is its truth.

    Exercises: spatial joints on a planar motion, a cross joint, bodies of very different mass.
    """
    origin, P, W, S = (jnp.asarray(x, float) for x in ((0.0, 0.0), pin, wrist, slider))

    def link(mass, inertia, start: Point, end: Point) -> Body:
        middle = 0.5 * (start + end)
        half = 0.5 * jnp.sqrt(jnp.dot(end - start, end - start))
        rotation = rotation_about(2, direction(start, end))
        points = {"start": (-half, 0.0, 0.0), "end": (half, 0.0, 0.0)}
        return Body(mass, inertia, position=(*middle, 0.0), rotation=rotation, points=points)

    return System(
        bodies={
            "crank": link(masses[0], crank_inertia, origin, P),
            "rod": link(masses[1], rod_inertia, P, W),
            "slider": Body(masses[2], slider_inertia, position=(*S, 0.0)),
        },
        joints={
            "O": Revolute("ground", "crank", point=(0.0, 0.0, 0.0), axis="z"),
            "pin": Spherical("crank", "rod", point=(*P, 0.0)),
            "wrist": Universal("rod", "slider", point=(*W, 0.0), axis="z", axis_to="y"),
            "guide": Prismatic("ground", "slider", point=(*S, 0.0), axis="x"),
        },
        forces={"torque": Applied("crank", torque=(0.0, 0.0, torque))},
    )


def _outputs(sol: Solution) -> dict[str, Array]:
    crank, slider = sol.joint("O"), sol.body("slider")
    start = sol.point("crank", "end")[0]
    return {
        "phi": crank.angle + jnp.arctan2(start[1], start[0]),
        "phidot": crank.angle_rate,
        "x": slider.position[:, 0],
        "xdot": slider.velocity[:, 0],
    }


MECHANISMS = (
    Mechanism(
        name="slider-crank",
        summary="slider-crank with spatial joints under a constant torque [Carvalho 2022]",
        builder=slider_crank,
        start=at_rest,
        t1=2.0,
        outputs=_outputs,
        published=EulerParameters(),
    ),
)
