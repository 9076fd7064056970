"""What came out of a run, with named outputs."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from .errors import ModelError, did_you_mean, unknown_name
from .outputs import (
    BodyMotion,
    PointMotion,
    Reaction,
    accelerate,
    body_motions,
    joint_coordinates,
    point_motion,
    reactions,
)
from .state import State
from .status import Status

#: A row takes part in a dependency if its share is larger than this part of the largest one.
TAKES_PART = 0.05


class Stats(eqx.Module):
    """Counts of a run: accepted steps, rejected ones, evaluations of the right-hand side (-1: the solver does not say), and
    Newton iterations of the stabilization."""

    steps: Int[Array, "*batch"]
    rejected: Int[Array, "*batch"]
    right_hand_sides: Int[Array, "*batch"]
    newton_iterations: Int[Array, "*batch"]


class Energy(eqx.Module):
    """Energies (J) over time; `work` is what forces without potential and moving constraints have put in since the start,
    so that total - work is constant."""

    kinetic: Float[Array, "*batch"]
    potential: Float[Array, "*batch"]
    work: Float[Array, "*batch"]

    @property
    def total(self) -> Float[Array, "*batch"]:
        return self.kinetic + self.potential


class Violation(eqx.Module):
    """Euclidean norms of Phi, Phi_dot and J a - gamma over time."""

    position: Float[Array, "*batch"]
    velocity: Float[Array, "*batch"]
    acceleration: Float[Array, "*batch"]


class JointMotion(eqx.Module):
    """Coordinates of a joint over time by name, as `.angle` (rad, continuous over turns) and `.angle_rate` (rad/s)."""

    names: tuple[str, ...] = eqx.field(static=True)
    values: Float[Array, "*batch k"]
    rates: Float[Array, "*batch k"]

    def __getattr__(self, name: str) -> Float[Array, "*batch"]:
        names = object.__getattribute__(self, "names")
        if name in names:
            values = self.values[:, names.index(name)]
            return jnp.unwrap(values) if name.startswith("angle") else values
        if name.endswith("_rate") and name[:-5] in names:
            return self.rates[:, names.index(name[:-5])]
        options = [*names, *(f"{n}_rate" for n in names)]
        raise AttributeError(f"Joint has no '{name}'. It has: {', '.join(options)}.{did_you_mean(name, options)}")


class Solution(eqx.Module):
    """A motion: times `t` (s), positions `q` and speeds `v` at them, and everything that follows from these.

    Rows after the time `reached` are NaN when the run failed; `status` says how it ended.
    """

    t: Float[Array, "*batch times"]
    q: Float[Array, "*batch times nq"]
    v: Float[Array, "*batch times nv"]
    work: Float[Array, "*batch times"]
    status: Status
    stats: Stats
    reached: Float[Array, "*batch"]
    weakest: Float[Array, "*batch m"]
    """How much each constraint row takes part in the combinations of rows that were nearest to dependence at the end."""
    system: Any
    formulation: Any
    stabilization: Any

    @property
    def ok(self) -> Bool[Array, "*batch"]:
        """Whether the run reached its end."""
        return self.status == Status.successful

    @property
    def message(self) -> str:
        """How the run ended, in a sentence."""
        if bool(self.ok):
            return "Reached the end."
        lost = (self.status == Status.singular_configuration) | (self.status == Status.rank_change)
        joints = f" Joints that lose their independence: {', '.join(self.weakest_joints)}." if bool(lost) else ""
        return f"Stopped at t = {float(self.reached):.6g} s. {Status[self.status]}{joints}"

    @property
    def weakest_joints(self) -> tuple[str, ...]:
        """The joints of the rows that were nearest to dependence at the end (see `weakest`)."""
        parts = np.asarray(self.weakest)
        rows = self.system.equations().row_names
        chosen = [row for row, part in zip(rows, parts, strict=True) if part > TAKES_PART * parts.max(initial=0.0)]
        return tuple(dict.fromkeys(row.rpartition(".")[0] for row in chosen))

    @property
    def a(self) -> Float[Array, "times nv"]:
        """Accelerations (rates of `v`)."""
        return _accelerations(self)[0]

    @property
    def lam(self) -> Float[Array, "times m"]:
        """Minimum-norm multipliers, M a + J' lam = Q."""
        return _accelerations(self)[1]

    @property
    def violation(self) -> Violation:
        """Constraint violation at three levels."""
        return _violations(self)

    @property
    def energy(self) -> Energy:
        """Kinetic, potential and total energy, and work."""
        kinetic, potential = _energies(self)
        return Energy(kinetic, potential, self.work)

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
        joint = self.system.joint(name)
        if not joint.coordinates:
            raise ModelError(
                f"Joint '{name}' is a {type(joint).__name__}, which has no coordinates. Ask for points of its bodies."
            )
        return JointMotion(joint.coordinates, *_joints(self)[name])

    def multipliers(self, name: str) -> Float[Array, "times rows"]:
        """Multipliers of the rows of a joint; for a driver, minus the motor torque (N m) or force (N)."""
        self.system.joint(name)
        rows = [k for k, row in enumerate(self.system.equations().row_names) if row.rpartition(".")[0] == name]
        return self.lam[:, rows[0] : rows[-1] + 1]

    def reaction(self, name: str, *, frame: str = "world", port: int = 1) -> Reaction:
        """Force and torque of a joint on its second body (`port=0`: on its first), in world axes or those of a body."""
        joint = self.system.joint(name)
        if not 0 <= port < len(joint.ports):
            raise ModelError(f"Joint '{name}' has ports 0 to {len(joint.ports) - 1}, but port {port} was asked for.")
        reaction = _reactions(self)[name][port]
        if frame in ("world", "ground"):
            return reaction
        R = self.body(frame).rotation
        turn = jax.vmap(lambda R, x: R.T @ x)
        return Reaction(turn(R, reaction.force), turn(R, reaction.torque), reaction.unique)

    def coordinate(self, name: str) -> Float[Array, " times"]:
        """A generalised coordinate by name, of a run of a `GeneralizedSystem`."""
        names = getattr(self.system, "coordinates", ())
        if not isinstance(names, tuple):
            raise ModelError(
                f"Asked for coordinate '{name}' of a System of bodies. Use body(...), joint(...) or point(...)."
            )
        if name not in names:
            raise unknown_name("Asked for coordinate", "Coordinates", name, names)
        return self.q[:, names.index(name)]

    def to_xarray(self):
        """An `xarray.Dataset` of positions, rotations, energies, violations and joint coordinates, with units."""
        from .io.results import to_xarray

        return to_xarray(self)

    def save(self, path) -> None:
        """Write the run to one .npz file (numbers and a JSON header); `load(path, system)` reads it back."""
        from .io.results import save

        save(self, path)


