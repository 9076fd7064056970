"""The right-hand side as diffrax wants it."""

from typing import Any

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp

from ..formulations.base import Formulation, RateFormulation
from ..formulations.choice import Choice, rates, with_nonideal
from ..stabilization import Stabilization
from ..status import Status, as_number
from ..terms import Equations
from .mode import Mode, Moded


class Carried(eqx.Module):
    """What a run carries from accepted step to accepted step besides its state."""

    null: Any
    """`NullSpace`, or `Pivots` where a large mechanism is solved by blocks."""
    memory: Any
    mode: Mode | None = None
    """Which rows hold; None where no joint is ever locked or released."""


class Field(eqx.Module):
    """The right-hand side: y = (q, v, work, failure), args = Carried. The rate of `failure` is the formulation's status as a
    number, by which the step size controller knows why a step cannot be taken."""

    equations: Equations
    formulation: Formulation | RateFormulation | Choice
    stabilization: Stabilization

    def at(self, carried: Carried) -> Equations:
        """The equations with the rows that hold."""
        return self.equations if carried.mode is None else Moded(self.equations, carried.mode)

    @eqx.filter_jit
    def __call__(self, t, y, args: Carried):
        q, v, _, _ = y
        equations = self.at(args)
        q, v = self.stabilization.field(equations, t, q, v, args.null, args.memory)
        terms = with_nonideal(self.formulation, equations.terms(t, q, v), t, q, v)
        out = rates(self.formulation, terms, self.stabilization.bias(terms), args.null)
        power = terms.power
        if self.equations.rheonomic:  # moving constraints do work: -lam' J v = lam' Phi_t where Phi_dot = 0
            power = power - jnp.dot(out.lam, terms.jacobian @ v)
        # With a = 0 for a failure, the stages after it fail alike and not for its NaN.
        failed = out.status != Status.successful
        a, dv, power = (jnp.where(failed, 0.0, x) for x in (out.a, out.dv, power))
        return self.equations.qdot(q, v + dv), a, power, jax.lax.stop_gradient(as_number(out.status))


class FieldTerm(diffrax.ODETerm):
    """An ODETerm whose slope at the end of a step is not kept for the next one: a correction in between changes it, and without
    that possibility the right-hand side is compiled once instead of twice."""

    def is_vf_expensive(self, t0, t1, y, args):
        return True
