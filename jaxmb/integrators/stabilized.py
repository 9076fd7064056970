"""A diffrax solver that corrects each step of another one, carries the null space, and stops at trouble."""

from collections.abc import Callable
from typing import Any

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from ..formulations.base import Formulation, RateFormulation
from ..formulations.choice import Choice, rates, with_nonideal
from ..formulations.deflated import NullSpace, null_space
from ..stabilization import Stabilization
from ..status import Status, as_number, from_number
from ..terms import Equations

Scalar = Float[Array, ""]

#: A correction that leaves more than this (m, rad) has failed; a step of tolerance 1e-3 leaves about 1e-6.
RESTORED = 1e-4
#: A singular value that changes sign while J changes by less than this did pass zero; with larger changes the step is taken
#: again, smaller. Fixed steps cannot be taken again.
SURE, SURE_FIXED = 0.02, 0.3
#: The error estimate that makes the controller take a step again.
REJECTED = 1e6


class Carried(eqx.Module):
    """What a run carries from accepted step to accepted step besides its state."""

    null: NullSpace
    memory: Any


class Field(eqx.Module):
    """The right-hand side: y = (q, v, work, failure), args = Carried. The rate of `failure` is the formulation's status as a
    number, by which the step size controller knows why a step cannot be taken."""

    equations: Equations
    formulation: Formulation | RateFormulation | Choice
    stabilization: Stabilization

    def __call__(self, t, y, args: Carried):
        q, v, _, _ = y
        q, v = self.stabilization.field(self.equations, t, q, v, args.null, args.memory)
        terms = with_nonideal(self.formulation, self.equations.terms(t, q, v), t, q, v)
        out = rates(self.formulation, terms, self.stabilization.bias(terms), args.null)
        power = terms.power
        if self.equations.rheonomic:  # moving constraints do work: -lam' J v = lam' Phi_t where Phi_dot = 0
            power = power - jnp.dot(out.lam, terms.J @ v)
        # With a = 0 for a failure, the stages after it fail alike and not for its NaN.
        failed = out.status != Status.successful
        a, dv, power = (jnp.where(failed, 0.0, x) for x in (out.a, out.dv, power))
        return self.equations.qdot(q, v + dv), a, power, jax.lax.stop_gradient(as_number(out.status))


class FieldTerm(diffrax.ODETerm):
    """An ODETerm whose slope at the end of a step is not kept for the next one: a correction in between changes it, and without
    that possibility the right-hand side is compiled once instead of twice."""

    def is_vf_expensive(self, t0, t1, y, args):
        return True


class StabilizedState(eqx.Module):
    inner: Any
    carried: Carried
    status: Status
    good_until: Scalar
    regularity: Scalar
    """How far the coordinates are from a singular rotation (0 there)."""
    iterations: Int[Array, ""]


class Stabilized(diffrax.AbstractAdaptiveSolver):
    """Steps the inner solver, corrects, refreshes the null space, and watches for singular configurations.

    The error estimate is the inner solver's, taken before the correction.
    """

    inner: diffrax.AbstractSolver
    field: Field
    adaptive: bool = eqx.field(static=True)

    @property
    def stabilization(self) -> Stabilization:
        return self.field.stabilization

    @property
    def term_structure(self):  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.inner.term_structure

    @property
    def interpolation_cls(self) -> Callable:  # pyright: ignore[reportIncompatibleMethodOverride]
        return self.inner.interpolation_cls

    def order(self, terms):
        return self.inner.order(terms)

    def strong_order(self, terms):
        return self.inner.strong_order(terms)

    def error_order(self, terms):
        return self.inner.error_order(terms)

    def func(self, terms, t0, y0, args):
        return self.inner.func(terms, t0, y0, args)

    def init(self, terms, t0, t1, y0, args: Carried):
        zero = jnp.zeros((), int)
        inner = self.inner.init(terms, t0, t1, y0, args)
        regularity = jnp.min(jnp.abs(self.field.equations.regularity(y0[0])))
        return StabilizedState(inner, args, Status.successful, jnp.asarray(t0, float), regularity, zero)

    def step(self, terms, t0, t1, y0, args, solver_state, made_jump):
        carried = solver_state.carried
        equations = self.field.equations
        y1, error, dense, inner, result = self.inner.step(terms, t0, t1, y0, carried, solver_state.inner, made_jump)
        q, v, work, failure = y1
        failed = failure > y0[-1]
        q, v = (jnp.where(failed, jnp.nan, x) for x in (q, v))
        t1 = jnp.asarray(t1, float)
        # One evaluation serves the correction, the null space and the watch: what the correction moves is negligible there.
        at_end = equations.terms(t1, q, v)
        null = null_space(at_end.mass, at_end.J, carried.null.D)
        status, too_far = self._watch(y0[0], q, at_end.J, carried.null, null)
        if error is not None:
            error = jax.tree.map(lambda e: jnp.where(failed, jnp.inf, jnp.where(too_far, REJECTED, e)), error)
        iterations, memory = jnp.zeros((), int), carried.memory
        if self.stabilization.corrects:
            corrected = self.stabilization.correct(equations, t1, q, v, at_end, null, carried.memory)
            q, v, memory, iterations = corrected.q, corrected.v, corrected.memory, corrected.iterations
            y1 = (q, v, work, failure)
            dense = {**dense, "y1": y1}
            violation = jnp.max(jnp.abs(equations.terms(t1, q, v).Phi), initial=0.0)
            fine = (violation < RESTORED) | ~self.stabilization.restores
            status = Status.where(fine, status, Status.constraint_violation)
        if not self.adaptive:  # such a step cannot be taken again
            status = Status.where(failed, from_number((failure - y0[-1]) / (t1 - t0)), status)
        ok = status == Status.successful
        result = diffrax.RESULTS.where(ok, result, diffrax.RESULTS.nonlinear_divergence)  # pyright: ignore[reportArgumentType]
        state = StabilizedState(
            inner,
            Carried(null, memory),
            status,
            jnp.where(ok, t1, solver_state.good_until),
            jnp.where(ok, jnp.min(jnp.abs(equations.regularity(q))), solver_state.regularity),
            solver_state.iterations + iterations,
        )
        return y1, error, dense, state, result

    def _watch(self, q0, q1, J, before: NullSpace, after: NullSpace) -> tuple[Status, Bool[Array, ""]]:
        """What is wrong at the end of a step, and whether it went too far to tell a singular configuration from a turn."""
        q0, q1, J = jax.lax.stop_gradient((q0, q1, J))
        regular = self.field.equations.regularity(q0) * self.field.equations.regularity(q1) > 0
        status = Status.where(jnp.all(regular), Status.successful, Status.coordinate_singularity)
        status = Status.where(after.deficiency == before.deficiency, status, Status.rank_change)
        crossed, change = before.crossing(J)
        near = change < (SURE if self.adaptive else SURE_FIXED)
        return Status.where(crossed & near, Status.singular_configuration, status), crossed & ~near & self.adaptive
