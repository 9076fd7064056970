"""What is observed of a small motion."""

from collections.abc import Callable

from jaxtyping import Array, Float

from ..errors import ModelError, did_you_mean, unknown_name
from ..functions import as_function
from ..system import System
from ..trajectory import Instant, SampledMotion


class Moment(Instant):
    """An instant of a small motion, as output functions see it: a state, and the accelerations `a` that go with it."""

    a: Float[Array, " nv"]

    @property
    def motion(self) -> SampledMotion:
        """The instant as a motion of one, for everything that has a name: `moment.motion.body("arm").omega[0]`."""
        t, q, v, a = (x[None] for x in (self.state.t, self.state.q, self.state.v, self.a))
        return SampledMotion(t, q, v, a, self.system)

    def velocity(self, body: str, point="com") -> Float[Array, "3"]:
        """World velocity (m/s) of a point of a body."""
        return self.motion.point_motion(body, point).velocity[0]

    def acceleration(self, body: str, point="com") -> Float[Array, "3"]:
        """World acceleration (m/s2) of a point of a body."""
        return self.motion.point_motion(body, point).acceleration[0]


def as_output(system, name: str, output) -> Callable:
    """A function of a `Moment`, or a joint coordinate ("A", "A.angle", "A.angle_rate") as one; `name` is for the error."""
    if callable(output):
        return as_function(output)
    if not isinstance(output, str) or not isinstance(system, System):
        raise ModelError(
            f"linearize was given output '{name}' as {output!r}. Give a function of a moment, or for a System of bodies the name "
            "of a joint coordinate, such as 'A.angle'."
        )
    whole = output in system.joints or "." not in output
    joint, _, coordinate = (output, "", "") if whole else output.rpartition(".")
    if joint not in system.joints:
        raise unknown_name(f"linearize was given output '{name}' of joint", "Joints", joint, system.joints)
    names = system.joint(joint).coordinates
    options = [*names, *(f"{n}_rate" for n in names)]
    if whole and len(names) == 1:
        coordinate = names[0]
    if coordinate not in options:
        raise ModelError(
            f"linearize was given output '{name}' as '{output}', but joint '{joint}' has the coordinates: "
            f"{', '.join(options) or 'none'}. Choose one of them.{did_you_mean(coordinate, options)}"
        )
    return as_function(lambda moment: getattr(moment.motion.joint(joint), coordinate)[0])
