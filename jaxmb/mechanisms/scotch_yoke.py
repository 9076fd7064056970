"""Scotch yoke in its crank angle and slider position."""

import jax.numpy as jnp
from jaxtyping import Array

from ..generalized import GeneralizedSystem
from ..solution import Solution
from ..state import State
from .mechanism import Mechanism, Number

#: Acceleration of gravity (in/s2) of the thesis, which counts in inches and pounds-force.
GRAVITY = 386.4
#: Crank angle (rad) at the start.
THETA = 1.0


def scotch_yoke(
    *,
    length: Number = 25.0,
    width: Number = 0.05,
    crank: Number = 0.5 / GRAVITY,
    slider: Number = 5.0 / GRAVITY,
    gravity: Number = GRAVITY,
) -> GeneralizedSystem:
    """A crank that drives a slotted slider, q = (theta1, x2) with x2 = `length` cos theta1, under gravity on the
    crank and the force sin(pi t / 4) on the slider. Inches, pounds-force and seconds: `crank` and `slider` are masses
    in lbf s2/in, `length` and `width` those of the crank.

    Picture::

         y                  |   |
         ^                  | o | pin of the crank in the slot
         |              . ' |   |
         |          . '     |   |==> sin(pi t / 4)
         |      . '  crank  |   |
         |  . '  theta1     |   | slider, along x
         o - - - - - - - - - - - - - - - -> x           gravity along -y, on the crank
        ////
         |<------- x2 ------->|

    Source: Newhart 2019, section 2.4.2. Text and program of the thesis disagree: the program takes 0.5 and 5 for
    weights (and `width` 0.05), the text for masses (and `width` 2). Both are in the catalog. Assumed: the printed
    signs, by which the force sin(pi t / 4) pulls the slider along +x.

    Exercises: generalised coordinates, a force that depends on time, units that are not SI.
    """
    parameters = {"length": length, "width": width, "crank": crank, "slider": slider, "gravity": gravity}
    return GeneralizedSystem(_kinetic, _potential, _constraint, _force, parameters, coordinates=("theta1", "x2"))


def _kinetic(q, v, p):
    inertia = p["crank"] * (4 * p["length"] ** 2 + p["width"] ** 2) / 12
    return 0.5 * inertia * v[0] ** 2 + 0.5 * p["slider"] * v[1] ** 2


def _potential(q, p):
    return 0.5 * p["crank"] * p["gravity"] * p["length"] * jnp.sin(q[0])


def _constraint(q, t, p):
    return jnp.stack([q[1] - p["length"] * jnp.cos(q[0])])


def _force(q, v, t, p):
    return jnp.stack([jnp.zeros(()), jnp.sin(jnp.pi * t / 4)])


def scotch_yoke_start(system: GeneralizedSystem, theta: Number = THETA) -> State:
    """At rest with the crank at `theta` (rad)."""
    return system.state((theta, system.parameters["length"] * jnp.cos(theta)))


def _outputs(sol: Solution) -> dict[str, Array]:
    return {
        "theta1": sol.q[:, 0],
        "x2": sol.q[:, 1],
        "theta1dot": sol.v[:, 0],
        "x2dot": sol.v[:, 1],
        "lambda": sol.lam[:, 0],
        "E_minus_W": sol.energy.total - sol.energy.work,
    }


def _variant(name: str, summary: str, reference: str | None, **parameters: Number) -> Mechanism:
    return Mechanism(
        name=name,
        summary=f"{summary} [Newhart 2019]",
        builder=scotch_yoke,
        parameters=parameters,
        start=scotch_yoke_start,
        t1=4.0,
        outputs=_outputs,
        reference=reference,
    )


_TEXT = {"crank": 0.5, "slider": 5.0, "width": 2.0}
MECHANISMS = (
    _variant("scotch-yoke", "Scotch yoke with the data of the thesis' program", "scotch_code.csv"),
    _variant("scotch-yoke-text", "Scotch yoke with the data of the text", "scotch_text.csv", **_TEXT),
    _variant("scotch-yoke-wide", "Scotch yoke with the text's width and the program's weights", None, width=2.0),
)
