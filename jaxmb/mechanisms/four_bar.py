"""Planar four-bar under a constant load and a torsion spring."""

from typing import Any

import jax.numpy as jnp
from jaxtyping import Array

from ..coordinates import Planar
from ..forces import Applied, Gravity, JointForce, Linear
from ..joints import PlanarRevolute
from ..solution import Solution
from ..system import System
from .mechanism import Mechanism, Number, Numbers, at_rest
from .plane import bar, direction, polar, third_point


def four_bar(
    *,
    ground: Number = 2.0,
    theta1: Number = 1.074,
    masses: Numbers = (5.0, 7.0, 9.0),
    inertias: Numbers = (10.0, 20.0, 25.0),
    a: Numbers = (1.0, 1.0, 1.0),
    b: Numbers = (1.0, 1.0, 1.0),
    stiffness: Number = 100.0,
    free: Number = 0.524,
    force: Numbers = (80.0, 70.0),
    gravity: Number = 0.0,
) -> System:
    """Crank, coupler and rocker between pins at (0, 0) and (`ground`, 0): 9 coordinates, 8 rows, 1 degree of freedom.

    `theta1` (rad) is the crank angle from x at the start, with the coupler on the open (parallelogram) side; `ground`
    is in m, `masses` in kg, `inertias` (kg m2) about the centres of mass; `a`, `b` (m) are the distances from the first
    pin of each link to its centre of mass and on to the second; `stiffness` (N m/rad) and `free` (rad) are of the
    spring on the crank; `force` (N) acts on the centre of mass of the coupler, `gravity` (m/s2) along -y.

    Picture::

                          ^ force, at the centre of mass *
                        /
             B o=======*=======o C
              /     coupler   /
             / crank         / rocker           y
            /               /                   ^
           / theta1        /                    |
        A o - - - - - - - o D                   +--> x     gravity (if any) along -y
         ////            ////
          |<--- ground -->|                     spring on the angle of A

    Source: Park, Yoo and Hwang 2000, section 4.2. Case I (`ground` 2.0, theta1 1.074) is a parallelogram, whose
    Jacobian loses rank when all links lie on x; case II (`ground` 1.9, theta1 1.104) has no such configuration. As
    printed, case I never gets there, which contradicts the text; it does with gravity or with the force reversed, and
    1.074 is probably a slip for 1.047 (60 degrees). All variants are in the catalog. Assumed: the layout, and where
    on the coupler the force acts.

    Exercises: a singular configuration with branches (case I), its near miss (case II), a spring on a joint angle.
    """
    lengths = [x + y for x, y in zip(a, b, strict=True)]
    origin, D = jnp.zeros(2), jnp.stack([jnp.asarray(ground, float), jnp.zeros(())])
    B = polar(lengths[0], theta1)
    C = third_point(B, D, lengths[1], lengths[2])
    return System(
        bodies={
            "crank": bar(masses[0], inertias[0], origin, theta1, a[0], b[0]),
            "coupler": bar(masses[1], inertias[1], B, direction(B, C), a[1], b[1]),
            "rocker": bar(masses[2], inertias[2], D, direction(D, C), a[2], b[2]),
        },
        joints={
            "A": PlanarRevolute("ground", "crank", at=(0.0, 0.0, 0.0), to="start"),
            "B": PlanarRevolute("crank", "coupler", at="end", to="start"),
            "C": PlanarRevolute("coupler", "rocker", at="end", to="end"),
            "D": PlanarRevolute("ground", "rocker", at=(ground, 0.0, 0.0), to="start"),
        },
        forces={
            "spring": JointForce("A", Linear(stiffness, free=free)),
            "force": Applied("coupler", (*force, 0.0)),
            "gravity": Gravity((0.0, -gravity, 0.0)),
        },
        coordinates=Planar(),
    )


def _outputs(sol: Solution) -> dict[str, Array]:
    crank, coupler = sol.joint("A"), sol.body("coupler")
    # The file counts the potential of the constant load from the origin, jaxmb its work from the start.
    at_start = jnp.dot(sol.system.forces["force"].force(0.0), coupler.position[0])
    return {
        "theta1": crank.angle,
        "theta2": crank.angle + sol.joint("B").angle,
        "theta3": sol.joint("D").angle,
        "theta1dot": crank.angle_rate,
        "x2": coupler.position[:, 0],
        "y2": coupler.position[:, 1],
        "E": sol.energy.total - sol.energy.work - at_start,
    }


def _case(name: str, summary: str, reference: str, singular_at: float | None = None, **parameters: Any) -> Mechanism:
    return Mechanism(
        name=name,
        summary=f"{summary} [Park, Yoo and Hwang 2000]",
        builder=four_bar,
        parameters=parameters,
        start=at_rest,
        t1=10.0,
        outputs=_outputs,
        reference=f"fourbar_{reference}.csv",
        singular_at=singular_at,
    )


_SECOND = {"ground": 1.9, "theta1": 1.104}
_REVERSED = {"force": (-80.0, -70.0), "theta1": 1.047}
MECHANISMS = (
    _case("four-bar-case-1", "parallelogram four-bar as printed: never singular", "caseI_nograv"),
    _case("four-bar-case-2", "four-bar as printed", "caseII_nograv", **_SECOND),
    _case("four-bar-case-1-gravity", "parallelogram four-bar, singular on the way", "caseI_grav", 0.8296, gravity=9.81),
    _case("four-bar-case-1-60deg", "the same from 1.047 rad", "caseI_grav_th1047", 0.8225, gravity=9.81, theta1=1.047),
    _case("four-bar-case-1-reversed", "the same, load reversed, no gravity", "caseI_Frev", 3.3079, **_REVERSED),
    _case("four-bar-case-2-gravity", "four-bar near a singularity", "caseII_grav", gravity=9.81, **_SECOND),
)
