"""Events: found in a step, landed on, and what they do there.

A step in which an event's function changes its sign is taken again, shorter, until its end is just behind the event; there the
event's actions change the state. The time of the event depends on the state, which the derivative has to know: with
delta = -g / gdot the state is moved to the event, changed, and moved back, all differentiable (the saltation matrix).
"""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from ..formulations.deflated import Deflated, null_space
from ..status import Status
from .actions import Action, Impact, Moment
from .field import Carried, Field
from .mode import Moded, all_active

Scalar = Float[Array, ""]

#: Places within a step where the functions are looked at, so that one that changes sign and back is seen.
NODES = 8
#: Halvings of the interval between two such places.
HALVINGS = 50
#: An event has been landed on when it is this part of the step, or this many roundings of the time, before the end.
LOCATED, ROUNDINGS = 1e-8, 16.0
#: A function that is not this small where its sign changes, beside its values around and its largest ones, has jumped: an angle
#: at half a turn. (In a very short step its values around are rounding as well.)
JUMP, NOTHING = 1e-3, 1e-9


#: A function that rests at zero, as that of a locked joint, is moved by rounding up to this part of its largest value.
RESTING = 1e-13
#: A function that actions leave at this part of what it was just behind the event is still zero.
AT_ZERO = 0.5


class EventState(eqx.Module):
    """Where the functions are and what has happened."""

    side: Float[Array, " events"]
    """Sign of each function; 0 for one that rests at zero."""
    size: Float[Array, " events"]
    """The largest value that each has had."""
    count: Int[Array, ""]
    """How many events have happened."""
    times: Float[Array, " capacity"]
    """When (s)."""
    index: Int[Array, " capacity"]
    """Which."""
    active: Float[Array, "capacity m"]
    """Rows that hold after each."""
    held: Float[Array, "capacity m"]
    """What they are held at."""
    stopped: Bool[Array, ""]
    lost: Bool[Array, ""]
    """Whether a function has changed its side at a time that could not be found."""

    def side_of(self, values: Float[Array, " events"]) -> Float[Array, " events"]:
        """Signs of the values; as before where a value is zero, or rests there."""
        rests = (self.side == 0) & (jnp.abs(values) <= RESTING * self.size)
        return jnp.where((values == 0) | rests, self.side, jnp.sign(values))

    def touching(self, values: Float[Array, "*times events"]) -> Bool[Array, "*times events"]:
        """Which values are zero but for rounding."""
        limit = ROUNDINGS * jnp.finfo(float).eps * self.size
        return jnp.abs(values) <= jnp.broadcast_to(limit, values.shape)


class Sighting(eqx.Module):
    """What was seen of the events in a step."""

    landing: Scalar
    """Part of the step after which to end it instead; 0 where it may stand."""
    hit: Bool[Array, ""]
    """Whether the end of the step is an event."""
    lost: Bool[Array, ""]
    """Whether there is an event in the step that cannot be told from rounding, as the last of bounces without end."""


