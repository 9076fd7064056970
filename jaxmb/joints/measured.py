"""A coordinate of a joint, as drivers, gears and joint forces use it."""

from collections.abc import Mapping

import equinox as eqx
from jaxtyping import Array, Float

from ..errors import ModelError, did_you_mean, unknown_name
from ..ports import Anchor, Port, replace
from ..spatial import Pose
from .base import Joint


class Measured(eqx.Module):
    """The coordinate named `coordinate` of the joint named `joint` (its only one by default)."""

    joint: str = eqx.field(static=True)
    coordinate: str | None = eqx.field(static=True)
    measuring: Joint | None = None

    def attach(self, what: str, joints: Mapping[str, Joint]) -> "tuple[Measured, tuple[Anchor | Port, ...]]":
        """Itself with the joint found, and the ports of that joint. Names are dropped so that equal ones can be
        stacked."""
        if self.joint not in joints:
            raise unknown_name(f"{what} refers to joint", "Joints", self.joint, joints)
        joint = joints[self.joint]
        names = joint.coordinates
        if self.coordinate is None and len(names) == 1:
            coordinate = names[0]
        elif self.coordinate in names:
            coordinate = self.coordinate
        else:
            kind = type(joint).__name__
            found = f"'{self.coordinate}'" if self.coordinate else "no coordinate"
            advice = f"Choose one of: {', '.join(names)}." if names else "That joint has no coordinate of its own."
            near = did_you_mean(self.coordinate or "", names)
            raise ModelError(f"{what} asks for {found} of joint '{self.joint}' ({kind}). {advice}{near}")
        return Measured("", coordinate, replace(joint, ports=())), joint.ports

    @property
    def is_angle(self) -> bool:
        return (self.coordinate or "").startswith("angle")

    def __call__(self, F: Pose, G: Pose) -> Float[Array, ""]:
        joint = self.measuring
        return joint.measure(F, G)[joint.coordinates.index(self.coordinate)]  # pyright: ignore
