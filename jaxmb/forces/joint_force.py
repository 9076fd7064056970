"""Springs, dampers, motors and friction on a joint coordinate."""

from ..joints.measured import Measured
from ..ports import replace
from ..spatial import wrap
from .base import MeasuredForce
from .laws import Law, Linear, as_law


class JointForce(MeasuredForce):
    """A torque or force on the coordinate of a joint, by a scalar law; `JointForce("A", Actuator(2.0))` brakes, -2.0
    drives.

    An angle is counted within half a turn of the law's `free` angle (of 0 for a law without), so a spring that depends on it
    jumps only where it is turned by more than that.
    """

    measured: Measured
    law: Law

    def __init__(self, joint: str, law, *, coordinate: str | None = None):
        self.ports = ()
        self.measured = Measured(joint, coordinate)
        self.law = as_law(law)

    def attach(self, what, bodies, joints):
        measured, ports = self.measured.attach(what, joints)
        return replace(self, ports=ports, measured=measured)

    def measure(self, F, G):  # pyright: ignore[reportIncompatibleMethodOverride]
        x = self.measured(F, G)
        if self.measured.is_angle and isinstance(self.law, Linear):
            x = self.law.free + wrap(x - self.law.free)
        return x[None]

    def magnitude(self, x, xdot, t):
        return self.law(x[0], xdot[0], t)[None]

    def energy(self, *poses):
        return self.law.energy(self.measure(*poses)[0])


def joint_spring(joint: str, *, stiffness=0.0, free=0.0, damping=0.0, coordinate: str | None = None) -> JointForce:
    """A linear spring and damper on a joint coordinate (N m/rad, rad, N m s/rad, or N/m, m, N s/m)."""
    return JointForce(joint, Linear(stiffness, damping, free), coordinate=coordinate)
