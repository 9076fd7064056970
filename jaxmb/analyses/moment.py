"""What is observed of a small motion."""

from collections.abc import Callable

import equinox as eqx
import jax
from jaxtyping import Array, Float

from ..errors import ModelError, did_you_mean
from ..functions import as_function
from ..outputs import joint_coordinates
from ..state import State
from ..system import System
from ..trajectory import Instant


class Moment(Instant):
    """An instant of a small motion, as output functions see it: a state, and the accelerations `a` that go with it."""

    a: Float[Array, " nv"]

    def velocity(self, body: str, point="com") -> Float[Array, "3"]:
        """World velocity (m/s) of a point of a body."""
        return self._velocity(body, point, self.state.q, self.state.v)

    def acceleration(self, body: str, point="com") -> Float[Array, "3"]:
        """World acceleration (m/s2) of a point of a body."""
        q, v = self.state.q, self.state.v
        rates = (self.system.equations().qdot(q, v), self.a)
        return jax.jvp(lambda q, v: self._velocity(body, point, q, v), (q, v), rates)[1]

    def _velocity(self, body, point, q, v):
        def position(q):
            return Instant(State(self.state.t, q, v), self.system).point(body, point)

        return jax.jvp(position, (q,), (self.system.equations().qdot(q, v),))[1]


class JointCoordinate(eqx.Module):
    """The output that is a coordinate of a joint (rad, m), or its rate."""

    joint: str = eqx.field(static=True)
    index: int = eqx.field(static=True)
    rate: bool = eqx.field(static=True)

    def __call__(self, moment: Moment) -> Float[Array, ""]:
        values, rates = joint_coordinates(moment.system, moment.state.q, moment.state.v)[self.joint]
        return (rates if self.rate else values)[self.index]


def as_output(system, name: str, output) -> Callable:
    """A function of a `Moment`, or a joint coordinate ("A", "A.angle", "A.angle_rate") as one; `name` is for the error."""
    if callable(output):
        return as_function(output)
    if not isinstance(output, str) or not isinstance(system, System):
        raise ModelError(
            f"linearize was given output '{name}' as {output!r}. Give a function of a moment, or for a System of bodies the name "
            "of a joint coordinate, such as 'A.angle'."
        )
    joint, _, coordinate = (output, "", "") if output in system.joints else output.rpartition(".")
    names = system.joint(joint).coordinates
    options = [*names, *(f"{n}_rate" for n in names)]
    if not coordinate and len(names) == 1:
        coordinate = names[0]
    if coordinate not in options:
        raise ModelError(
            f"linearize was given output '{name}' as '{output}', but joint '{joint}' has the coordinates: "
            f"{', '.join(options) or 'none'}. Choose one of them.{did_you_mean(coordinate, options)}"
        )
    return JointCoordinate(joint, names.index(coordinate.removesuffix("_rate")), coordinate not in names)
