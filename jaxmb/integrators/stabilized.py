"""A diffrax solver that corrects each step of another one, carries the null space, and stops at trouble."""

from collections.abc import Callable
from typing import Any

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from ..formulations.deflated import null_space
from ..stabilization import Stabilization
from ..status import Status, as_number, from_number
from .field import Carried, Field
from .watch import Watch, watch

Scalar = Float[Array, ""]

#: After a correction that leaves more than this (m, rad) the step is taken again, smaller.
RESTORED = 1e-4
#: The error estimate that makes the controller take a step again.
REJECTED = 1e6


class StabilizedState(eqx.Module):
    inner: Any
    carried: Carried
    status: Status
    good_until: Scalar
    regularity: Scalar
    """How far the coordinates are from a singular rotation (0 there)."""
    iterations: Int[Array, ""]
    watch: Watch


class Stabilized(diffrax.AbstractAdaptiveSolver):
    """Steps the inner solver, corrects, refreshes the null space, and watches for singular configurations.

    The error estimate is the inner solver's, taken before the correction.
    """

    inner: diffrax.AbstractSolver
    field: Field
    adaptive: bool = eqx.field(static=True)
    stops: bool = eqx.field(static=True, default=True)
    """Whether a singular configuration ends the run."""

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
        return StabilizedState(
            inner, args, Status.successful, jnp.asarray(t0, float), regularity, zero, watch(args.null)
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
        status, too_far, watching = solver_state.watch.step(carried.null, null, at_end.J, t1 - t0, self.adaptive)
        if not self.stops:
            status, too_far = Status.successful, jnp.zeros((), bool)
        same_side = equations.regularity(y0[0]) * equations.regularity(q) > 0
        status = Status.where(jnp.all(same_side), status, Status.coordinate_singularity)
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
            watching,
        )
        return y1, error, dense, state, result
