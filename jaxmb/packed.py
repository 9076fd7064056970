"""The packed form of a System: elements of one kind stacked and mapped over, topology as index arrays.

Everything is written for rigid bodies with a twist (world velocity of the centre of mass, body-frame angular velocity);
coordinates enter through T alone: twist = T(q) v. With body inertia B = diag(m I, J),
    M = T' B T,   Q = T' (wrench - gyroscopic - B Tdot v),   J = J_twist T,   gamma = gamma_twist - J_twist Tdot v.
"""

from collections.abc import Callable, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .body import Body
from .coordinates import Coordinates
from .forces.base import Force
from .joints.base import Joint
from .ports import GROUND, replace
from .spatial import Motion, Pose, skew
from .terms import BlockDiagonal, Equations, Terms


class Group(eqx.Module):
    """Equal elements stacked: `element` has a leading axis on every array, `frames` are its ports from the centre of
    mass, `bodies` the index of each port's body (the ground is last), `order` the place of each in the System."""

    element: Any
    frames: tuple[Pose, ...]
    bodies: tuple[tuple[int, ...], ...] = eqx.field(static=True)
    order: tuple[int, ...] = eqx.field(static=True)

    def map(self, function: Callable, poses: Pose, *others):
        """`function(element, frames, poses of its ports, *others of its ports)` over the stack."""
        index = np.array(self.bodies)
        pick = [jax.tree.map(lambda x, k=k: x[index[:, k]], (poses, *others)) for k in range(index.shape[1])]
        ported = [tuple(p[i] for p in pick) for i in range(1 + len(others))]
        return eqx.filter_vmap(function)(self.element, self.frames, *ported)


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

    def _over_bodies(self, function: Callable[[Coordinates], Callable], q, v=None) -> list:
        out, at_q, at_v = [], 0, 0
        for group in self.groups:
            args = [group.split(q, at_q, group.kind.nq)]
            if v is not None:
                args.append(group.split(v, at_v, group.kind.nv))
            out.append(jax.vmap(function(group.kind))(*args))
            at_q, at_v = at_q + group.count * group.kind.nq, at_v + group.count * group.kind.nv
        return out

    def poses(self, q: Float[Array, " nq"]) -> Pose:
        """Poses of all bodies at their centres of mass, the ground last."""
        ground = Pose(jnp.zeros((1, 3)), jnp.eye(3)[None])
        return _stack([*self._over_bodies(lambda kind: kind.pose, q), ground])

    def twists(self, q: Float[Array, " nq"], v: Float[Array, " nv"]) -> Float[Array, "frames 6"]:
        """Twists of all bodies, the ground last."""
        return jnp.concatenate([*self._over_bodies(lambda kind: kind.twist, q, v), jnp.zeros((1, 6))])

    def qdot(self, q, v):
        return jnp.concatenate([x.reshape(-1) for x in self._over_bodies(lambda kind: kind.qdot, q, v)])

    def retract(self, q, dv):
        return jnp.concatenate([x.reshape(-1) for x in self._over_bodies(lambda kind: kind.retract, q, dv)])

    def regularity(self, q):
        return jnp.concatenate(self._over_bodies(lambda kind: kind.regularity, q))

    def own_residual(self, q: Float[Array, " nq"]) -> Float[Array, " own"]:
        return jnp.concatenate([x.reshape(-1) for x in self._over_bodies(lambda kind: kind.own_residual, q)])

    # --- the terms ----------------------------------------------------------------------------------------------------

    # Compiled on its own: a program that evaluates the terms in many places then traces and lowers them once.
    @eqx.filter_jit
    def terms(self, t, q, v):
        poses, twists = self.poses(q), self.twists(q, v)
        T, bias = self._twist_map(q, v)
        Phi, Phi_dot, J_twist, gamma = self._joint_rows(poses, twists, bias, t)
        J = _scatter(J_twist, T, self._columns(), sum(self.rows_of), v.size)
        if any(group.kind.own_rows for group in self.groups):
            own = self._own_rows(q, v)
            Phi, Phi_dot, J, gamma = (jnp.concatenate(pair) for pair in zip((Phi, Phi_dot, J, gamma), own, strict=True))
        wrench, power = self._wrenches(poses, twists, t)
        mass, Q = self._inertia(T, bias, wrench, twists)
        return Terms(mass=mass, Phi=Phi, J=J, Phi_dot=Phi_dot, gamma=gamma, Q=Q, power=power)

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
        parts = self._over_bodies(one, q, v)
        return [T for T, _ in parts], jnp.concatenate([bias for _, bias in parts] + [jnp.zeros((1, 6))])

    def _joint_rows(self, poses, twists, bias, t):
        """Phi, Phi_dot and gamma in the System's order of rows, and the Jacobians on the twists of each group's
        ports."""
        if not self.joints:
            return jnp.zeros(0), jnp.zeros(0), [], jnp.zeros(0)
        others = (twists,) if bias is None else (twists, bias)
        results = [group.map(lambda *x: _joint_terms(t, *x), poses, *others) for group in self.joints]
        place = np.argsort(np.concatenate([self._row_index(group).reshape(-1) for group in self.joints]))
        Phi, Phi_dot, gamma = (jnp.concatenate([result[i].reshape(-1) for result in results])[place] for i in (0, 1, 3))
        return Phi, Phi_dot, [result[2] for result in results], gamma

    def _row_index(self, group: Group) -> np.ndarray:
        """Row numbers of each joint of a group."""
        start = np.concatenate([[0], np.cumsum(self.rows_of)])
        return np.stack([np.arange(start[k], start[k + 1]) for k in group.order])

    def _columns(self):
        """For each joint group, row numbers and body numbers of its blocks; and first column and width of each body."""
        widths = np.concatenate([np.full(group.count, group.kind.nv) for group in self.groups] + [[0]]).astype(int)
        starts = np.concatenate([[0], np.cumsum(widths)[:-1]])
        return [(self._row_index(group), np.array(group.bodies)) for group in self.joints], starts, widths

    def _own_rows(self, q, v):
        def rate(q, v):
            return jax.jvp(self.own_residual, (q,), (self.qdot(q, v),))[1]

        _, drift = jax.jvp(lambda q: rate(q, v), (q,), (self.qdot(q, v),))
        return self.own_residual(q), rate(q, v), jax.jacfwd(rate, argnums=1)(q, v), -drift

    def _wrenches(self, poses, twists, t):
        """Force (world) and torque (body axes) on each body about its centre of mass, and the power beyond the
        potentials."""
        count = self.mass.size
        weight = self.mass[:, None] * jnp.broadcast_to(self.gravity, (count, 3))
        wrench = jnp.concatenate([jnp.concatenate([weight, jnp.zeros((count, 3))], axis=1), jnp.zeros((1, 6))])
        power = jnp.zeros(())
        for group in self.forces:
            loads, powers = group.map(lambda *x: _force_terms(t, *x), poses, twists)
            index = np.array(group.bodies)
            for k, load in enumerate(loads):
                wrench = wrench.at[index[:, k]].add(load)
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
        gyroscopic = jnp.cross(w, jnp.einsum("bij,bj->bi", self.inertia, w))
        force = wrench - jnp.concatenate([jnp.zeros_like(gyroscopic), gyroscopic], axis=1)
        if T is None:
            return BlockDiagonal((B,), (self.inverse,)), force.reshape(-1)
        force = force - jnp.einsum("bij,bj->bi", B, bias[:-1])
        blocks, Q, start = [], [], 0
        for T_group in T:
            part = slice(start, start + T_group.shape[0])
            blocks.append(jnp.einsum("bki,bkl,blj->bij", T_group, B[part], T_group))
            Q.append(jnp.einsum("bki,bk->bi", T_group, force[part]).reshape(-1))
            start = part.stop
        regular = not any(group.kind.singular_mass for group in self.groups)
        inverses = tuple(jnp.linalg.inv(block) for block in blocks) if regular else None
        return BlockDiagonal(tuple(blocks), inverses), jnp.concatenate(Q)

    # --- energy -------------------------------------------------------------------------------------------------------

    def energies(self, q, v):
        poses, twists = self.poses(q), self.twists(q, v)[:-1]
        linear, w = twists[:, :3], twists[:, 3:]
        kinetic = 0.5 * jnp.sum(self.mass * jnp.sum(linear**2, axis=1))
        kinetic = kinetic + 0.5 * jnp.einsum("bi,bij,bj->", w, self.inertia, w)
        potential = -jnp.sum(self.mass * (poses.p[:-1] @ self.gravity))
        for group in self.forces:
            potential = potential + jnp.sum(group.map(_force_energy, poses))
        return kinetic, potential


