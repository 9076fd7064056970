"""Spatial four-bar R-U-S-R."""

# pyright: reportCallIssue=false
# (of a class made by a metaclass it does not see the inherited __init__)

import jax.numpy as jnp
from jaxtyping import Array

from ..body import Body
from ..forces import Gravity, JointForce, Linear
from ..joints import Revolute, Spherical, Universal
from ..solution import Solution
from ..system import System
from .mechanism import Mechanism, Number, Numbers, at_rest
from .plane import third_point


def spatial_four_bar(
    *,
    crank: Number = 2.0,
    coupler: Number = 12.2,
    rocker: Number = 7.4,
    pivot: Numbers = (-4.0, -8.5, 0.0),
    masses: Numbers = (2.0, 1.0, 1.0),
    wheel_inertia: Numbers = (4.0, 2.0, 2.0),
    coupler_inertia: Numbers = (0.01, 12.4, 12.4),
    rocker_inertia: Numbers = (4.54, 4.54, 0.01),
    stiffness: Number = 1.0,
    damping: Number = 5.0,
    gravity: Number = 9.81,
) -> System:
    r"""A wheel that turns about x at the origin, a coupler on a cross joint at B = (0, 0, `crank`), and a rocker that
    turns about y at `pivot` and carries the coupler's other end C on a ball joint: 18 speeds, 17 rows, 1 degree of
    freedom.

    Lengths in m, masses in kg, gravity in m/s2, principal inertias in kg m2 about the centres of mass in the axes of
    each link (coupler: x along BC; rocker: z along DC), spring (N m/rad, free at the start) and damper (N m s/rad) on
    the wheel.

    Picture::

          C o                                       z
            \ ' .                                   ^
             \    ' - .     coupler                 |
              \         ' - .                       o--> x     y away from the reader
        rocker \              ' - .
                \                   ' o B           C: ball joint
                 \                    | wheel       B: cross joint, axis e1 in the wheel, e2 in the coupler
                  o D                 o A           A: axis x, with spring and damper;  D: axis y
                 ////                ////           gravity along -z
          C and D are 8.5 m nearer to the reader than A and B

    Source: Park, Yoo and Hwang 2000, section 4.3. The lengths are lost in print; the masses and inertias are those of
    the spatial four-bar of Haug 1989, section 12.3, from which they are taken. Assumed: gravity along -z, the axes of
    the cross.

    Exercises: a cross joint, dissipation, reactions in space.
    """
    D = jnp.asarray(pivot, float)
    B = jnp.stack([jnp.zeros(()), jnp.zeros(()), jnp.asarray(crank, float)])
    # C moves on a circle about D in the plane y = D_y, and is at sqrt(coupler^2 - D_y^2) from B in it.
    C2 = third_point(D[::2], B[::2], rocker, jnp.sqrt(coupler**2 - D[1] ** 2))
    C = jnp.stack([C2[0], D[1], C2[1]])
    u, w = (C - B) / coupler, (C - D) / rocker
    y, z = jnp.array([0.0, 1.0, 0.0]), jnp.array([0.0, 0.0, 1.0])
    # The axes of the cross: e1 in the wheel, e2 in the coupler.
    e1 = jnp.cross(z, u)
    e1 = e1 / jnp.sqrt(jnp.dot(e1, e1))
    e2 = jnp.cross(u, e1)
    half2, half3 = (jnp.stack([jnp.asarray(x / 2, float), jnp.zeros(()), jnp.zeros(())]) for x in (coupler, rocker))
    link2 = Body(
        masses[1],
        coupler_inertia,
        position=0.5 * (B + C),
        rotation=jnp.stack([u, e1, e2], axis=1),
        points={"B": -half2, "C": half2},
    )
    link3 = Body(
        masses[2],
        rocker_inertia,
        position=0.5 * (C + D),
        rotation=jnp.stack([jnp.cross(y, w), y, w], axis=1),
        points={"D": -half3[::-1], "C": half3[::-1]},
    )
    return System(
        bodies={"wheel": Body(masses[0], wheel_inertia, position=(0.0, 0.0, 0.0)), "coupler": link2, "rocker": link3},
        joints={
            "A": Revolute("ground", "wheel", point=(0.0, 0.0, 0.0), axis="x"),
            "B": Universal("wheel", "coupler", point=B, axis=e1, axis_to=e2),
            "C": Spherical("rocker", "coupler", point=C),
            "D": Revolute("ground", "rocker", point=D, axis="y"),
        },
        forces={
            "gravity": Gravity((0.0, 0.0, -gravity)),
            "spring": JointForce("A", Linear(stiffness, damping)),
        },
    )


def _outputs(sol: Solution) -> dict[str, Array]:
    wheel = sol.joint("A")
    arm = sol.point("rocker", "C") - sol.point("rocker", "D")
    out = {
        "theta1": wheel.angle,
        "theta1dot": wheel.angle_rate,
        "phi3": jnp.unwrap(jnp.arctan2(arm[:, 0], arm[:, 2])),
        "E_mech": sol.energy.total,
        "E_dissipated": -sol.energy.work,
    }
    centres = {"2": sol.body("coupler").position, "3": sol.body("rocker").position}
    forces = {"N2": sol.reaction("C").force, "R1": sol.reaction("A").force}
    out |= {f"{axis}{body}": x[:, k] for body, x in centres.items() for k, axis in enumerate("xyz")}
    return out | {f"{name}{axis}": x[:, k] for name, x in forces.items() for k, axis in enumerate("xyz")}


MECHANISMS = (
    Mechanism(
        name="spatial-four-bar",
        summary="spatial four-bar R-U-S-R with spring and damper [Park, Yoo and Hwang 2000; Haug 1989]",
        builder=spatial_four_bar,
        start=at_rest,
        t1=10.0,
        outputs=_outputs,
        reference="spatial_fourbar.csv",
    ),
)