class Events(eqx.Module):
    """Functions g(t, q, v) and what happens when they change their sign."""

    functions: tuple[Callable, ...]
    actions: tuple[tuple[Action, ...], ...]
    directions: tuple[int, ...] = eqx.field(static=True)
    """+1: only when it rises, -1: only when it falls, 0: both."""
    capacity: int = eqx.field(static=True)
    """How many events a run may have."""

    @property
    def changes_mode(self) -> bool:
        return any(action.changes_mode for actions in self.actions for action in actions)

    def values(self, t, q, v) -> Float[Array, " events"]:
        return jnp.stack([jnp.asarray(function(t, q, v), float).reshape(()) for function in self.functions])

    def rates(self, field: Field, t, q, v, carried: Carried):
        """Values of the functions, their rates along the motion, and the rates of the motion."""
        zero = jnp.zeros(())
        _, a, _, _ = field(t, (q, v, zero, zero), carried)
        values, rates = jax.jvp(self.values, (t, q, v), (jnp.ones(()), field.equations.qdot(q, v), a))
        return values, rates, a

    def start(self, field: Field, t, q, v, carried: Carried) -> EventState:
        values, rates, _ = self.rates(field, t, q, v, carried)
        # A function that begins at zero is on the side it goes to.
        side = jnp.sign(jnp.where(values == 0, rates, values))
        rows = len(field.equations.row_names) if carried.mode is not None else 0
        return EventState(
            side=jax.lax.stop_gradient(side),
            size=jax.lax.stop_gradient(jnp.abs(values)),
            count=jnp.zeros((), int),
            times=jnp.full(self.capacity, jnp.inf),
            index=jnp.full(self.capacity, -1),
            active=jnp.ones((self.capacity, rows)),
            held=jnp.zeros((self.capacity, rows)),
            stopped=jnp.zeros((), bool),
            lost=jnp.zeros((), bool),
        )

    def due(self, side: Float[Array, " events"], values: Float[Array, " events"]) -> Bool[Array, " events"]:
        """Which functions have left their side in the direction that counts."""
        return (side * values < 0) & self.counts(side)

    @property
    def bounces(self) -> np.ndarray:
        """Which functions are gaps of impacts: they must not be passed, however short flights become. Others may rest at zero,
        where their signs are rounding."""
        return np.array([any(isinstance(action, Impact) for action in actions) for actions in self.actions])

    def counts(self, side: Float[Array, " events"]) -> Bool[Array, " events"]:
        """Which functions may leave their side in the direction that counts."""
        direction = np.array(self.directions, float)
        return (direction == 0) | (direction == -side)

    def look(self, state: EventState, interpolate: Callable, t0, t1, y1) -> Sighting:
        """Look through a step from t0 to t1 that ends with y1; `interpolate(t)` gives states between. No derivatives."""
        functions, interpolate, t0, t1, y1 = _constant((self, interpolate, t0, t1, y1))

        def at(part):
            inner = interpolate(t0 + part * (t1 - t0))
            y = jax.tree.map(lambda inside, end: jnp.where(part < 1, inside, end), inner, y1)
            return functions.values(t0 + part * (t1 - t0), y[0], y[1])

        parts = jnp.arange(NODES + 1) / NODES
        values = jax.vmap(at)(parts)
        happened = jax.vmap(lambda g: jnp.any(self.due(state.side, g)))(values[1:])
        first = jnp.argmax(happened)

        def halve(_, bracket):
            low, high = bracket
            middle = 0.5 * (low + high)
            beyond = jnp.any(self.due(state.side, at(middle)))
            return jnp.where(beyond, low, middle), jnp.where(beyond, middle, high)

        def locate(_):
            _, high = jax.lax.fori_loop(0, HALVINGS, halve, (parts[first], parts[first + 1]))
            g = at(high)
            around = jnp.maximum(jnp.abs(values[first]), jnp.abs(values[first + 1]))
            small = jnp.abs(g) < jnp.maximum(JUMP * around, NOTHING * state.size)
            crossed = jnp.any(self.due(state.side, g) & small)
            flat = jnp.all(state.touching(jax.vmap(at)(high * parts)), axis=0)  # a flight below rounding
            gone = self.bounces & self.due(state.side, values[first + 1])
            return high, crossed, jnp.any(gone & (flat | (small & ~crossed)))

        no = jnp.zeros((), bool)
        high, crossed, lost = jax.lax.cond(jnp.any(happened), locate, lambda _: (jnp.ones(()), no, no), None)
        dt = t1 - t0
        fine = LOCATED * dt + ROUNDINGS * jnp.finfo(float).eps * jnp.abs(t1)
        # A function that comes down to zero exactly would not go on from there: what it moves by is less than a rounding.
        flies = jnp.any(~state.touching(values) & (state.side[None] * values > 0), axis=0)
        arrives = self.bounces & flies & state.touching(values[-1]) & self.counts(state.side)
        hit = (crossed & ((1.0 - high) * dt <= fine)) | (~jnp.any(happened) & jnp.any(arrives))
        return Sighting(jnp.where(crossed & ~hit & ~lost, high + 0.5 * fine / dt, 0.0), hit, lost)

    def happen(self, state: EventState, field: Field, t, q, v, carried: Carried):
        """The state, what is carried and the event state after the events at time t, which is just behind them."""
        values, rates, a = self.rates(field, t, q, v, carried)
        # The end of the step may be on either side of an event by rounding.
        touching = state.touching(values) & self.bounces
        due = jax.lax.stop_gradient(self.due(state.side, values) | (touching & self.due(state.side, rates)))
        delta = _shift(due, values, rates)
        equations, mode = field.equations, carried.mode
        mode = all_active(len(equations.row_names)) if mode is None else mode
        moment = Moment(t + delta, equations.retract(q, delta * v), v + delta * a, mode, state.stopped)
        log = state
        for k, (function, actions) in enumerate(zip(self.functions, self.actions, strict=True)):
            after = moment
            for action in actions:
                after = action.apply(equations, function, after)
            moment = jax.tree.map(lambda new, old, k=k: jnp.where(due[k], new, old), after, moment)
            log = _write(log, k, due[k], moment, carried.mode is not None)
        if any(action.settles for actions in self.actions for action in actions):
            moment, carried = _settle(field, moment, carried)
        after, after_rates, a = self.rates(field, moment.t, moment.q, moment.v, carried)
        # At a stop the state just behind the event is kept: what follows moves it there.
        moved = equations.retract(moment.q, -delta * moment.v), moment.v - delta * a
        q, v = (jnp.where(moment.stopped, old, new) for old, new in zip((q, v), moved, strict=True))
        # A function that is still zero is on the side it goes to. Where it does not move, it is on none until it leaves; but
        # where it should have bounced it must not go through.
        resting = jnp.where(self.bounces, state.side, 0.0)
        at_zero = due & (jnp.abs(after) <= jnp.maximum(AT_ZERO * jnp.abs(values), NOTHING * state.size))
        moves = jnp.abs(after_rates) > NOTHING * jnp.abs(rates)
        side = jnp.where(
            at_zero,
            jnp.where(moves, jnp.sign(after_rates), resting),
            state.side_of(after),
        )
        # An event that was seen, and moves away where it should be: its motion is rounding.
        lost = state.lost | (~jnp.any(due) & jnp.any(touching))
        log = eqx.tree_at(
            lambda x: (x.side, x.stopped, x.lost), log, (jax.lax.stop_gradient(side), moment.stopped, lost)
        )
        return q, v, carried, log

    def passed(self, state: EventState, t, q, v, lost: Bool[Array, ""]) -> EventState:
        """The event state after a step without an event: functions may have changed sign in a direction that does not
        count."""
        values = jax.lax.stop_gradient(self.values(t, q, v))
        side, size = state.side_of(values), jnp.maximum(state.size, jnp.abs(values))
        return eqx.tree_at(lambda x: (x.side, x.size, x.lost), state, (side, size, state.lost | lost))

    def status(self, state: EventState) -> Status:
        """Why the events end the run, if they do."""
        full = Status.where((state.count > self.capacity) | state.lost, Status.max_events, Status.successful)
        return Status.where(state.stopped, Status.event, full)

    def stopping_shift(self, state: EventState, field: Field, t, q, v, carried: Carried) -> Scalar:
        """Time from t back to the event that ended the run."""
        values, rates, _ = self.rates(field, t, q, v, carried)
        last = state.index[jnp.clip(state.count - 1, 0, self.capacity - 1)]
        return _shift(jax.lax.stop_gradient(jnp.arange(values.size) == last), values, rates)


