"""Named quantities of a motion, as pure functions of a system at one instant; `Solution` maps them over time.

Each returns all bodies, joints or reactions at once, so that asking for another name compiles nothing.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from .formulations.base import minimum_norm
from .formulations.choice import rates, with_nonideal
from .formulations.deflated import Deflated, null_space
from .kinematics import Ride
from .packed import Packed, joint_terms
from .spatial import cross, turn
from .terms import Terms

#: A reaction is unique when no null vector of J' of unit length moves it by more than this.
UNIQUE = 1e-8


class BodyMotion(eqx.Module):
    """Motion of a body: its centre of mass (m, m/s, m/s2, world axes), rotation matrix R_WB, angular velocity and
    acceleration (rad/s, rad/s2, world axes)."""

    position: Float[Array, "*batch 3"]
    velocity: Float[Array, "*batch 3"]
    acceleration: Float[Array, "*batch 3"]
    rotation: Float[Array, "*batch 3 3"]
    omega: Float[Array, "*batch 3"]
    alpha: Float[Array, "*batch 3"]


class PointMotion(eqx.Module):
    """Motion of a point of a body (world axes)."""

    position: Float[Array, "*batch 3"]
    velocity: Float[Array, "*batch 3"]
    acceleration: Float[Array, "*batch 3"]


class Reaction(eqx.Module):
    """What the first body of a joint does to the second: force (N) and torque (N m) at the joint's point on the second body.

    `unique` is False where redundant constraints leave it undetermined; the value is then the one of least multipliers.
    """

    force: Float[Array, "*batch 3"]
    torque: Float[Array, "*batch 3"]
    unique: Bool[Array, "*batch"]


def accelerate(equations, formulation, stabilization, t, q, v) -> tuple[Float[Array, " nv"], Float[Array, " m"], Terms]:
    """Accelerations, minimum-norm multipliers and terms, as the run had them."""
    terms = with_nonideal(formulation, equations.terms(t, q, v), t, q, v)
    out = rates(formulation, terms, stabilization.bias(terms))
    lam = minimum_norm(terms.J, out.lam) if isinstance(formulation, Deflated) else out.lam
    return out.a, lam, terms


def body_motions(equations: Packed, q, v, a) -> BodyMotion:
    """Motions of all bodies, stacked in the order of the system."""

    def kinematics(q, v):
        return equations.poses(q), equations.twists(q, v)

    (poses, twists), (_, rates) = jax.jvp(kinematics, (q, v), (equations.qdot(q, v), a))
    turn = jax.vmap(lambda R, x: R @ x)
    return BodyMotion(
        position=poses.p[:-1],
        velocity=twists[:-1, :3],
        acceleration=rates[:-1, :3],
        rotation=poses.R[:-1],
        omega=turn(poses.R, twists[:, 3:])[:-1],
        alpha=turn(poses.R, rates[:, 3:])[:-1],
    )


def point_motion(body: BodyMotion, arm: Float[Array, "3"]) -> PointMotion:
    """Motion of the point at `arm` from the centre of mass, in body axes."""
    r = body.rotation @ arm
    swing = jnp.cross(body.omega, r)
    return PointMotion(
        body.position + r,
        body.velocity + swing,
        body.acceleration + jnp.cross(body.alpha, r) + jnp.cross(body.omega, swing),
    )


def joint_coordinates(system, q, v) -> dict[str, tuple[Float[Array, " k"], Float[Array, " k"]]]:
    """Coordinates and rates of every two-body joint that has any."""
    equations = system.equations()
    names, out = tuple(system.joints), {}

    def measure(joint, ports: tuple[Ride, ...]):
        return jax.jvp(joint.measure, tuple(port.pose for port in ports), tuple(port.rate for port in ports))

    for group, motion in equations.rides(equations.poses(q), equations.twists(q, v))[: len(equations.joints)]:
        if group.element.coordinates:
            values, rates = group.map(measure, motion)
            out |= {names[k]: (values[i], rates[i]) for i, k in enumerate(group.order)}
    return out


def reactions(system, t, q, v, lam) -> dict[str, list[Reaction]]:
    """Reactions of every joint, one for each of its ports, in world axes."""
    equations = system.equations()
    terms = equations.terms(t, q, v)
    null = null_space(terms.J)
    # Null vectors of J' itself, of unit length or zero.
    basis = null.D[:, None] * null.N
    length = jnp.sqrt(jnp.sum(basis**2, axis=0))
    basis = basis / jnp.where(length > 0, length, 1.0)[None, :]
    names, out = tuple(system.joints), {}

    def react(joint, ports: tuple[Ride, ...], lam, basis):
        _, _, J, _ = joint_terms(t, joint, ports)
        return [_reaction(J[k], lam, basis, port) for k, port in enumerate(ports)]

    for group, motion in equations.rides(equations.poses(q), equations.twists(q, v))[: len(equations.joints)]:
        rows = equations.row_index(group)
        found = group.map(react, motion, lam[rows], basis[rows])
        out |= {
            names[k]: [jax.tree.map(lambda x, i=i: x[i], port) for port in found] for i, k in enumerate(group.order)
        }
    return out


def _reaction(J, lam, basis, port: Ride) -> Reaction:
    def at_frame(multipliers):
        wrench = -(J.T @ multipliers)
        force = wrench[:3]
        return jnp.concatenate([force, turn(port.R_body, wrench[3:]) - cross(port.arm, force)])

    load = at_frame(lam)
    free = jax.vmap(at_frame, in_axes=1)(basis)
    return Reaction(load[:3], load[3:], jnp.max(jnp.abs(free), initial=0.0) < UNIQUE)
