"""A motion over time, and its quantities by name."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .distribution import compliances_of, share
from .errors import ModelError, did_you_mean, unknown_name
from .outputs import BodyMotion, PointMotion, Reaction, body_motions, joint_coordinates, point_motion, reactions
from .state import State

#: A row takes part in a dependency if its share is larger than this part of the largest one.
TAKES_PART = 0.05


class JointMotion(eqx.Module):
    """Coordinates of a joint over time by name, as `.angle` (rad, continuous over turns) and `.angle_rate` (rad/s)."""

    names: tuple[str, ...] = eqx.field(static=True)
    values: Float[Array, "*batch k"]
    rates: Float[Array, "*batch k"]

    def __getattr__(self, name: str) -> Float[Array, "*batch"]:
        names = object.__getattribute__(self, "names")
        if name in names:
            values = self.values[..., names.index(name)]
            return jnp.unwrap(values) if name.startswith("angle") and values.ndim else values
        if name.endswith("_rate") and name[:-5] in names:
            return self.rates[..., names.index(name[:-5])]
        options = [*names, *(f"{n}_rate" for n in names)]
        raise AttributeError(f"Joint has no '{name}'. It has: {', '.join(options)}.{did_you_mean(name, options)}")


class Trajectory(eqx.Module):
    """Times `t` (s), and positions `q`, speeds `v` and accelerations `a` (rates of `v`) of a system at them."""

    t: eqx.AbstractVar[Float[Array, "*batch times"]]
    q: eqx.AbstractVar[Float[Array, "*batch times nq"]]
    v: eqx.AbstractVar[Float[Array, "*batch times nv"]]
    a: eqx.AbstractVar[Float[Array, "*batch times nv"]]
    system: eqx.AbstractVar[Any]

    @property
    def final(self) -> "Instant":
        """The last instant."""
        return self[-1]

    def __getitem__(self, k: int) -> "Instant":
        return Instant(State(self.t[k], self.q[k], self.v[k]), self.system)

    def body(self, name: str) -> BodyMotion:
        """Motion of a body by name."""
        k = _index(self.system, name)
        return jax.tree.map(lambda x: x[:, k], _bodies(self))

    def point(self, body: str, point) -> Float[Array, "times 3"]:
        """World position (m) of a point of a body: its name, or three numbers in the body frame."""
        return self.point_motion(body, point).position

    def point_motion(self, body: str, point) -> PointMotion:
        """Position, velocity and acceleration of a point of a body."""
        return jax.vmap(point_motion, in_axes=(0, None))(self.body(body), _arm(self.system, body, point))

    def joint(self, name: str) -> JointMotion:
        """Coordinates and rates of a joint by name."""
        require_coordinates(self.system, name)
        return JointMotion(self.system.joint(name).coordinates, *_joints(self)[name])

    def coordinate(self, name: str) -> Float[Array, " times"]:
        """A generalised coordinate by name, of a motion of a `GeneralizedSystem`."""
        return self.q[:, coordinate_index(self.system, name)]


class LoadedTrajectory(Trajectory):
    """A trajectory with the multipliers `lam` that make it, M a + J' lam = Q."""

    lam: eqx.AbstractVar[Float[Array, "*batch times m"]]

    def multipliers(self, name: str, *, compliance=None) -> Float[Array, "times rows"]:
        """Multipliers of the rows of a joint; for a driver, minus the motor torque (N m) or force (N).

        Redundant joints share their load in many ways: by default the multipliers are the smallest ones, with `compliance` those
        that elastic joints have (see `reaction`).
        """
        self.system.joint(name)
        rows = [k for k, row in enumerate(self.system.equations().row_names) if row.rpartition(".")[0] == name]
        return self._lam(compliance)[:, rows[0] : rows[-1] + 1]

    def reaction(self, name: str, *, frame: str = "world", port: int = 1, compliance=None) -> Reaction:
        """Force and torque of a joint on its second body (`port=0`: on its first), in world axes or those of a body.

        Where redundant joints share a load (`unique` is False), the smallest multipliers are taken, or with `compliance` those
        that elastic joints have: translational (m/N) and rotational (rad/(N m)) compliances, one pair for all joints or pairs by
        joint name. Only their ratios matter, so they may also be seen as weights.
        """
        joint = self.system.joint(name)
        if not 0 <= port < len(joint.ports):
            raise ModelError(f"Joint '{name}' has ports 0 to {len(joint.ports) - 1}, but port {port} was asked for.")
        reaction = _reactions(self, self._lam(compliance))[name][port]
        if frame in ("world", "ground"):
            return reaction
        R = self.body(frame).rotation
        turn = jax.vmap(lambda R, x: R.T @ x)
        return Reaction(turn(R, reaction.force), turn(R, reaction.torque), reaction.unique)

    def _lam(self, compliance) -> Float[Array, "times m"]:
        return self.lam if compliance is None else _shared(self, compliances_of(self.system, compliance))


