"""Events as a user writes them: a function of the mechanism that passes zero, and what happens then."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from .errors import ModelError
from .functions import as_function
from .integrators.actions import Action, Impact
from .integrators.events import Events
from .spatial import wrap
from .state import State
from .trajectory import Instant

Scalar = Float[Array, ""]


class Event(eqx.Module):
    """Something that happens when `function(instant)` passes zero: a joint limit, a contact, a time, anything.

    `instant` is the mechanism at that time, with `.t`, `.joint("A").angle`, `.point("rod", "end")`, `.velocity("rod", "end")`;
    there are ready functions: `AtTime`, `UpperLimit`, `LowerLimit`, `Gap`. `then` is what happens: `Stop()`, `Impact(0.5)`,
    `Lock("latch")`, `Release("latch")`, `Change(...)`, several of them in order, or nothing (the time is noted).
    `direction` is "falling", "rising" or "both" (default; an impact is falling, for a gap closes).
    """

    function: Callable
    then: tuple[Action, ...]
    direction: str = eqx.field(static=True)

    def __init__(self, function: Callable, then: Action | Sequence[Action] = (), *, direction: str | None = None):
        self.function = as_function(function)
        self.then = (then,) if isinstance(then, Action) else tuple(then)
        impact = any(isinstance(action, Impact) for action in self.then)
        self.direction = ("falling" if impact else "both") if direction is None else direction
        for action in self.then:
            if not isinstance(action, Action):
                raise ModelError(f"Event has {action!r} in then=; give actions, such as Stop() or Impact(0.5).")
        if self.direction not in ("falling", "rising", "both"):
            raise ModelError(f"Event has direction='{direction}'. Use 'falling', 'rising' or 'both'.")
        if impact and self.direction != "falling":
            raise ModelError(
                f"Event has an Impact and direction='{direction}', but a gap closes when it falls. Leave direction out, and "
                "give a function that is positive while the gap is open."
            )


class OfInstant(eqx.Module):
    """A function of an instant as one of (t, q, v)."""

    function: Callable
    system: Any

    def __call__(self, t, q, v) -> Any:
        return self.function(Instant(State(t, q, v), self.system))


class Change(Action):
    """Positions and speeds become those that `function(instant)` returns, as (q, v); what violates the joints is corrected."""

    function: Callable = eqx.field(converter=as_function)

    def apply(self, equations, function, moment):
        system = getattr(function, "system", None)
        q, v = self.function(Instant(State(moment.t, moment.q, moment.v), system))
        return eqx.tree_at(lambda x: (x.q, x.v), moment, (jnp.asarray(q, float), jnp.asarray(v, float)))


class AtTime(eqx.Module):
    """Zero at the time `time` (s)."""

    time: Scalar = eqx.field(converter=lambda x: jnp.asarray(x, float))

    def __call__(self, instant: Instant) -> Scalar:
        return instant.t - self.time


class Limit(eqx.Module):
    """Base of the limits of a joint coordinate ("angle" in rad, "position" in m, ...); by default the joint's first."""

    joint: str = eqx.field(static=True)
    limit: Scalar = eqx.field(converter=lambda x: jnp.asarray(x, float))
    coordinate: str | None = eqx.field(static=True, default=None)

    def beyond(self, instant: Instant) -> Scalar:
        """How far the coordinate is beyond the limit; an angle by the shorter way."""
        motion = instant.joint(self.joint)
        name = motion.names[0] if self.coordinate is None else self.coordinate
        difference = getattr(motion, name) - self.limit
        return wrap(difference) if name.startswith("angle") else difference


class UpperLimit(Limit):
    """Room that a joint coordinate has below `limit`: positive within, zero at it."""

    def __call__(self, instant: Instant) -> Scalar:
        return -self.beyond(instant)


class LowerLimit(Limit):
    """Room that a joint coordinate has above `limit`: positive within, zero at it."""

    def __call__(self, instant: Instant) -> Scalar:
        return self.beyond(instant)


class Gap(eqx.Module):
    """Distance (m) of a point of a body from a plane, positive on the side of its `normal`."""

    body: str = eqx.field(static=True)
    point: Any
    plane: Float[Array, "3"] = eqx.field(converter=lambda x: jnp.asarray(x, float))
    normal: Float[Array, "3"] = eqx.field(converter=lambda x: jnp.asarray(x, float))

    def __call__(self, instant: Instant) -> Scalar:
        away = instant.point(self.body, self.point) - self.plane
        return jnp.dot(away, self.normal) / jnp.sqrt(jnp.sum(self.normal**2))


def bind(system, state: State, events: Mapping[str, Event], capacity: int) -> Events:
    """The events of a system as an integrator needs them; names and shapes are checked here."""
    if not isinstance(events, Mapping) or not all(isinstance(event, Event) for event in events.values()):
        raise ModelError("simulate needs its events by name, as events={'stop': Event(...)}.")
    functions = tuple(OfInstant(event.function, system) for event in events.values())
    equations = system.equations()
    example = (state.t, state.q, state.v)
    for (name, event), function in zip(events.items(), functions, strict=True):
        shape = jax.eval_shape(lambda *x, f=function: jnp.asarray(f(*x), float), *example).shape
        if shape not in ((), (1,)):
            raise ModelError(f"Event '{name}' has a function that returns shape {shape}; it must return one number.")
        for action in event.then:
            action.check(equations)
    sign = {"falling": -1, "rising": 1, "both": 0}
    return Events(
        functions=functions,
        actions=tuple(event.then for event in events.values()),
        directions=tuple(sign[event.direction] for event in events.values()),
        capacity=capacity,
    )
