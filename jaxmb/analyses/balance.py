"""Whether forces balance: what is left over, against the forces that are there."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..formulations.deflated import schur
from ..outputs import body_motions
from ..packed import Packed
from ..spatial import Motion, cross
from ..terms import Equations
from .tangent import Release, release

#: Forces balance when less than this part of those present is left over.
BALANCED = 1e-8
#: Rounding of positions, relative to the reach of the mechanism, that a stiffness turns into forces.
ROUNDING = 1e-13
#: A free motion has no stiffness of its own when that is below this part of the largest one, or of what forces have by turning
#: with the bodies.
NEUTRAL = 1e-10


def relative(
    equations: Equations,
    t: Float[Array, ""],
    q: Float[Array, " nq"],
    at: Release,
    stiffest: Float[Array, ""],
    far: Float[Array, ""],
) -> Float[Array, ""]:
    """What is left over, `at.size`, relative to the forces present; `stiffest` is the largest stiffness against mass (1/s2),
    `far` the reach of the mechanism."""
    rounding = ROUNDING / BALANCED * stiffest * jnp.sqrt(_mass(equations, at)) * far
    return jnp.where(at.size > 0, at.size / (present(equations, t, q, at) + rounding), 0.0)


def no_stiffness(
    equations: Equations, t: Float[Array, ""], q: Float[Array, " nq"], at: Release, stiffest: Float[Array, ""]
) -> Float[Array, ""]:
    """The stiffness against mass (1/s2) below which there is none but rounding.

    The largest one is not enough to tell: where no motion has any, as that of a door, it is rounding too. Forces that turn with a
    body have about the stiffness force over length.
    """
    turning = present(equations, t, q, at) / (jnp.sqrt(_mass(equations, at)) * at.scaling.length)
    return NEUTRAL * (stiffest + turning)


def present(equations: Equations, t: Float[Array, ""], q: Float[Array, " nq"], at: Release) -> Float[Array, ""]:
    """The forces that are there, each by the acceleration that it would cause alone, in the norm of `at.size`.

    They are counted one by one, because their sum vanishes where a weight hangs on a spring.
    """
    S, _ = schur(at.terms.mass, at.terms.J)
    reactions = jnp.sqrt(jnp.maximum(at.lam @ (S @ at.lam), 0.0))
    # Of generalised forces only the sum is known.
    return reactions + (_loads(equations, t, q) if isinstance(equations, Packed) else 0.0)


def _mass(equations: Equations, at: Release) -> Float[Array, ""]:
    return jnp.sum(equations.mass) if isinstance(equations, Packed) else jnp.trace(at.terms.M)


def reach(equations: Equations, q: Float[Array, " nq"]) -> Float[Array, ""]:
    """Largest distance (m) of a centre of mass, a joint or a force's end from the origin; of generalised coordinates, whose units
    are not known, 1 more than the largest."""
    if not isinstance(equations, Packed):
        return 1 + jnp.max(jnp.abs(q))
    poses, still = equations.poses(q), jnp.zeros((equations.mass.size + 1, 6))
    points = [poses.p[:-1], *(ports.pose.p for _, ports in equations.rides(poses, still))]
    return jnp.max(jnp.sqrt(jnp.sum(jnp.concatenate(points) ** 2, axis=1)))


def _loads(equations: Packed, t: Float[Array, ""], q: Float[Array, " nq"]) -> Float[Array, ""]:
    """The sum over all force elements and weights."""
    poses, still = equations.poses(q), jnp.zeros((equations.mass.size + 1, 6))
    mean_inertia = jnp.trace(equations.inertia, axis1=1, axis2=2) / 3
    turns = mean_inertia > 0
    # The ground is last and is not moved.
    lightness = jnp.append(1 / equations.mass, 0.0)
    softness = jnp.append(jnp.where(turns, 1 / jnp.where(turns, mean_inertia, 1.0), 0.0), 0.0)
    total = jnp.sum(jnp.sqrt(equations.mass)) * jnp.sqrt(jnp.sum(equations.gravity**2))

    def at_ports(force, ports):
        loads = force.loads(*(Motion(port.pose, port.rate.p, port.w) for port in ports), t=t)
        shifted = [(f, torque + cross(port.arm, f)) for (f, torque), port in zip(loads, ports, strict=True)]
        return [jnp.stack([jnp.sum(f**2), jnp.sum(torque**2)]) for f, torque in shifted]

    for group, ports in equations.rides(poses, still)[len(equations.joints) :]:
        for k, squares in enumerate(group.map(at_ports, ports)):
            body = np.array(group.bodies)[:, k]
            total = total + jnp.sum(jnp.sqrt(squares[:, 0] * lightness[body] + squares[:, 1] * softness[body]))
    return total


def imbalance(system, t: Float[Array, ""], q: Float[Array, " nq"]) -> str:
    """Who is out of balance by how much, the worst first, in words."""
    equations = system.equations()
    at = eqx.filter_jit(release)(equations, t, q)
    if not isinstance(equations, Packed):
        left = dict(zip(equations.speed_names, np.asarray(at.force), strict=True))
        worst = max(left, key=lambda name: abs(left[name]))
        return f"coordinate '{worst}' stays out of balance by a generalised force of {left[worst]:.3g}"
    motion = eqx.filter_jit(body_motions)(equations, q, jnp.zeros_like(at.a), at.a)
    a, alpha, R = (np.asarray(x) for x in (motion.acceleration, motion.alpha, motion.rotation))
    force = np.asarray(equations.mass)[:, None] * a
    torque = np.einsum("bij,bjk,blk,bl->bi", R, np.asarray(equations.inertia), R, alpha)
    share = np.sum(force * a, axis=1) + np.sum(torque * alpha, axis=1)
    worst = [k for k in np.argsort(-share) if share[k] > 1e-3 * share.max()][:3]
    return ", ".join(
        f"body '{equations.names[2][k]}' stays out of balance by {np.linalg.norm(force[k]):.3g} N and "
        f"{np.linalg.norm(torque[k]):.3g} N m"
        for k in worst
    )
