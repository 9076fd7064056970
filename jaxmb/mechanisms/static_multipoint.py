"""Two bars on a rigid lever: a static problem with constraints on several displacements."""

import jax
import jax.numpy as jnp

from ..formulations import Deflated
from ..formulations.base import Accel, Formulation
from ..generalized import GeneralizedSystem
from .mechanism import Number, Numbers


def static_multipoint(
    *,
    areas: Numbers = (1200.0, 900.0),
    moduli: Numbers = (200e3, 70e3),
    lengths: Numbers = (4500.0, 3000.0),
    arms: Numbers = (2.0, 5.0, 6.0),
    load: Number = 30e3,
) -> GeneralizedSystem:
    """A lever that turns about one end is held by two bars at `arms[0]` and `arms[1]` and pulled by `load` (N) at
    `arms[2]`; `areas` (mm2), `moduli` (N/mm2) and `lengths` (mm) are those of the bars. Displacements q = (Q1, ..., Q5)
    in mm: Q1 and Q2 of the bars at the lever, Q3 and Q4 at the ground, Q5 of the load.

    Picture::

           Q3 ///         /// Q4        ground
              |             |
         bar1 |        bar2 |
              |             |
        o=====+Q1===========+Q2=====+Q5     lever, rigid
        ^                           |
        pivot                       v load

    Source: Newhart 2019, section 1.2.6, after Chandrupatla. The lever makes Q1 = Q5 arms[0] / arms[2] and
    Q2 = Q5 arms[1] / arms[2]; Q3 = Q4 = 0. No masses: it is no motion, see `static_solution`.

    Exercises: the static penalty against exact multipliers, a singular stiffness.
    """
    stiffness = [a * E / l for a, E, l in zip(areas, moduli, lengths, strict=True)]
    parameters = {"stiffness": jnp.stack([jnp.asarray(k, float) for k in stiffness]), "arms": arms, "load": load}
    return GeneralizedSystem(
        lambda q, v, p: jnp.zeros(()), _potential, _constraint, None, parameters,
        coordinates=("Q1", "Q2", "Q3", "Q4", "Q5"),
    )  # fmt: skip


def _potential(q, p):
    return 0.5 * jnp.sum(p["stiffness"] * (q[:2] - q[2:4]) ** 2) - p["load"] * q[4]


def _constraint(q, t, p):
    first, second, end = p["arms"]
    return jnp.stack([q[0] - q[4] * first / end, q[1] - q[4] * second / end, q[2], q[3]])


def static_solution(system: GeneralizedSystem, formulation: Formulation | None = None) -> Accel:
    """Displacements `a` and multipliers `lam` of K a + J' lam = F, J a = -Phi(0), for a quadratic potential.

    These are the equations of motion with the stiffness K for the mass, so that every formulation solves them:
    `StaticPenalty(C)` is the penalty method of finite elements.
    """
    zero = jnp.zeros(len(system.coordinates))
    terms = system.terms(jnp.zeros(()), zero, zero)
    K = jax.hessian(lambda q: system.potential(q, system.parameters))(zero)  # pyright: ignore[reportOptionalCall]
    return (formulation or Deflated()).solve(K, terms.J, terms.Q, -terms.Phi)
