"""The packed form of a System: elements of one kind stacked and mapped over, topology as index arrays.

Everything is written for rigid bodies with a twist (world velocity of the centre of mass, body-frame angular velocity);
coordinates enter through T alone: twist = T(q) v. With body inertia B = diag(m I, J),
    M = T' B T,   Q = T' (wrench - gyroscopic - B Tdot v),   J = J_twist T,   gamma = gamma_twist - J_twist Tdot v.
"""

from collections.abc import Callable, Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .coordinates import Coordinates
from .forces.base import Force
from .groups import Group
from .jacobian import Layout, block_jacobian
from .joints.base import Joint
from .kinematics import Ride, ride
from .spatial import Motion, Pose, compose, cross, dot, inverse, turn
from .terms import BlockDiagonal, Equations, Terms


class BodyGroup(eqx.Module):
    """Bodies that share a coordinate kind."""

    kind: Coordinates
    count: int = eqx.field(static=True)

    def split(self, x: Float[Array, " n"], start: int, each: int) -> Float[Array, "count each"]:
        return x[start : start + self.count * each].reshape(self.count, each)


class Packed(Equations):
    """Equations of a System of bodies."""

    groups: tuple[BodyGroup, ...]
    joints: tuple[Group, ...]
    forces: tuple[Group, ...]
    mass: Float[Array, " nb"]
    inertia: Float[Array, "nb 3 3"]
    inverse: Float[Array, "nb 6 6"]
    gravity: Float[Array, "3"]
    names: tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]] = eqx.field(static=True)
    """Rows, speeds and bodies."""
    rows_of: tuple[int, ...] = eqx.field(static=True)
    """Number of rows of each joint, in the System's order."""

    @property
    def row_names(self) -> tuple[str, ...]:
        return self.names[0]

    @property
    def speed_names(self) -> tuple[str, ...]:
        return self.names[1]

    @property
    def rheonomic(self) -> bool:
        return any(group.element.rheonomic for group in self.joints)

    # --- bodies -------------------------------------------------------------------------------------------------------

    def over_bodies(self, function: Callable[[Coordinates], Callable], q, *speeds) -> list:
        """`function(kind)` of each body's q (and of speeds), stacked per group of bodies that share a kind."""
        out, at_q, at_v = [], 0, 0
        for group in self.groups:
            args = [group.split(q, at_q, group.kind.nq), *(group.split(v, at_v, group.kind.nv) for v in speeds)]
            out.append(jax.vmap(function(group.kind))(*args))
            at_q, at_v = at_q + group.count * group.kind.nq, at_v + group.count * group.kind.nv
        return out

    def poses(self, q: Float[Array, " nq"]) -> Pose:
        """Poses of all bodies at their centres of mass, the ground last."""
        ground = Pose(jnp.zeros((1, 3)), jnp.eye(3)[None])
        return _stack([*self.over_bodies(lambda kind: kind.pose, q), ground])

    def twists(self, q: Float[Array, " nq"], v: Float[Array, " nv"]) -> Float[Array, "frames 6"]:
        """Twists of all bodies, the ground last."""
        return jnp.concatenate([*self.over_bodies(lambda kind: kind.twist, q, v), jnp.zeros((1, 6))])

    def qdot(self, q, v):
        return self._flat(lambda kind: kind.qdot, q, v)

    def retract(self, q, dv):
        return self._flat(lambda kind: kind.retract, q, dv)

    def chart(self, q, x):
        return self._flat(lambda kind: kind.chart, q, x)

    def chart_speed(self, q, x, rate):
        return self._flat(lambda kind: kind.chart_speed, q, x, rate)

    def to_axes(self, q, v):
        return self._flat(lambda kind: kind.to_axes, q, v)

    def from_axes(self, q, u):
        return self._flat(lambda kind: kind.from_axes, q, u)

    def drift(self, q, u):
        return self._flat(lambda kind: lambda _, u: kind.drift(u), q, u)

    def _flat(self, function, q, *speeds):
        return jnp.concatenate([x.reshape(-1) for x in self.over_bodies(function, q, *speeds)])

    def regularity(self, q):
        return jnp.concatenate(self.over_bodies(lambda kind: kind.regularity, q))

    def own_residual(self, q: Float[Array, " nq"]) -> Float[Array, " own"]:
        return self._flat(lambda kind: kind.own_residual, q)

    # --- the terms ----------------------------------------------------------------------------------------------------

    # Compiled on its own: a program that evaluates the terms in many places then traces and lowers them once.
    @eqx.filter_jit
    def terms(self, t, q, v):
        poses, twists = self.poses(q), self.twists(q, v)
        T, bias = self._twist_map(q, v)
        rides = self.rides(poses, twists)
        Phi, Phi_dot, J_twist, gamma = self._joint_rows(rides, bias, t)
        jacobian = block_jacobian(J_twist, T, self.layout)
        if any(group.kind.own_rows for group in self.groups):
            rows, own = (Phi, Phi_dot, jacobian.dense(), gamma), self._own_rows(q, v)
            Phi, Phi_dot, jacobian, gamma = (jnp.concatenate(pair) for pair in zip(rows, own, strict=True))
        wrench, power = self._wrenches(rides, t)
        mass, Q = self._inertia(T, bias, wrench, twists)
        return Terms(mass=mass, Phi=Phi, jacobian=jacobian, Phi_dot=Phi_dot, gamma=gamma, Q=Q, power=power)

    def _twist_map(self, q, v):
        """T and Tdot v per body (None where the speeds are the twist itself)."""

        def one(kind):
            def of(q, v):
                rate = kind.qdot(q, v)
                T = jax.jacfwd(kind.twist, argnums=1)(q, v)
                _, bias = jax.jvp(lambda q: kind.twist(q, v), (q,), (rate,))
                return T, bias

            return of

        if all(group.kind.twist_is_v for group in self.groups):
            return None, None
        parts = self.over_bodies(one, q, v)
        return [T for T, _ in parts], jnp.concatenate([bias for _, bias in parts] + [jnp.zeros((1, 6))])

    def rides(self, poses: Pose, twists: Float[Array, "frames 6"]) -> tuple[tuple[Group, Ride], ...]:
        """Every group of joints, then of forces, with the motion of its ports."""
        groups = (*self.joints, *self.forces)
        if not groups:
            return ()
        index = np.concatenate([group.index for group in groups])
        ports = ride(Pose(poses.p[index], poses.R[index]), twists[index], _stack([group.frames for group in groups]))
        ends = np.cumsum([group.index.size for group in groups])
        return tuple(
            (group, jax.tree.map(lambda x, a=end - group.index.size, b=end: x[a:b], ports))
            for group, end in zip(groups, ends, strict=True)
        )

    def _joint_rows(self, rides, bias, t):
        """Phi, Phi_dot and gamma in the System's order of rows, and the Jacobians on the twists of each group's
        ports."""
        if not self.joints:
            return jnp.zeros(0), jnp.zeros(0), [], jnp.zeros(0)
        results = [group.map(lambda *x: joint_terms(t, *x), motion) for group, motion in rides[: len(self.joints)]]
        place = np.argsort(np.concatenate([self.row_index(group).reshape(-1) for group in self.joints]))
        Phi, Phi_dot, gamma = (jnp.concatenate([result[i].reshape(-1) for result in results])[place] for i in (0, 1, 3))
        J = [result[2] for result in results]
        if bias is not None:
            pairs = [(block, bias[np.array(group.bodies)]) for block, group in zip(J, self.joints, strict=True)]
            moved = [turn(block, rate) for block, rate in pairs]
            gamma = gamma - jnp.concatenate([jnp.sum(x, axis=1).reshape(-1) for x in moved])[place]
        return Phi, Phi_dot, J, gamma

    @property
    def has_blocks(self) -> bool:
        """Whether all rows are those of joints and all masses regular."""
        return bool(self.joints) and not any(group.kind.own_rows or group.kind.singular_mass for group in self.groups)

    def row_index(self, group: Group) -> np.ndarray:
        """Row numbers of each joint of a group."""
        start = np.concatenate([[0], np.cumsum(self.rows_of)])
        return np.stack([np.arange(start[k], start[k + 1]) for k in group.order])

    @property
    def layout(self) -> Layout:
        """Where the blocks of the joints are in J."""
        rows = tuple(tuple(map(tuple, self.row_index(group).tolist())) for group in self.joints)
        widths = tuple(group.kind.nv for group in self.groups for _ in range(group.count))
        return Layout(rows, tuple(group.bodies for group in self.joints), (*widths, 0))

    def _own_rows(self, q, v):
        def rate(q, v):
            return jax.jvp(self.own_residual, (q,), (self.qdot(q, v),))[1]

        _, drift = jax.jvp(lambda q: rate(q, v), (q,), (self.qdot(q, v),))
        return self.own_residual(q), rate(q, v), jax.jacfwd(rate, argnums=1)(q, v), -drift

    def _wrenches(self, rides, t):
        """Force (world) and torque (body axes) on each body about its centre of mass, and the power beyond the
        potentials."""
        count = self.mass.size
        weight = self.mass[:, None] * jnp.broadcast_to(self.gravity, (count, 3))
        wrench = jnp.concatenate([jnp.concatenate([weight, jnp.zeros((count, 3))], axis=1), jnp.zeros((1, 6))])
        power = jnp.zeros(())
        for group, motion in rides[len(self.joints) :]:
            loads, powers = group.map(lambda *x: force_terms(t, *x), motion)
            wrench = wrench.at[group.index].add(jnp.concatenate(loads))
            power = power + jnp.sum(powers)
        return wrench[:-1], power

    def _inertia(self, T, bias, wrench, twists):
        """M by blocks, and Q."""
        linear = self.mass[:, None, None] * jnp.broadcast_to(jnp.eye(3), (self.mass.size, 3, 3))
        zero = jnp.zeros_like(linear)
        B = jnp.concatenate(
            [jnp.concatenate([linear, zero], axis=2), jnp.concatenate([zero, self.inertia], axis=2)], axis=1
        )
        w = twists[:-1, 3:]
        gyroscopic = cross(w, turn(self.inertia, w))
        force = wrench - jnp.concatenate([jnp.zeros_like(gyroscopic), gyroscopic], axis=1)
        if T is None:
            return BlockDiagonal((B,), (self.inverse,)), force.reshape(-1)
        force = force - turn(B, bias[:-1])
        blocks, Q, start = [], [], 0
        for T_group in T:
            part = slice(start, start + T_group.shape[0])
            T_back = jnp.swapaxes(T_group, 1, 2)
            blocks.append(compose(T_back, compose(B[part], T_group)))
            Q.append(turn(T_back, force[part]).reshape(-1))
            start = part.stop
        regular = not any(group.kind.singular_mass for group in self.groups)
        inverses = tuple(map(_inverse, blocks)) if regular else None
        return BlockDiagonal(tuple(blocks), inverses), jnp.concatenate(Q)

    # --- energy -------------------------------------------------------------------------------------------------------

    def energies(self, q, v):
        poses, twists = self.poses(q), self.twists(q, v)[:-1]
        linear, w = twists[:, :3], twists[:, 3:]
        kinetic = 0.5 * jnp.sum(self.mass * jnp.sum(linear**2, axis=1))
        kinetic = kinetic + 0.5 * jnp.einsum("bi,bij,bj->", w, self.inertia, w)
        potential = -jnp.sum(self.mass * (poses.p[:-1] @ self.gravity))
        for group in self.forces:
            frames = Pose(poses.p[group.index], poses.R[group.index]) @ group.frames
            potential = potential + jnp.sum(group.map(lambda force, ports: force.energy(*ports), frames))
        return kinetic, potential


