"""A diffrax solver that corrects each step of another one, carries the null space, meets events, and stops at trouble."""

from collections.abc import Callable
from typing import Any

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from ..stabilization import Stabilization
from ..status import Status, as_number, from_number
from .events import Events, EventState
from .field import Carried, Field
from .stiffness import Stiffness, calm, tells_stiffness
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
    jumped: Bool[Array, ""]
    """Whether an event changed the state after the last step."""
    events: EventState | None
    stiffness: Stiffness


class Stabilized(diffrax.AbstractAdaptiveSolver):
    """Steps the inner solver, corrects, refreshes the null space, and watches for events and singular configurations.

    The error estimate is the inner solver's, taken before the correction. Its last two entries carry what the controller has to
    know (see `Noticing`).
    """

    inner: diffrax.AbstractSolver
    field: Field
    adaptive: bool = eqx.field(static=True)
    stops: bool = eqx.field(static=True, default=True)
    """Whether a singular configuration ends the run."""
    gives_up: bool = eqx.field(static=True, default=False)
    """Whether stiffness ends the run."""
    events: Events | None = None

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
        t0 = jnp.asarray(t0, float)
        return StabilizedState(
            inner=self.inner.init(terms, t0, t1, y0, args),
            carried=args,
            status=Status.successful,
            good_until=t0,
            regularity=jnp.min(jnp.abs(self.field.equations.regularity(y0[0]))),
            iterations=jnp.zeros((), int),
            watch=watch(args.null),
            jumped=jnp.zeros((), bool),
            events=None if self.events is None else self.events.start(self.field, t0, y0[0], y0[1], args),
            stiffness=calm(),
        )

    @eqx.filter_jit
    def step(self, terms, t0, t1, y0, args, solver_state, made_jump):
        carried = solver_state.carried
        equations = self.field.at(carried)
        y1, error, dense, inner, result = self.inner.step(
            terms, t0, t1, y0, carried, solver_state.inner, made_jump | solver_state.jumped
        )
        stiffness = solver_state.stiffness
        if tells_stiffness(self.inner):
            stiffness = stiffness.after(self.inner, y0, y1, dense["k"])
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
            at_end = corrected.terms
            violation = jnp.max(jnp.abs(at_end.Phi), initial=0.0)
            lost = ~(violation < RESTORED) & self.stabilization.restores & ~failed
            failure = jnp.where(lost, y0[-1] + (t1 - t0) * as_number(Status.constraint_violation), failure)
            failed = failed | lost
            y1 = (q, v, work, failure)
            dense = {**dense, "y1": y1}
        null = carried.null.at(at_end.jacobian, passing=not self.stops)
        status, too_far, watching = solver_state.watch.step(carried.null, null, at_end.jacobian, t1 - t0, self.adaptive)
        if not self.stops:
            status, too_far = Status.successful, jnp.zeros((), bool)
        same_side = equations.regularity(y0[0]) * equations.regularity(q) > 0
        status = Status.where(jnp.all(same_side), status, Status.coordinate_singularity)
        if self.gives_up:
            status = Status.where(stiffness.found, Status.stiff, status)
        if not self.adaptive:  # such a step cannot be taken again
            status = Status.where(failed, from_number((failure - y0[-1]) / (t1 - t0)), status)
        state = StabilizedState(
            inner=inner,
            carried=Carried(null, memory, carried.mode),
            status=status,
            good_until=t1,
            regularity=jnp.min(jnp.abs(equations.regularity(q))),
            iterations=solver_state.iterations + iterations,
            watch=watching,
            jumped=jnp.zeros((), bool),
            events=solver_state.events,
            stiffness=stiffness,
        )
        landing = jnp.zeros(())
        if self.events is not None:
            y1, state, landing = self._meet_events(state, dense, t0, t1, y1)
        ok = (state.status == Status.successful) | (state.status == Status.event)
        state = eqx.tree_at(
            lambda x: (x.good_until, x.regularity),
            state,
            tuple(
                jnp.where(ok, new, old)
                for new, old in (
                    (state.good_until, solver_state.good_until),
                    (state.regularity, solver_state.regularity),
                )
            ),
        )
        goes_on = state.status == Status.successful
        result = diffrax.RESULTS.where(goes_on, result, diffrax.RESULTS.nonlinear_divergence)  # pyright: ignore[reportArgumentType]
        return y1, self._error(error, y0, failed, too_far, landing), dense, state, result

    def _error(self, error, y0, failed, too_far, landing):
        """The inner error estimate, too large where the step must be taken again, and what the controller has to know."""
        evaluations = jnp.asarray(evaluations_per_step(self.inner), float)
        if error is None:
            error = jax.tree.map(jnp.zeros_like, y0)
        elif counts(self.inner):
            evaluations = error[2]
        motion = (jnp.where(failed, jnp.inf, jnp.where(too_far, REJECTED, e)) for e in error[:2])
        return (*motion, evaluations, landing)

    def _meet_events(self, state: StabilizedState, dense, t0, t1, y1):
        """The end of the step and the state after the events that happen there; or the part of the step after which to end it
        instead."""
        events: Any = self.events
        interpolation = self.interpolation_cls(t0=t0, t1=t1, **dense)
        sighting = events.look(state.events, interpolation.evaluate, t0, t1, y1)
        q, v, work, failure = y1

        def happen(state, q, v):
            q, v, carried, after = events.happen(state.events, self.field, t1, q, v, state.carried)
            changed = (carried, after, watch(carried.null), jnp.ones((), bool))
            return q, v, eqx.tree_at(lambda x: (x.carried, x.events, x.watch, x.jumped), state, changed)

        def nothing(state, q, v):
            return q, v, eqx.tree_at(lambda x: x.events, state, events.passed(state.events, t1, q, v, sighting.lost))

        q, v, state = jax.lax.cond(sighting.hit, happen, nothing, state, q, v)
        status = Status.where(state.status == Status.successful, events.status(state.events), state.status)
        return (q, v, work, failure), eqx.tree_at(lambda x: x.status, state, status), sighting.landing


def counts(solver: diffrax.AbstractSolver) -> bool:
    """Whether a solver counts its evaluations itself (those of this package do, in the third entry of the error)."""
    return hasattr(solver, "keeps_constraints")


def evaluations_per_step(solver: Any) -> float:
    """Evaluations of the right-hand side in each step; -1 for a solver that does not say."""
    explicit = isinstance(solver, diffrax.AbstractRungeKutta) and not isinstance(solver, diffrax.AbstractImplicitSolver)
    if not explicit:
        return -1.0
    tableau: Any = solver.tableau
    return float(tableau.num_stages)
