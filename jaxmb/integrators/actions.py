"""What an event does to a run."""

import abc
from collections.abc import Callable
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from ..errors import ModelError, is_concrete, unknown_name
from ..formulations.deflated import Deflated, null_space
from ..terms import Equations
from .mode import Mode, Moded

Scalar = Float[Array, ""]


class Moment(eqx.Module):
    """A run at the time of an event."""

    t: Scalar
    q: Float[Array, " nq"]
    v: Float[Array, " nv"]
    mode: Mode
    stopped: Bool[Array, ""]


class Action(eqx.Module):
    """Base of all actions; a subclass writes `apply`."""

    changes_mode: ClassVar[bool] = False
    """Whether it locks or releases joints."""
    settles: ClassVar[bool] = True
    """Whether joints may be violated after it, or others hold."""

    def check(self, equations: Equations) -> None:
        """Raise unless the action makes sense for these equations."""

    @abc.abstractmethod
    def apply(self, equations: Equations, function: Callable, moment: Moment) -> Moment:
        """The run after the event; `function(t, q, v)` is the event's, zero here."""


class Stop(Action):
    """The run ends here, with the status `event`."""

    settles: ClassVar[bool] = False

    def apply(self, equations, function, moment):
        return eqx.tree_at(lambda x: x.stopped, moment, jnp.ones((), bool))


class Impact(Action):
    """A frictionless impact with coefficient of `restitution` (0 plastic, 1 elastic), by the constrained impulse law:
    M (v+ - v-) + J' Lam + j' p = 0 with J v+ = -Phi_t and gap rate+ = -restitution gap rate-.

    The event's function is the gap (m, or rad at a stop): positive when open, and of positions and time only. Joints take their
    part of the impulse, redundant ones too. A gap that is opening already is left alone.
    """

    settles: ClassVar[bool] = False

    restitution: Scalar = eqx.field(converter=lambda x: jnp.asarray(x, float), default=0.0)

    def __check_init__(self):
        if is_concrete(self.restitution) and not 0 <= float(self.restitution) <= 1:
            raise ModelError(f"Impact has restitution={float(self.restitution):g}; give a number from 0 to 1.")

    def apply(self, equations, function, moment):
        t, q, v = moment.t, moment.q, moment.v

        def rate(v):
            still = jnp.zeros_like(v)
            return jax.jvp(lambda t, q: function(t, q, still), (t, q), (jnp.ones(()), equations.qdot(q, v)))[1]

        gap_rate, j = jax.value_and_grad(rate)(v)
        terms = Moded(equations, moment.mode).terms(t, q, v)
        J = jnp.concatenate([terms.J, j[None]])
        wanted = jnp.concatenate([-terms.Phi_dot, -(1.0 + self.restitution) * gap_rate[None]])
        dv = Deflated().particular(terms.mass, J, jnp.zeros_like(v), wanted, null_space(J)).a
        return eqx.tree_at(lambda x: x.v, moment, v + jnp.where(gap_rate < 0, 1.0, 0.0) * dv)


class Switch(Action):
    """Base of `Lock` and `Release`."""

    joints: tuple[str, ...] = eqx.field(static=True)

    changes_mode: ClassVar[bool] = True

    def __init__(self, *joints: str):
        self.joints = joints
        if not joints:
            raise ModelError(
                f"{type(self).__name__} names no joint. Give at least one, as {type(self).__name__}('latch')."
            )

    def check(self, equations):
        for name in self.joints:
            rows_of_joint(equations, name, type(self).__name__)

    def rows(self, equations: Equations) -> Float[Array, " m"]:
        """1 for the rows of the joints."""
        return sum((rows_of_joint(equations, name, type(self).__name__) for name in self.joints), jnp.zeros(()))


class Lock(Switch):
    """The joints hold from here on, where they are now. Speeds change by the impulse that stops them (plastic).

    Each row holds the value it has now. That of an angle jumps at half a turn: let a `Driver` that is to hold it have a value
    less than half a turn away.
    """

    def apply(self, equations, function, moment):
        rows = self.rows(equations)
        now = equations.terms(moment.t, moment.q, moment.v).Phi
        newly = rows * (1.0 - moment.mode.active)
        held = jnp.where(newly > 0, now, moment.mode.held)
        return eqx.tree_at(lambda x: x.mode, moment, Mode(jnp.maximum(moment.mode.active, rows), held))


class Release(Switch):
    """The joints let go. Speeds do not change."""

    def apply(self, equations, function, moment):
        active = moment.mode.active * (1.0 - self.rows(equations))
        return eqx.tree_at(lambda x: x.mode.active, moment, active)


def rows_of_joint(equations: Equations, name: str, what: str) -> Float[Array, " m"]:
    """1 for the rows of a joint, 0 for the others."""
    owners = [row.rpartition(".")[0] for row in equations.row_names]
    if name not in owners:
        raise unknown_name(f"{what} names joint", "Joints", name, dict.fromkeys(owners))
    return jnp.array([1.0 if owner == name else 0.0 for owner in owners])
