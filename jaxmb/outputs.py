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
from .groups import Group
from .kinematics import Ride
from .packed import Packed, joint_terms
from .scaling import scaling_of
from .spatial import cross, turn
from .terms import Terms

#: A reaction is unique when what a change of the multipliers without effect on the motion makes of it is less than this part of
#: what it makes of any other reaction.
UNIQUE = 1e-7


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


def wrench_maps(equations: Packed, t, q, v) -> list[tuple[Group, list[Float[Array, "_ 6 _"]]]]:
    """For each group of joints and each of their ports, the matrices from a joint's multipliers to force and torque on that
    port's body at that port, in world axes."""

    def matrices(joint, ports: tuple[Ride, ...]):
        _, _, J, _ = joint_terms(t, joint, ports)
        return [jax.vmap(_at_port, in_axes=(0, None), out_axes=1)(-J[k], port) for k, port in enumerate(ports)]

    rides = equations.rides(equations.poses(q), equations.twists(q, v))[: len(equations.joints)]
    return [(group, group.map(matrices, motion)) for group, motion in rides]


def _at_port(wrench: Float[Array, "6"], port: Ride) -> Float[Array, "6"]:
    """Force and torque about the port, from those about the centre of mass with the torque in body axes."""
    force = wrench[:3]
    return jnp.concatenate([force, turn(port.R_body, wrench[3:]) - cross(port.arm, force)])


def reactions(system, t, q, v, lam) -> dict[str, list[Reaction]]:
    """Reactions of every joint, one for each of its ports, in world axes."""
    equations = system.equations()
    J = equations.terms(t, q, v).J
    scaling = scaling_of(equations, q, J)
    null = null_space(J * scaling.columns[None, :])
    basis = null.D[:, None] * null.N
    # Torques count by the size of the mechanism.
    unit = jnp.concatenate([jnp.ones(3), jnp.full(3, 1.0 / scaling.length)])
    names, loads, moved = tuple(system.joints), {}, {}
    for group, maps in wrench_maps(equations, t, q, v):
        rows = equations.row_index(group)
        load = [turn(G, lam[rows]) for G in maps]
        free = [jnp.max(jnp.abs(jnp.einsum("i,cir,crd->cid", unit, G, basis[rows])), axis=(1, 2)) for G in maps]
        for i, k in enumerate(group.order):
            loads[names[k]], moved[names[k]] = [x[i] for x in load], [x[i] for x in free]
    largest = jnp.max(jnp.stack([x for ports in moved.values() for x in ports]))
    return {
        name: [
            Reaction(x[:3], x[3:], size <= UNIQUE * largest) for x, size in zip(loads[name], moved[name], strict=True)
        ]
        for name in names
    }