class SampledMotion(Trajectory):
    """A motion given by its numbers: measured, optimised, or from another program. Rows are instants; `q`, `v` and `a` (the rates
    of `v`) are in the coordinates of `system`."""

    t: Float[Array, "*batch times"]
    q: Float[Array, "*batch times nq"]
    v: Float[Array, "*batch times nv"]
    a: Float[Array, "*batch times nv"]
    system: Any


class Instant(eqx.Module):
    """One instant of a motion."""

    state: State
    system: Any

    @property
    def t(self) -> Float[Array, ""]:
        return self.state.t

    @property
    def q(self) -> Float[Array, " nq"]:
        return self.state.q

    @property
    def v(self) -> Float[Array, " nv"]:
        return self.state.v

    def point(self, body: str, point) -> Float[Array, "3"]:
        """World position (m) of a point of a body."""
        return self._point(self.q, body, point)

    def velocity(self, body: str, point="com") -> Float[Array, "3"]:
        """World velocity (m/s) of a point of a body."""
        qdot = self.system.equations().qdot(self.q, self.v)
        return jax.jvp(lambda q: self._point(q, body, point), (self.q,), (qdot,))[1]

    def joint(self, name: str) -> JointMotion:
        """Coordinates and rates of a joint by name (an angle between -pi and pi)."""
        require_coordinates(self.system, name)
        return JointMotion(self.system.joint(name).coordinates, *joint_coordinates(self.system, self.q, self.v)[name])

    def coordinate(self, name: str) -> Float[Array, ""]:
        """A generalised coordinate by name, of a `GeneralizedSystem`."""
        return self.q[coordinate_index(self.system, name)]

    def _point(self, q, body: str, point) -> Float[Array, "3"]:
        k = _index(self.system, body)
        poses = self.system.equations().poses(q)
        return poses.p[k] + poses.R[k] @ _arm(self.system, body, point)

    def position(self, body: str) -> Float[Array, "3"]:
        """World position (m) of the centre of mass of a body."""
        return self.point(body, "com")


def require_coordinates(system, name: str) -> None:
    """Raise unless a joint has coordinates."""
    joint = system.joint(name)
    if not joint.coordinates:
        raise ModelError(
            f"Joint '{name}' is a {type(joint).__name__}, which has no coordinates. Ask for points of its bodies."
        )


def coordinate_index(system, name: str) -> int:
    """Place of a generalised coordinate in q."""
    names = getattr(system, "coordinates", ())
    if not isinstance(names, tuple):
        raise ModelError(
            f"Asked for coordinate '{name}' of a System of bodies. Use body(...), joint(...) or point(...)."
        )
    if name not in names:
        raise unknown_name("Asked for coordinate", "Coordinates", name, names)
    return names.index(name)


def joints_of(system, shares: Float[Array, " m"]) -> tuple[str, ...]:
    """The joints whose rows have a share in something, by the share of each row."""
    parts = np.asarray(shares)
    rows = system.equations().row_names
    chosen = [row for row, part in zip(rows, parts, strict=True) if part > TAKES_PART * parts.max(initial=0.0)]
    return tuple(dict.fromkeys(row.rpartition(".")[0] for row in chosen))


def _index(system, name: str) -> int:
    system.body(name)
    return list(system.bodies).index(name)


def _arm(system, body: str, point) -> Float[Array, "3"]:
    """A point of a body from its centre of mass."""
    owner = system.body(body)
    if isinstance(point, str):
        if point not in owner.points:
            raise unknown_name(f"Asked for point of body '{body}' named", "Points", point, owner.points)
        point = owner.points[point]
    return jnp.asarray(point, float) - owner.com


@eqx.filter_jit
def _bodies(motion: Trajectory) -> BodyMotion:
    equations = motion.system.equations()
    return jax.vmap(lambda q, v, a: body_motions(equations, q, v, a))(motion.q, motion.v, motion.a)


@eqx.filter_jit
def _joints(motion: Trajectory):
    return jax.vmap(lambda q, v: joint_coordinates(motion.system, q, v))(motion.q, motion.v)


@eqx.filter_jit
def _reactions(motion: LoadedTrajectory, lam):
    return jax.vmap(lambda t, q, v, lam: reactions(motion.system, t, q, v, lam))(motion.t, motion.q, motion.v, lam)


@eqx.filter_jit
def _shared(motion: LoadedTrajectory, compliances) -> Float[Array, "times m"]:
    return jax.vmap(lambda t, q, v, lam: share(motion.system, t, q, v, lam, compliances))(
        motion.t, motion.q, motion.v, motion.lam
    )