def _shift(due: Bool[Array, " events"], values: Float[Array, " events"], rates: Float[Array, " events"]) -> Scalar:
    """delta = -g / gdot of the first event that is due; 0 where none is or nothing moves."""
    first = due & (jnp.cumsum(due) == 1) & (rates != 0)
    return -jnp.sum(jnp.where(first, values, 0.0) / jnp.where(first, rates, 1.0))


def _constant(tree):
    """The same without derivatives."""
    return jax.tree.map(lambda x: jax.lax.stop_gradient(x) if eqx.is_inexact_array(x) else x, tree)


def _write(log: EventState, k: int, due, moment: Moment, modes: bool) -> EventState:
    """One more event in the log (dropped when it is full)."""
    place = jnp.where(due, log.count, log.times.size)
    entries = [(log.times, moment.t), (log.index, k)]
    if modes:
        entries += [(log.active, moment.mode.active), (log.held, moment.mode.held)]
    written = [column.at[place].set(jax.lax.stop_gradient(value), mode="drop") for column, value in entries]
    log = eqx.tree_at(lambda x: (x.times, x.index, x.active, x.held)[: len(written)], log, tuple(written))
    return eqx.tree_at(lambda x: x.count, log, log.count + jnp.where(due, 1, 0))


def _settle(field: Field, moment: Moment, carried: Carried) -> tuple[Moment, Carried]:
    """After the actions the joints that hold now stop what moves against them, by the impulse law; what is carried is found
    anew."""
    equations = Moded(field.equations, moment.mode)
    terms = equations.terms(moment.t, moment.q, moment.v)
    null = null_space(terms.J)
    zero = jnp.zeros_like(moment.v)
    q = equations.retract(moment.q, Deflated().particular(terms.mass, terms.J, zero, -terms.Phi, null).a)
    terms = equations.terms(moment.t, q, moment.v)
    v = moment.v + Deflated().particular(terms.mass, terms.J, zero, -terms.Phi_dot, null).a
    memory = field.stabilization.start(equations, moment.t, q, v)
    mode = None if carried.mode is None else moment.mode
    return eqx.tree_at(lambda x: (x.q, x.v), moment, (q, v)), Carried(null, memory, mode)
