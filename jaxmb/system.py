"""A mechanism as a frozen pytree: bodies, joints and forces by name, every physical number a leaf."""

import itertools
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .body import Body, vector
from .coordinates import Coordinates, Planar, PointMass, Quaternion
from .errors import ModelError, is_concrete, unknown_name
from .forces import Force, Gravity
from .forces.gravity import total
from .groups import group_elements
from .joints import Joint
from .packed import BodyGroup, Packed
from .ports import GROUND
from .spatial import Pose, Vec3, inverse
from .state import State


class System(eqx.Module):
    """Bodies, joints and forces by name.

    `coordinates` is one kind for all bodies (default `Quaternion()`), or a mapping from body names to kinds in which
    bodies not named get the default. Names are unique over bodies, joints and forces, and "ground" is the world.
    Geometry is resolved here; to change it, call the function that builds the system again (inside jit, grad and vmap
    too).
    """

    bodies: dict[str, Body]
    joints: dict[str, Joint]
    forces: dict[str, Force | Gravity]
    coordinates: dict[str, Coordinates]

    def __init__(
        self,
        bodies: Mapping[str, Body],
        joints: Mapping[str, Joint] | None = None,
        forces: Mapping[str, Force | Gravity] | None = None,
        *,
        coordinates: Coordinates | Mapping[str, Coordinates] | None = None,
    ):
        joints, forces = joints or {}, forces or {}
        _check_kinds(bodies, joints, forces)
        _check_names(bodies, joints, forces)
        # A plain dict comes out of every jit in alphabetical order, and the order of the bodies is that of q and v.
        self.coordinates = OrderedDict(_kinds(bodies, coordinates))
        self.bodies = OrderedDict(sorted(bodies.items(), key=lambda item: _kind_order(self.coordinates, item[0])))
        for name, body in self.bodies.items():
            problem = body.problem(_needs_inertia(self.coordinates[name])) or _misplaced(body, self.coordinates[name])
            if problem:
                raise ModelError(f"Body '{name}' {problem}.")
        attached: dict[str, Joint] = {}
        # Elements that refer to joints by name (drivers, gears) come after the joints they refer to.
        for name in sorted(joints, key=lambda n: not joints[n].ports):
            attached[name] = _attach(f"Joint '{name}'", joints[name], self.bodies, attached)
        self.joints = OrderedDict((name, attached[name]) for name in joints)
        self.forces = OrderedDict(
            (name, force if isinstance(force, Gravity) else _attach(f"Force '{name}'", force, self.bodies, self.joints))
            for name, force in forces.items()
        )

    def with_joints(self, **joints: Joint) -> "System":
        """A copy with more joints (or drivers)."""
        _check_names(self.bodies, self.joints, self.forces, extra=joints)
        return System(self.bodies, self.joints | joints, self.forces, coordinates=self.coordinates)

    def with_forces(self, **forces: Force | Gravity) -> "System":
        """A copy with more forces."""
        _check_names(self.bodies, self.joints, self.forces, extra=forces)
        return System(self.bodies, self.joints, self.forces | forces, coordinates=self.coordinates)

    def with_coordinates(self, coordinates: Coordinates | Mapping[str, Coordinates]) -> "System":
        """The same mechanism in other coordinates."""
        return System(self.bodies, self.joints, self.forces, coordinates=coordinates)

    def state(
        self, *, velocity: Mapping[str, object] | None = None, omega: Mapping[str, object] | None = None, t=0.0
    ) -> State:
        """The reference configuration, at rest but for the given world velocities of the centres of mass (m/s) and
        angular velocities (rad/s, world axes) of bodies by name."""
        given = {"velocity": velocity or {}, "omega": omega or {}}
        for name in itertools.chain(*given.values()):
            self.body(name)
        moving = {
            what: {name: vector(value, f"{what} of '{name}'") for name, value in values.items()}
            for what, values in given.items()
        }
        return self._reference_state(moving["velocity"], moving["omega"], jnp.asarray(t, float))

    @eqx.filter_jit
    def _reference_state(self, velocity: dict[str, Vec3], omega: dict[str, Vec3], t) -> State:
        poses = [Pose(body.pose.p + body.pose.R @ body.com, body.pose.R) for body in self.bodies.values()]
        still = jnp.zeros(3)
        twists = [
            jnp.concatenate([velocity.get(name, still), pose.R.T @ omega.get(name, still)])
            for name, pose in zip(self.bodies, poses, strict=True)
        ]
        return self._in_coordinates(jax.tree.map(lambda *x: jnp.stack(x), *poses), jnp.stack(twists), t)

    def convert(self, state: State, source: "System") -> State:
        """A state of `source`, which is the same mechanism in other coordinates, in those of this system."""
        if set(source.bodies) != set(self.bodies):
            raise ModelError(
                f"convert was given a state of another system: its bodies are {', '.join(source.bodies)}, not "
                f"{', '.join(self.bodies)}. Convert between systems made by with_coordinates."
            )
        return self._converted(state, source)

    @eqx.filter_jit
    def _converted(self, state: State, source: "System") -> State:
        equations = source.equations()
        order = np.array([list(source.bodies).index(name) for name in self.bodies])
        poses = jax.tree.map(lambda x: x[order], equations.poses(state.q))
        return self._in_coordinates(poses, equations.twists(state.q, state.v)[order], state.t)

    def _in_coordinates(self, poses: Pose, twists: Float[Array, "bodies 6"], t) -> State:
        q, v, start = [], [], 0
        for group in self._groups():
            part = slice(start, start + group.count)
            q.append(jax.vmap(group.kind.from_pose)(Pose(poses.p[part], poses.R[part])))
            v.append(jax.vmap(group.kind.from_twist)(q[-1], twists[part]))
            start = part.stop
        q, v = (jnp.concatenate([part.reshape(-1) for part in parts]) for parts in (q, v))
        return State(jnp.asarray(t, float), q, v)

    def body(self, name: str) -> Body:
        if name not in self.bodies:
            raise unknown_name("Asked for body", "Bodies", name, self.bodies)
        return self.bodies[name]

    def joint(self, name: str) -> Joint:
        if name not in self.joints:
            raise unknown_name("Asked for joint", "Joints", name, self.joints)
        return self.joints[name]

    def equations(self) -> Packed:
        """The packed form: stacked and indexed, made once before a time loop."""
        numbers = {name: k for k, name in enumerate(self.bodies)}
        com = jnp.stack([*(body.com for body in self.bodies.values()), jnp.zeros(3)])
        joints = list(self.joints.values())
        kinds = [self.coordinates[name] for name in self.bodies]
        mass = jnp.stack([body.mass for body in self.bodies.values()])
        inertia = jnp.stack([body.inertia for body in self.bodies.values()])
        # Rotations without inertia (point masses, the plane) do not enter any M, but would make its inverse NaN here.
        turns = np.array([bool(_needs_inertia(kind) == "xyz") for kind in kinds])[:, None, None]
        inverse_inertia = inverse(jnp.where(turns, inertia, jnp.broadcast_to(jnp.eye(3), inertia.shape)))
        blocks = jax.vmap(lambda m, J: jnp.zeros((6, 6)).at[:3, :3].set(jnp.eye(3) / m).at[3:, 3:].set(J))(
            mass, inverse_inertia
        )
        forces = [force for force in self.forces.values() if not isinstance(force, Gravity)]
        return Packed(
            groups=self._groups(),
            joints=group_elements(joints, numbers, com),
            forces=group_elements(forces, numbers, com),
            mass=mass,
            inertia=inertia,
            inverse=blocks,
            gravity=total([force for force in self.forces.values() if isinstance(force, Gravity)]),
            names=(self._row_names(), self._speed_names(), tuple(self.bodies)),
            rows_of=tuple(joint.nrows for joint in joints),
        )

    def _groups(self) -> tuple[BodyGroup, ...]:
        kinds = itertools.groupby(self.coordinates[name] for name in self.bodies)
        return tuple(BodyGroup(kind, len(list(run))) for kind, run in kinds)

    def _row_names(self) -> tuple[str, ...]:
        names = [
            f"{name}.{row}" for name, joint in self.joints.items() for row in (joint.rows or range(1, joint.nrows + 1))
        ]
        return tuple(names + [f"{name}.{row}" for name in self.bodies for row in self.coordinates[name].own_rows])

    def _speed_names(self) -> tuple[str, ...]:
        return tuple(f"{name}.v{k + 1}" for name in self.bodies for k in range(self.coordinates[name].nv))