def _stack(poses: Sequence[Pose]) -> Pose:
    return jax.tree.map(lambda *x: jnp.concatenate(x), *poses)


def moving(pose: Pose, twist: Float[Array, "6"]) -> Pose:
    """Rate of a pose that has the twist (world velocity, body-frame angular velocity)."""
    return Pose(twist[:3], pose.R @ skew(twist[3:]))


def _joint_terms(t, joint: Joint, frames, poses, twists, biases=None):
    """Phi, Phi_dot, d Phi_dot / d twist of each port, and gamma."""

    def phi(poses, t):
        placed = (pose @ frame for pose, frame in zip(poses, frames, strict=True))
        return joint.residual(*placed, t)  # pyright: ignore[reportCallIssue]

    def phi_and_rate(poses, t, twists):
        rates = tuple(moving(pose, twist) for pose, twist in zip(poses, twists, strict=True))
        return jax.jvp(phi, (poses, t), (rates, jnp.ones(())))

    Phi, Phi_dot = phi_and_rate(poses, t, twists)
    J = jnp.stack(jax.jacfwd(lambda twists: phi_and_rate(poses, t, twists)[1])(twists))
    rates = tuple(moving(pose, twist) for pose, twist in zip(poses, twists, strict=True))
    _, drift = jax.jvp(lambda poses, t: phi_and_rate(poses, t, twists)[1], (poses, t), (rates, jnp.ones(())))
    gamma = -drift
    if biases is not None:
        gamma = gamma - jnp.einsum("kri,ki->r", J, jnp.stack(biases))
    return Phi, Phi_dot, J, gamma


