"""A point mass on a massless rod, in the plane and in space."""

# pyright: reportCallIssue=false
# (of a class made by a metaclass it does not see the inherited __init__)

import jax.numpy as jnp
from jaxtyping import Array

from ..body import point_mass
from ..coordinates import PointMass
from ..forces import Gravity
from ..joints import Distance, InPlane
from ..solution import Solution
from ..system import System
from .mechanism import Mechanism, Number, at_rest


def simple_pendulum(
    *,
    mass: Number = 1.0,
    length: Number = 1.0,
    angle: Number = -jnp.pi / 2,
    gravity: Number = 9.81,
) -> System:
    """A mass in the plane, 2 coordinates and 1 row; gravity along -y, `angle` (rad) at the start counted from the
    bottom.

    `mass` in kg, `length` in m, `gravity` in m/s2.

    Picture::

                        //
        mass o--- rod ---+ (0, 0)        y
              .          |               ^
                '. angle |               +--> x
                   ' - ._|
                      bottom             gravity along -y
        drawn at angle = -pi/2; positive to the right

    Source: IFToMM benchmark A01, simple pendulum. Assumed: nothing; mass, length, gravity and start are those of the
    benchmark.

    Exercises: point masses, a rod without mass, the closed form (elliptic functions).
    """
    x, y = length * jnp.sin(angle), -length * jnp.cos(angle)
    return System(
        bodies={"mass": point_mass((x, y, 0.0), mass=mass)},
        joints={"rod": Distance("ground", "mass", length=length)},
        forces={"gravity": Gravity((0.0, -gravity, 0.0))},
        coordinates=PointMass(planar=True),
    )


def spatial_pendulum(
    *,
    mass: Number = 1.0,
    length: Number = 1.0,
    angle: Number = jnp.pi / 2,
    gravity: Number = 9.81,
) -> System:
    """The same in 3 coordinates, kept in the plane z = 0 by a second row; gravity along +y (y points down).

    `mass` in kg, `length` in m, `angle` in rad from the bottom, `gravity` in m/s2.

    Picture::

               //
        (0, 0) +--- rod ---o mass        +--> x     z away from the reader
               |          .              |
               | angle  .'               v
               |_. - '                   y
            bottom                       gravity along +y;  plane: z = 0
        drawn at angle = pi/2

    Source: Newhart 2019, section 2.4.1, with Phi = (x^2 + y^2 - 1, z). The first row is written here as
    (x^2 + y^2 + z^2 - l^2) / (2 l), so that its multiplier is the tension of the rod. Assumed: nothing else.

    Exercises: the error of the penalty methods, which is proportional to 1 / penalty.
    """
    return System(
        bodies={"mass": point_mass((length * jnp.sin(angle), length * jnp.cos(angle), 0.0), mass=mass)},
        joints={
            "rod": Distance("ground", "mass", length=length),
            "plane": InPlane("ground", "mass", point=(0.0, 0.0, 0.0), axis="z"),
        },
        forces={"gravity": Gravity((0.0, gravity, 0.0))},
        coordinates=PointMass(),
    )


def _planar_outputs(sol: Solution) -> dict[str, Array]:
    mass = sol.body("mass")
    return {
        "x": mass.position[:, 0],
        "y": mass.position[:, 1],
        "vx": mass.velocity[:, 0],
        "vy": mass.velocity[:, 1],
    }


def _spatial_outputs(sol: Solution) -> dict[str, Array]:
    mass = sol.body("mass")
    x, y, vx, vy = mass.position[:, 0], mass.position[:, 1], mass.velocity[:, 0], mass.velocity[:, 1]
    length = sol.system.joints["rod"].length
    tension = sol.multipliers("rod")[:, 0]
    return {
        "x": x,
        "y": y,
        "xdot": vx,
        "ydot": vy,
        "theta": jnp.unwrap(jnp.arctan2(x, y)),
        "thetadot": (vx * y - vy * x) / length**2,
        "lambda1": tension / (2 * length),
        "rod_tension_N": tension,
    }


MECHANISMS = (
    Mechanism(
        name="simple-pendulum",
        summary="point mass on a rod, closed form known [IFToMM A01]",
        builder=simple_pendulum,
        start=at_rest,
        t1=10.0,
        outputs=_planar_outputs,
        reference="A01.csv",
    ),
    Mechanism(
        name="simple-pendulum-spatial",
        summary="point mass on a rod in three coordinates and two rows [Newhart 2019]",
        builder=spatial_pendulum,
        start=at_rest,
        t1=5.0,
        outputs=_spatial_outputs,
        reference="simple_pendulum.csv",
    ),
)
