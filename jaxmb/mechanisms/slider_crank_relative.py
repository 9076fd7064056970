"""Slider-crank in relative angles, with the right mass matrix and with the printed one."""

import jax
import jax.numpy as jnp
from jaxtyping import Array

from ..generalized import GeneralizedSystem
from ..solution import Solution
from ..state import State
from .mechanism import Mechanism, Number

#: Crank angle (rad) at the start, counted from the downward vertical.
THETA = 0.75 * jnp.pi


def slider_crank_relative(
    *, mass: Number = 1.0, length: Number = 2.0, gravity: Number = 9.81, printed: bool = False
) -> GeneralizedSystem:
    r"""Two equal rods and a slider of one `mass` (kg) each, q = (theta1, theta2, x3): the angle of the crank from the
    downward vertical, that of the second rod from the crank, and the slider's place on the x axis. Angles in rad,
    `length` in m, `gravity` (m/s2) along -y; two rows, 1 degree of freedom.

    Picture::

         y              .
         ^            .    theta2: rod from the crank's direction (here -pi/2)
         |          o
         |        /   \
         |      /       \  rod
         |    / crank     \
         |  /               \
         o - - - - - - - - - [slider] - - -> x           gravity along -y
        ///
         : theta1: crank from the downward vertical (here 3 pi/4)
         |<------- x3 ------>|

    Source: Newhart 2019, section 2.4.3, whose mass matrix is diagonal: `printed=True` keeps that mistake (the forces
    have the right coupling terms, so that energy is not conserved). Assumed: uniform rods.

    Exercises: a velocity-dependent inertia force; with the right mass a singular configuration (x3 = 0, both rods on
    one line) at 1.7325 s.
    """
    return GeneralizedSystem(
        _diagonal if printed else _right,
        _potential,
        _constraint,
        _coupling if printed else None,
        {"mass": mass, "length": length, "gravity": gravity},
        coordinates=("theta1", "theta2", "x3"),
    )


def _centres(q, p):
    a1, a2 = q[0], q[0] + q[1]
    first = 0.5 * p["length"] * jnp.stack([jnp.sin(a1), -jnp.cos(a1)])
    return first, 2 * first + 0.5 * p["length"] * jnp.stack([jnp.sin(a2), -jnp.cos(a2)])


def _right(q, v, p):
    rates = jax.jvp(lambda q: _centres(q, p), (q,), (v,))[1]
    spins = v[0] ** 2 + (v[0] + v[1]) ** 2
    inertia = p["mass"] * p["length"] ** 2 / 12
    return 0.5 * p["mass"] * (sum(jnp.dot(r, r) for r in rates) + v[2] ** 2) + 0.5 * inertia * spins


def _diagonal(q, v, p):
    inertia = p["mass"] * p["length"] ** 2 / 3
    return 0.5 * (inertia * (v[0] ** 2 + v[1] ** 2) + p["mass"] * v[2] ** 2)


def _coupling(q, v, t, p):
    """What the right kinetic energy puts on the right-hand side, T_q - (T_v)_q v."""
    drift = jax.jvp(lambda q: jax.grad(_right, argnums=1)(q, v, p), (q,), (v,))[1]
    return jax.grad(_right)(q, v, p) - drift


def _potential(q, p):
    return p["mass"] * p["gravity"] * sum(centre[1] for centre in _centres(q, p))


def _constraint(q, t, p):
    a1, a2 = q[0], q[0] + q[1]
    return p["length"] * jnp.stack([jnp.sin(a1) + jnp.sin(a2) - q[2] / p["length"], -jnp.cos(a1) - jnp.cos(a2)])


def slider_crank_relative_start(system: GeneralizedSystem, theta: Number = THETA) -> State:
    """At rest with the crank at `theta` (rad) and the slider on the x axis to the right."""
    return system.state((theta, jnp.pi - 2 * theta, 2 * system.parameters["length"] * jnp.sin(theta)))


def _outputs(sol: Solution) -> dict[str, Array]:
    names = sol.system.coordinates
    out = {name: sol.q[:, k] for k, name in enumerate(names)}
    out |= {f"{name}dot": sol.v[:, k] for k, name in enumerate(names)}
    return out | {"lambda1": sol.lam[:, 0], "lambda2": sol.lam[:, 1]}


MECHANISMS = (
    Mechanism(
        name="slider-crank-relative",
        summary="slider-crank in relative angles, singular at 1.73 s [Newhart 2019, mass matrix corrected]",
        builder=slider_crank_relative,
        start=slider_crank_relative_start,
        t1=1.8,
        outputs=_outputs,
        reference="slidercrank003_correctM.csv",
        singular_at=1.7325,
    ),
    Mechanism(
        name="slider-crank-relative-printed",
        summary="the same with the printed diagonal mass matrix, which is wrong [Newhart 2019]",
        builder=slider_crank_relative,
        parameters={"printed": True},
        start=slider_crank_relative_start,
        t1=1.8,
        outputs=_outputs,
        reference="slidercrank003_printedM.csv",
    ),
)