def _force_terms(t, force: Force, frames, poses, twists):
    """Load of each port about the centre of mass (force in world, torque in body axes), and power beyond the energy."""
    motions = tuple(frame_motion(*x) for x in zip(poses, twists, frames, strict=True))
    loads = force.loads(*motions, t=t)
    power = sum(
        (jnp.dot(f, m.v) + jnp.dot(tau, m.w) for (f, tau), m in zip(loads, motions, strict=True)), jnp.zeros(())
    )
    rates = tuple(moving(pose, twist) for pose, twist in zip(poses, twists, strict=True))
    _, energy_rate = jax.jvp(lambda *poses: _force_energy(force, frames, poses), poses, rates)
    shifted = tuple(
        jnp.concatenate([f, pose.R.T @ (tau + jnp.cross(m.pose.p - pose.p, f))])
        for (f, tau), m, pose in zip(loads, motions, poses, strict=True)
    )
    return shifted, power + energy_rate


def _force_energy(force: Force, frames, poses):
    return force.energy(*(pose @ frame for pose, frame in zip(poses, frames, strict=True)))


def frame_motion(pose: Pose, twist: Float[Array, "6"], frame: Pose) -> Motion:
    """Pose and velocities of a frame fixed in a moving body."""
    w = pose.R @ twist[3:]
    arm = pose.R @ frame.p
    return Motion(pose @ frame, twist[:3] + jnp.cross(w, arm), w)


def _scatter(J_twist, T, columns, m: int, n: int) -> Float[Array, "m n"]:
    """The dense Jacobian from the blocks of the joints, by gathering: each entry of J is looked up in the list of block
    entries (or finds zero). A joint with two ports on one body needs a second look-up, which is added."""
    places, starts, widths = columns
    nv_max = int(widths.max(initial=0))
    if not J_twist or n == 0:
        return jnp.zeros((m, n))
    flat, maps, offset = [], [], 0
    T_padded = None if T is None else _pad(T, nv_max)
    for J, (rows, bodies) in zip(J_twist, places, strict=True):
        # J is (joints, ports, rows, 6)
        if T_padded is not None:
            J = jnp.einsum("gkri,gkij->gkrj", J, T_padded[bodies])
        width = J.shape[-1]
        index = offset + np.arange(J.size).reshape(J.shape)
        for g, k, c in np.ndindex(J.shape[0], J.shape[1], width):
            if c < widths[bodies[g, k]]:
                maps.extend(
                    zip(rows[g], np.full(rows.shape[1], starts[bodies[g, k]] + c), index[g, k, :, c], strict=True)
                )
        flat.append(J.reshape(-1))
        offset += J.size
    entries = jnp.concatenate([*flat, jnp.zeros(1)])
    layers = [np.full((m, n), offset)]
    for row, column, index in maps:
        for layer in layers:
            if layer[row, column] == offset:
                layer[row, column] = index
                break
        else:
            layers.append(np.full((m, n), offset))
            layers[-1][row, column] = index
    return sum((entries[layer] for layer in layers[1:]), entries[layers[0]])


def _pad(T: Sequence[Float[Array, "_ 6 _"]], width: int) -> Float[Array, "frames 6 width"]:
    padded = [jnp.pad(x, ((0, 0), (0, 0), (0, width - x.shape[2]))) for x in T]
    return jnp.concatenate([*padded, jnp.zeros((1, 6, width))])


def group_elements(elements: Sequence, bodies: dict[str, tuple[int, Body]], ground: int) -> tuple[Group, ...]:
    """Equal elements stacked. Two are equal when they differ in numbers only: same class, options and functions."""
    found: dict[Any, list[int]] = {}
    bare = [replace(element, ports=()) for element in elements]
    for k, element in enumerate(bare):
        arrays, rest = eqx.partition(element, eqx.is_array)
        shapes = tuple(x.shape for x in jax.tree.leaves(arrays))
        found.setdefault((jax.tree.structure(arrays), tuple(jax.tree.leaves(rest)), shapes), []).append(k)
    groups = []
    for members in found.values():
        arrays, rest = zip(*(eqx.partition(bare[k], eqx.is_array) for k in members), strict=True)
        frames = [[_from_com(port, bodies) for port in elements[k].ports] for k in members]
        groups.append(
            Group(
                element=eqx.combine(jax.tree.map(lambda *x: jnp.stack(x), *arrays), rest[0]),
                frames=tuple(jax.tree.map(lambda *x: jnp.stack(x), *ports) for ports in zip(*frames, strict=True)),
                bodies=tuple(
                    tuple(bodies[b][0] if b != GROUND else ground for b in elements[k].bodies) for k in members
                ),
                order=tuple(members),
            )
        )
    return tuple(groups)


def _from_com(port, bodies) -> Pose:
    if port.body == GROUND:
        return port.frame
    return Pose(port.frame.p - bodies[port.body][1].com, port.frame.R)