def _attach(what: str, element, bodies, joints) -> Any:
    if not element.attached:
        return element.attach(what, bodies, joints)
    for body in element.bodies:
        if body != GROUND and body not in bodies:
            raise unknown_name(f"{what} connects to body", "Bodies", body, [GROUND, *bodies])
    return element


def _check_kinds(bodies, joints, forces) -> None:
    wanted = (("body", bodies, Body), ("joint", joints, Joint), ("force", forces, (Force, Gravity)))
    for what, mapping, classes in wanted:
        if not isinstance(mapping, Mapping):
            raise ModelError(f"System needs its {what} objects by name, as a dict, but got {type(mapping).__name__}.")
        for name, value in mapping.items():
            if not isinstance(value, classes):
                raise ModelError(
                    f"System has '{name}' as a {what}, but it is a {type(value).__name__}. Put it where it belongs."
                )
    if not bodies:
        raise ModelError(
            "System has no bodies. Give at least one, for example bodies={'link': rod(length=1.0, mass=1.0)}."
        )


def _check_names(bodies, joints, forces, extra: Mapping[str, object] | None = None) -> None:
    seen: dict[str, str] = {GROUND: "the ground"}
    for what, names in (("a body", bodies), ("a joint", joints), ("a force", forces), ("another element", extra or {})):
        for name in names:
            if name in seen:
                raise ModelError(
                    f"Name '{name}' is used twice: for {seen[name]} and for {what}. Names are unique over bodies, "
                    "joints and forces; rename one."
                )
            seen[name] = what


