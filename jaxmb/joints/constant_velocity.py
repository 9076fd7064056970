"""A homokinetic joint."""

from typing import ClassVar

import jax.numpy as jnp

from ..ports import GROUND, Anchor, Port, replace
from ..spatial import Mat3, Pose, Vec3, dot, skew
from .base import Joint
from .primitives import coincide


class ConstantVelocity(Joint):
    """The bodies share a point and turn about their own axes at equal rates, whatever the angle between the axes: the
    relative rotation has no component about the bisector, so that R_FG has equal (x, y) and (y, x) entries.

    `axis` is that of the first shaft, `axis_to` that of the second (bent, if it differs).
    """

    rows: ClassVar[tuple[str, ...]] = ("x", "y", "z", "turn")

    def attach(self, what, bodies, joints):
        joint = super().attach(what, bodies, joints)
        if not all(isinstance(port, Anchor) and port.in_world for port in self.ports):
            return joint
        # In the reference configuration G is F bent the shortest way, which closes the joint for any two axes.
        first, second = joint.ports
        F, G = (port.frame for port in joint.ports)  # pyright: ignore[reportAttributeAccessIssue]
        R_WA, R_WB = (jnp.eye(3) if body == GROUND else bodies[body].pose.R for body in joint.bodies)
        R_WF = R_WA @ F.R
        R_WG = R_WF @ _shortest_turn(R_WF.T @ R_WB @ G.z)
        return replace(joint, ports=(first, Port(second.body, Pose(G.p, R_WB.T @ R_WG))))

    def residual(self, F, G, t):
        return jnp.concatenate([coincide(F, G), 0.5 * (dot(F.y, G.x) - dot(F.x, G.y))[None]])


def _shortest_turn(z: Vec3) -> Mat3:
    """The rotation about an axis of the xy plane that takes the z axis to the unit vector z."""
    V = skew(jnp.stack([-z[1], z[0], jnp.zeros_like(z[0])]))
    return jnp.eye(3) + V + V @ V / (1 + z[2])