class Instant(eqx.Module):
    """One instant of a motion."""

    state: State
    system: Any

    def point(self, body: str, point) -> Float[Array, "3"]:
        """World position (m) of a point of a body."""
        k = _index(self.system, body)
        poses = self.system.equations().poses(self.state.q)
        return poses.p[k] + poses.R[k] @ _arm(self.system, body, point)

    def position(self, body: str) -> Float[Array, "3"]:
        """World position (m) of the centre of mass of a body."""
        return self.point(body, "com")


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
def _accelerations(sol: Solution):
    equations = sol.system.equations()
    return jax.vmap(lambda t, q, v: accelerate(equations, sol.formulation, sol.stabilization, t, q, v)[:2])(
        sol.t, sol.q, sol.v
    )


@eqx.filter_jit
def _violations(sol: Solution) -> Violation:
    equations = sol.system.equations()

    def norms(t, q, v):
        a, _, terms = accelerate(equations, sol.formulation, sol.stabilization, t, q, v)
        return Violation(*(jnp.sqrt(jnp.sum(x**2)) for x in (terms.Phi, terms.Phi_dot, terms.J @ a - terms.gamma)))

    return jax.vmap(norms)(sol.t, sol.q, sol.v)


@eqx.filter_jit
def _energies(sol: Solution):
    return jax.vmap(sol.system.equations().energies)(sol.q, sol.v)


@eqx.filter_jit
def _bodies(sol: Solution) -> BodyMotion:
    return jax.vmap(lambda q, v, a: body_motions(sol.system.equations(), q, v, a))(sol.q, sol.v, sol.a)


@eqx.filter_jit
def _joints(sol: Solution):
    return jax.vmap(lambda q, v: joint_coordinates(sol.system, q, v))(sol.q, sol.v)


@eqx.filter_jit
def _reactions(sol: Solution):
    return jax.vmap(lambda t, q, v, lam: reactions(sol.system, t, q, v, lam))(sol.t, sol.q, sol.v, sol.lam)