def _kinds(bodies, coordinates) -> dict[str, Coordinates]:
    if coordinates is None:
        coordinates = Quaternion()
    if isinstance(coordinates, Coordinates):
        return dict.fromkeys(bodies, coordinates)
    if not isinstance(coordinates, Mapping):
        raise ModelError(
            f"System coordinates is {coordinates!r}; give a kind such as Quaternion(), or a dict of kinds by body name."
        )
    for name, kind in coordinates.items():
        if name not in bodies:
            raise unknown_name("coordinates names body", "Bodies", name, bodies)
        if not isinstance(kind, Coordinates):
            raise ModelError(f"System coordinates of body '{name}' is {kind!r}; give a kind such as Quaternion().")
    return {name: coordinates.get(name, Quaternion()) for name in bodies}


def _kind_order(kinds: dict[str, Coordinates], name: str) -> int:
    """Bodies of one kind stand together, so that a kind's speeds are one block."""
    return list(dict.fromkeys(kinds.values())).index(kinds[name])


def _misplaced(body: Body, kind: Coordinates) -> str | None:
    """Where a body stands that its coordinates cannot put there (only points and planar bodies can be misplaced)."""
    if not isinstance(kind, Planar | PointMass) or not is_concrete(body.com, body.pose):
        return None
    com, nearest = _nearest(kind, body)
    if np.allclose(nearest.p, com.p, atol=1e-9) and np.allclose(nearest.R, com.R, atol=1e-9):
        return None
    return (
        f"stands at {np.asarray(com.p).tolist()} m with the rotation {np.asarray(com.R).tolist()}, which "
        f"{type(kind).__name__} coordinates cannot express; place it where they can, or use Quaternion()"
    )


@eqx.filter_jit
def _nearest(kind: Coordinates, body: Body) -> tuple[Pose, Pose]:
    """Where a body's centre of mass frame is, and where its coordinates put it."""
    com = body.pose @ Pose(body.com, jnp.eye(3))
    return com, kind.pose(kind.from_pose(com))


def _needs_inertia(kind: Coordinates) -> str:
    if isinstance(kind, PointMass):
        return ""
    return "z" if isinstance(kind, Planar) else "xyz"
