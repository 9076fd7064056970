"""A diffrax solver that corrects each step of another one, carries the null space, and stops at trouble."""

from collections.abc import Callable
from typing import Any

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from ..formulations.base import Formulation, RateFormulation
from ..formulations.choice import Choice, rates, with_nonideal
from ..formulations.deflated import NullSpace, null_space
from ..stabilization import Stabilization
from ..status import Status, as_number, from_number
from ..terms import Equations

Scalar = Float[Array, ""]

#: After a correction that leaves more than this (m, rad) the step is taken again, smaller.
RESTORED = 1e-4
#: A singular value that changes sign while J changes by less than this did pass zero; with larger changes the step is taken
#: again, smaller. Fixed steps cannot be taken again.
SURE, SURE_FIXED = 0.02, 0.3
#: A smallest singular value that changes by less than this part of itself in a step did not pass zero.
TURNS = 0.2
#: A step may not be so long that the smallest singular value, going on as in the last steps, falls below this part of itself:
#: where two motions meet, it can fall to zero and rise again without a change of sign.
DIVE = 0.25
#: A smallest singular value that has fallen to this part of that at the start is zero.
GONE = 1e-3
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
    trend: "Trend"
    """Of the smallest singular value."""
    smallest: Scalar
    """Smallest singular value at the start of the run."""


class Trend(eqx.Module):
    """How a number went in the last steps, and where it goes."""

    slope: Scalar
    bend: Scalar
    dt: Scalar

    def ahead(self, dt) -> Scalar:
        """The change to expect in a step dt, or the part of it without the bend if that is lower."""
        straight = self.slope * dt
        return jnp.minimum(straight, straight + 0.5 * self.bend * dt * (dt + self.dt))

    def after(self, rise: Scalar, dt) -> "Trend":
        slope = rise / dt
        bend = jnp.where(self.dt > 0, (slope - self.slope) / (0.5 * (dt + self.dt)), 0.0)
        return Trend(slope, bend, dt)


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
        zero, still = jnp.zeros((), int), Trend(jnp.zeros(()), jnp.zeros(()), jnp.zeros(()))
        inner = self.inner.init(terms, t0, t1, y0, args)
        regularity = jnp.min(jnp.abs(self.field.equations.regularity(y0[0])))
        return StabilizedState(
            inner, args, Status.successful, jnp.asarray(t0, float), regularity, zero, still, args.null.smallest
        )

    def step(self, terms, t0, t1, y0, args, solver_state, made_jump):
        carried = solver_state.carried
        equations = self.field.equations
        y1, error, dense, inner, result = self.inner.step(terms, t0, t1, y0, carried, solver_state.inner, made_jump)
        q, v, work, failure = y1
        failed = failure > y0[-1]
        q, v = (jnp.where(failed, jnp.nan, x) for x in (q, v))
        t1 = jnp.asarray(t1, float)
        at_end = equations.terms(t1, q, v)
        iterations, memory = jnp.zeros((), int), carried.memory
        if self.stabilization.corrects:
            # The null space of the step's start fills as well, and its end is known only after the correction.
            corrected = self.stabilization.correct(equations, t1, q, v, at_end, carried.null, carried.memory)
            q, v, memory, iterations = corrected.q, corrected.v, corrected.memory, corrected.iterations
            at_end = equations.terms(t1, q, v)
            violation = jnp.max(jnp.abs(at_end.Phi), initial=0.0)
            lost = ~(violation < RESTORED) & self.stabilization.restores & ~failed
            failure = jnp.where(lost, y0[-1] + (t1 - t0) * as_number(Status.constraint_violation), failure)
            failed = failed | lost
            y1 = (q, v, work, failure)
            dense = {**dense, "y1": y1}
        null = null_space(at_end.J, carried.null.D)
        status, too_far, trend = self._watch(y0[0], q, at_end.J, solver_state, null, t1 - t0)
        if error is not None:
            error = jax.tree.map(lambda e: jnp.where(failed, jnp.inf, jnp.where(too_far, REJECTED, e)), error)
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
            trend,
            solver_state.smallest,
        )
        return y1, error, dense, state, result

    def _watch(self, q0, q1, J, state: StabilizedState, after: NullSpace, dt):
        """What is wrong at the end of a step, whether it went too far to tell, and the trend of the smallest singular value."""
        q0, q1, J = jax.lax.stop_gradient((q0, q1, J))
        before = state.carried.null
        regular = self.field.equations.regularity(q0) * self.field.equations.regularity(q1) > 0
        status = Status.where(jnp.all(regular), Status.successful, Status.coordinate_singularity)
        status = Status.where(after.deficiency == before.deficiency, status, Status.rank_change)
        s0, s1 = before.smallest, after.smallest
        rise = jnp.where(jnp.isfinite(s0) & jnp.isfinite(s1), s1 - s0, 0.0)
        expected = state.trend.ahead(dt)
        crossed, change = before.crossing(J)
        if self.adaptive:
            # A body that merely turns far in a step changes no singular value.
            crossed = crossed & ((jnp.abs(rise) > TURNS * s0) | (jnp.abs(expected) > TURNS * s0))
        near = change < (SURE if self.adaptive else SURE_FIXED)
        fallen = (s1 < GONE * state.smallest) & (rise < 0)
        status = Status.where((crossed & near) | fallen, Status.singular_configuration, status)
        too_far = (crossed & ~near) | (s0 + jnp.minimum(rise, expected) < DIVE * s0)
        return status, too_far & self.adaptive, state.trend.after(rise, dt)