def _inverse(blocks: Float[Array, "b k k"]) -> Float[Array, "b k k"]:
    """Blocks of three, of points and of bodies in the plane, need no factorization."""
    return inverse(blocks) if blocks.shape[1] == 3 else jnp.linalg.inv(blocks)


def _stack(poses: Sequence[Pose]) -> Pose:
    return jax.tree.map(lambda *x: jnp.concatenate(x), *poses)


def joint_terms(t, joint: Joint, ports: tuple[Ride, ...]):
    """Phi, Phi_dot, d Phi_dot / d twist of each port, and gamma."""
    poses, rates, drifts = (tuple(getattr(port, name) for port in ports) for name in ("pose", "rate", "drift"))
    one, zero = jnp.ones(()), jnp.zeros(())

    def phi(t, *poses):
        return joint.residual(*poses, t)  # pyright: ignore[reportCallIssue]

    def phi_and_rate(t, poses, rates):
        return jax.jvp(phi, (t, *poses), (one, *rates))

    # Along a motion with constant twists, Phi has the second derivative -gamma.
    (Phi, Phi_dot), (_, drift) = jax.jvp(phi_and_rate, (t, poses, rates), (one, rates, drifts))

    def column(k):
        still = [jax.tree.map(jnp.zeros_like, pose) for pose in poses]
        return lambda basis: jax.jvp(phi, (t, *poses), (zero, *still[:k], basis, *still[k + 1 :]))[1]

    J = jnp.stack([jax.vmap(column(k), out_axes=1)(port.basis) for k, port in enumerate(ports)])
    return Phi, Phi_dot, J, -drift


def force_terms(t, force: Force, ports: tuple[Ride, ...]):
    """Load of each port about the centre of mass (force in world, torque in body axes), and power beyond the energy."""
    motions = tuple(Motion(port.pose, port.rate.p, port.w) for port in ports)
    loads = force.loads(*motions, t=t)
    power = sum((dot(f, m.v) + dot(tau, m.w) for (f, tau), m in zip(loads, motions, strict=True)), jnp.zeros(()))
    _, energy_rate = jax.jvp(force.energy, tuple(port.pose for port in ports), tuple(port.rate for port in ports))
    shifted = tuple(
        jnp.concatenate([f, turn(port.R_body.T, tau + cross(port.arm, f))])
        for (f, tau), port in zip(loads, ports, strict=True)
    )
    return shifted, power + energy_rate
