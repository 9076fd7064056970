"""Two bars on a pin."""

import jax.numpy as jnp
from jaxtyping import Array

from ..coordinates import Planar
from ..forces import Applied, Gravity
from ..joints import PlanarRevolute
from ..solution import Solution
from ..system import System
from .mechanism import Mechanism, Number, Numbers, at_rest
from .plane import bar, polar


def double_pendulum(
    *,
    theta: Numbers = (0.524, 0.785),
    masses: Numbers = (5.0, 7.0),
    inertias: Numbers = (10.0, 20.0),
    a: Numbers = (1.0, 1.0),
    b: Numbers = (1.0, 1.0),
    moment: Number = 10.0,
    force: Numbers = (8.0, 7.0),
    gravity: Number = 0.0,
) -> System:
    """A bar on the ground with a second one on its end: 6 coordinates, 4 rows, 2 degrees of freedom.

    `theta` (rad) are the absolute angles of the bars from x at the start, `masses` in kg, `inertias` (kg m2) about the
    centres of mass, `a` and `b` (m) the distances from the first pin to the centre of mass and on to the second pin;
    `moment` (N m) acts on the first bar, `force` (N) on the free end, `gravity` (m/s2) along -y.

    Picture::

          y                             ^ force
          ^                       end /
          |                         *
          |                       /
          |                     /  bar2
          |                A  /  theta[1]
          |                 o - - - - - -             a[0]: O to centre of mass,  b[0]: from there to A
          |             . '                           a[1]: A to centre of mass,  b[1]: from there to end
          |         . '    bar1, moment on it
          |     . '  theta[0]
        O o - - - - - - - - - - - - - -> x            gravity (if any) along -y
         ////

    Source: Park, Yoo and Hwang 2000, section 4.1. Assumed: absolute angles, the force at the free end, no gravity
    (the text does not name it, and with it the motion is chaotic).

    Exercises: the planar coordinates, full rank, reactions, a long run (50 s), work of given loads.
    """
    pin = polar(a[0] + b[0], theta[0])
    return System(
        bodies={
            "bar1": bar(masses[0], inertias[0], jnp.zeros(2), theta[0], a[0], b[0]),
            "bar2": bar(masses[1], inertias[1], pin, theta[1], a[1], b[1]),
        },
        joints={
            "O": PlanarRevolute("ground", "bar1", at=(0.0, 0.0, 0.0), to="start"),
            "A": PlanarRevolute("bar1", "bar2", at="end", to="start"),
        },
        forces={
            "gravity": Gravity((0.0, -gravity, 0.0)),
            "moment": Applied("bar1", torque=(0.0, 0.0, moment)),
            "force": Applied("bar2", (*force, 0.0), at="end"),
        },
        coordinates=Planar(),
    )


def _outputs(sol: Solution) -> dict[str, Array]:
    lower, relative, second = sol.joint("O"), sol.joint("A"), sol.body("bar2")
    reaction = sol.reaction("O").force
    # The file counts the potential of the constant loads from the origin, jaxmb their work from the start.
    loads = sol.system.forces
    at_start = jnp.dot(loads["force"].force(0.0), sol.point("bar2", "end")[0])
    at_start = at_start + loads["moment"].torque(0.0)[2] * lower.angle[0]
    return {
        "theta1": lower.angle,
        "theta2": lower.angle + relative.angle,
        "theta1dot": lower.angle_rate,
        "theta2dot": lower.angle_rate + relative.angle_rate,
        "x2": second.position[:, 0],
        "y2": second.position[:, 1],
        "R0x_N": reaction[:, 0],
        "R0y_N": reaction[:, 1],
        "E": sol.energy.total - sol.energy.work - at_start,
    }


MECHANISMS = (
    Mechanism(
        name="double-pendulum",
        summary="two bars under constant loads, no gravity, planar coordinates [Park, Yoo and Hwang 2000]",
        builder=double_pendulum,
        start=at_rest,
        t1=50.0,
        outputs=_outputs,
        reference="double_pendulum_nograv.csv",
    ),
    Mechanism(
        name="double-pendulum-gravity",
        summary="the same with gravity: chaotic, a hard test of accuracy",
        builder=double_pendulum,
        parameters={"gravity": 9.81},
        start=at_rest,
        t1=10.0,
        outputs=_outputs,
    ),
)
