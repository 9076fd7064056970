"""Bricard's overconstrained loop."""

# pyright: reportCallIssue=false
# (of a class made by a metaclass it does not see the inherited __init__)

import jax.numpy as jnp
from jaxtyping import Array

from ..body import box
from ..coordinates import EulerParameters
from ..forces import Gravity
from ..joints import Revolute
from ..solution import Solution
from ..system import System
from .mechanism import Mechanism, Number, at_rest

#: Corners of the loop in units of the rod length, and the hinge axis at each.
CORNERS = ((0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1))
AXES = "yzxyzx"


def bricard(*, length: Number = 1.0, section: Number = 0.1, mass: Number = 1.0, gravity: Number = 9.81) -> System:
    """Five rods of square `section` (m) between six hinges at P1 to P6, of which P1 and P6 are on the ground; gravity
    along -y.

    `length` in m, `mass` in kg for each rod, `gravity` in m/s2. 30 speeds and 30 rows, so a count of freedoms gives
    0, but it moves: the rank is 29 in every configuration.

    Picture::

             ground P1 o====== rod1 ======o P2         y
                                          I            ^
                                          I            |
                                          I rod2       o--> x
        ground P6 o                       I           /
                  I                       I          z
                  I                       o P3
             rod5 I                     .'
                  I                   .' rod3
               P5 o====== rod4 ======o P4              gravity along -y
         hinge axes: P1 y, P2 z, P3 x, P4 y, P5 z, P6 x

    Source: IFToMM benchmark A04. Assumed: the square section of 0.1 m, on which published models of it agree.

    Exercises: a redundant row that no single joint owns; its null vector turns by 90 degrees during the motion.
    """
    corners = [length * jnp.array(corner, float) for corner in CORNERS]
    bodies = {
        f"rod{i + 1}": box(corners[i], corners[i + 1], width=section, height=section, mass=mass) for i in range(5)
    }
    chain = ["ground", *bodies, "ground"]
    joints = {f"P{i + 1}": Revolute(chain[i], chain[i + 1], point=corners[i], axis=AXES[i]) for i in range(6)}
    return System(bodies, joints, {"gravity": Gravity((0.0, -gravity, 0.0))})


def _outputs(sol: Solution) -> dict[str, Array]:
    P3, hinge = sol.point_motion("rod2", "end"), sol.joint("P1")
    out = {"theta1": hinge.angle, "dtheta1": hinge.angle_rate}
    for name, x in (("P3", P3.position), ("P3v", P3.velocity)):
        out |= {f"{name}{axis}": x[:, k] for k, axis in enumerate("xyz")}
    return out


MECHANISMS = (
    Mechanism(
        name="bricard",
        summary="six-hinge loop that moves although it should not, rank 29 of 30 [IFToMM A04]",
        builder=bricard,
        start=at_rest,
        t1=10.0,
        outputs=_outputs,
        reference="A04.csv",
        published=EulerParameters(),
    ),
)
