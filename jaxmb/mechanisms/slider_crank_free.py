"""Slider-crank that runs free, in coordinates counted from its slider."""

import jax
import jax.numpy as jnp
from jaxtyping import Array

from ..generalized import GeneralizedSystem
from ..solution import Solution
from ..state import State
from .mechanism import Mechanism, Number

#: Crank angle (rad) and its rate (rad/s) at the start.
PHI, PHI_DOT = jnp.pi / 4, jnp.pi / 2


def slider_crank_free(
    *, crank: Number = 0.5, rod: Number = 1.0, crank_mass: Number = 1.0, rod_mass: Number = 1.0, slider: Number = 1.0
) -> GeneralizedSystem:
    """Uniform crank and rod (lengths in m, masses in kg) and a slider without forces, q = (x, alpha, beta): the
    slider's place, the angle of the rod, and that of the crank from the rod. The free end of the crank is held at the
    origin by two rows. Angles in rad.

    Picture::

        y         pin
        ^          o                              alpha: rod from x (here negative)
        |        /   ' - .                        beta: crank from the rod
        |      /           ' - .  rod             phi = alpha + beta: crank from x
        |    / crank             ' - .
        |  /  phi                      ' - .
        o - - - - - - - - - - - - - - - - - [slider] - - -> x
        (0, 0): bearing of the crank, two rows
        |<--------------- x --------------->|

    Source: Kurz, Burkhardt and Eberhard 2011, section 5, who give no data. Assumed: all numbers, natural ones.

    Exercises: drift over long runs (300 s, 91 turns) at constant energy, and the choice of independent coordinates: x
    fails at the dead centres, alpha with the crank upright, beta never.
    """
    parameters = {"crank": crank, "rod": rod, "crank_mass": crank_mass, "rod_mass": rod_mass, "slider": slider}
    return GeneralizedSystem(_kinetic, None, _constraint, None, parameters, coordinates=("x", "alpha", "beta"))


def _points(q, p):
    x, alpha, turn = q[0], q[1], q[1] + q[2]
    along = jnp.stack([jnp.cos(alpha), jnp.sin(alpha)])
    wrist = jnp.stack([x, jnp.zeros(())])
    pin = wrist - p["rod"] * along
    end = pin - p["crank"] * jnp.stack([jnp.cos(turn), jnp.sin(turn)])
    return wrist, pin, end


def _kinetic(q, v, p):
    wrist, pin, end = jax.jvp(lambda q: _points(q, p), (q,), (v,))[1]
    middle, crank_middle = 0.5 * (wrist + pin), 0.5 * (pin + end)
    linear = p["slider"] * v[0] ** 2 + p["rod_mass"] * jnp.dot(middle, middle)
    linear = linear + p["crank_mass"] * jnp.dot(crank_middle, crank_middle)
    turning = p["rod_mass"] * (p["rod"] * v[1]) ** 2 + p["crank_mass"] * (p["crank"] * (v[1] + v[2])) ** 2
    return 0.5 * linear + turning / 24


def _constraint(q, t, p):
    return _points(q, p)[2]


def slider_crank_free_start(system: GeneralizedSystem, phi: Number = PHI, phidot: Number = PHI_DOT) -> State:
    """The crank at the angle `phi` (rad) and turning at `phidot` (rad/s)."""
    p = system.parameters

    def at(phi):
        alpha = -jnp.arcsin(p["crank"] * jnp.sin(phi) / p["rod"])
        return jnp.stack([p["crank"] * jnp.cos(phi) + p["rod"] * jnp.cos(alpha), alpha, phi - alpha])

    q, v = jax.jvp(at, (jnp.asarray(phi, float),), (jnp.asarray(phidot, float),))
    return system.state(q, v)


def _outputs(sol: Solution) -> dict[str, Array]:
    names = sol.system.coordinates
    out = {name: sol.q[:, k] for k, name in enumerate(names)}
    out |= {f"{name}dot": sol.v[:, k] for k, name in enumerate(names)}
    return out | {"phi": sol.q[:, 1] + sol.q[:, 2], "phidot": sol.v[:, 1] + sol.v[:, 2], "E": sol.energy.total}


def _run(name: str, t1: float) -> Mechanism:
    return Mechanism(
        name=name,
        summary=f"slider-crank without forces, {t1:g} s [Kurz, Burkhardt and Eberhard 2011]",
        builder=slider_crank_free,
        start=slider_crank_free_start,
        t1=t1,
        outputs=_outputs,
        reference=f"slidercrank004_{t1:g}s.csv",
    )


MECHANISMS = (_run("slider-crank-free", 40.0), _run("slider-crank-free-long", 300.0))
