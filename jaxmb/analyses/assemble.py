"""From a rough guess to a state that closes every joint."""

from collections.abc import Mapping, Sequence

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Bool

from ..errors import ModelError, did_you_mean, is_concrete, unknown_name
from ..formulations.pivoting import dependent_speeds
from ..joints import Driver, Joint
from ..ports import GROUND
from ..scaling import scaling_of
from ..spatial import Pose, rotation_about
from ..state import State
from ..system import System
from .closing import CLOSED, CORRECTIONS, Closed, Correction, close
from .messages import in_units

#: Angle (rad) at which joints are put before the loops are closed, so that no links are aligned by accident.
BEND = 0.5


def assemble_state(
    system: System,
    guess: State | None = None,
    *,
    hold: Mapping[str, object] | None = None,
    rates: Mapping[str, object] | None = None,
    correction: str = "inertia",
    independent: Sequence[str] | None = None,
) -> State:
    """A state near `guess` that satisfies the constraints on positions and speeds.

    `hold` fixes joint coordinates (rad, m), `rates` the rates of joint coordinates (rad/s, m/s), by the name of the joint, or as
    'shaft.angle' if it has several. Without a guess, bodies that have no place are lined up joint by joint from the ground;
    which of several closures is found depends on the guess.

    Positions are corrected step by step and speeds at once. Of all corrections the one taken is that of least kinetic energy
    (`correction="inertia"`), of the smallest sum of squares (`"minimum-norm"`, lengths as parts of the mechanism's size), or the
    smallest one that leaves the speeds named by `independent` (as 'crank.v6'; default: found by full pivoting) and what they move
    as they are in the guess (`"independent"`). Dependent rows are allowed.

    Differentiable with respect to every number of the system, `guess`, `hold` and `rates`; where freedom is left, the
    derivative is the correction of the same kind. When the joints cannot be closed, an error says which stays open by how
    much (inside jit: a state of NaN).
    """
    hold, rates = ({key: jnp.asarray(x, float) for key, x in (given or {}).items()} for given in (hold, rates))
    if correction not in CORRECTIONS:
        raise ModelError(
            f"assemble_state was asked for correction '{correction}'. There are: {', '.join(CORRECTIONS)}."
            f"{did_you_mean(correction, CORRECTIONS)}"
        )
    dependent = _dependent(system, correction, independent)
    positions = system.with_joints(**_drivers(system, hold))
    moving = system.with_joints(**_drivers(system, dict.fromkeys(rates, 0.0)))
    start = _line_up(system, hold) if guess is None else guess
    _check_guess(system, start)
    found = _close(positions, start.t, start.q, correction, dependent)
    if is_concrete(found.Phi) and not bool(found.closed):
        raise ModelError(_open_joint(positions, found, hold, independent))
    q = jnp.where(found.closed, found.q, jnp.nan)
    v, missed = _move(moving, start.t, q, start.v, rates, correction, dependent)
    if is_concrete(missed) and not np.max(np.abs(missed), initial=0.0) <= CLOSED:
        raise ModelError(_contradiction(moving, np.asarray(missed), rates, independent))
    return State(start.t, q, jnp.where(jnp.max(jnp.abs(missed), initial=0.0) <= CLOSED, v, jnp.nan))


def _dependent(system: System, correction: str, independent: Sequence[str] | None) -> Bool[Array, " n"] | None:
    """The speeds that were not named as independent; None if the choice is left to pivoting."""
    if independent is None:
        return None
    if correction != "independent":
        raise ModelError(
            f"assemble_state was given independent={list(independent)}, which correction='{correction}' does not use. Give "
            "correction='independent'."
        )
    names = system.equations().speed_names
    for name in independent:
        if name not in names:
            raise unknown_name("assemble_state was given as independent", "Speeds", name, names)
    return jnp.asarray(~np.isin(names, list(independent)))


def _coordinate(system: System, key: str) -> tuple[str, str]:
    """Joint and coordinate of 'joint' or 'joint.coordinate'."""
    name, _, coordinate = (key, "", "") if key in system.joints or "." not in key else key.rpartition(".")
    joint = system.joint(name)
    kind, names = type(joint).__name__, joint.coordinates
    if not names:
        raise ModelError(
            f"assemble_state was given a value for joint '{name}', a {kind} without coordinates. Name another."
        )
    if not coordinate and len(names) == 1:
        return name, names[0]
    if coordinate not in names:
        choice = ", ".join(f"'{name}.{x}'" for x in names)
        raise ModelError(
            f"assemble_state was given a value for '{key}', but joint '{name}' ({kind}) has the coordinates {choice}."
            f"{did_you_mean(coordinate, names)}"
        )
    return name, coordinate


def _drivers(system: System, values: Mapping[str, ArrayLike]) -> dict[str, Joint]:
    chosen = {key: _coordinate(system, key) for key in values}
    return {_held(key): Driver(chosen[key][0], value, coordinate=chosen[key][1]) for key, value in values.items()}


def _held(key: str) -> str:
    return f"hold {key}"


def _check_guess(system: System, guess: State) -> None:
    kinds = system.coordinates.values()
    wanted = (sum(kind.nq for kind in kinds),), (sum(kind.nv for kind in kinds),)
    if (guess.q.shape, guess.v.shape) != wanted:
        raise ModelError(
            f"assemble_state was given a guess with q, v of shapes {guess.q.shape}, {guess.v.shape}, but this system has "
            f"{wanted[0]}, {wanted[1]}. Make it with this system's state(), or convert it."
        )
    if is_concrete(guess) and not np.all([np.all(np.isfinite(x)) for x in (guess.t, guess.q, guess.v)]):
        raise ModelError("assemble_state was given a guess with numbers that are not finite. Give finite t, q and v.")


@eqx.filter_jit
def _close(system: System, t, q, correction: str, dependent) -> Closed:
    return close(system.equations(), t, q, correction, dependent)


@eqx.filter_jit
def _move(system: System, t, q, v, rates, correction: str, dependent):
    """The speeds nearest to v that satisfy the constraints, with given rates of joint coordinates, and by how much they do not
    (relative to the speeds)."""
    equations = system.equations()
    terms = equations.terms(t, q, v)
    if not equations.row_names:
        return v, terms.Phi
    scaling = scaling_of(equations, q, terms.J)
    if correction == "independent" and dependent is None:
        dependent = dependent_speeds(terms.J * scaling.columns[None, :])
    wanted = jnp.zeros_like(terms.Phi)
    for key, rate in rates.items():
        wanted = wanted.at[equations.row_names.index(f"{_held(key)}.drive")].set(rate)
    before = terms.Phi_dot - wanted
    change = Correction(correction, scaling, dependent).newton(terms.mass, terms.J, before)
    missed = scaling.residual(terms.J, before + terms.J @ change)
    speeds = jnp.concatenate([(v + change) / scaling.columns, scaling.residual(terms.J, before)])
    return v + change, missed / jnp.maximum(jnp.max(jnp.abs(speeds)), 1e-300)


def _line_up(system: System, hold: Mapping[str, object]) -> State:
    """The reference state, with bodies that have no place put where a joint to a placed body puts them."""
    held = {_coordinate(system, key): value for key, value in hold.items()}
    placed = {name: body.pose for name, body in system.bodies.items() if body.placed}
    placed[GROUND] = Pose(jnp.zeros(3), jnp.eye(3))
    left = [joint for joint in system.joints.items() if len(joint[1].ports) == 2 and not isinstance(joint[1], Driver)]
    while True:
        ready = next(((n, j) for n, j in left if (j.bodies[0] in placed) != (j.bodies[1] in placed)), None)
        if ready is None:
            break
        name, joint = ready
        first, second = joint.bodies
        F, G = (port.frame for port in joint.ports)  # pyright: ignore[reportAttributeAccessIssue]
        between = _between(joint, held.get((name, "angle")), held.get((name, "distance")))
        if first in placed:
            placed[second] = placed[first] @ F @ between @ G.inverse()
        else:
            placed[first] = placed[second] @ G @ between.inverse() @ F.inverse()
    bodies = {
        name: eqx.tree_at(lambda b: b.pose, body, placed.get(name, body.pose)) for name, body in system.bodies.items()
    }
    return System(bodies, system.joints, system.forces, coordinates=system.coordinates).state()


def _between(joint: Joint, angle, distance) -> Pose:
    """Pose of the second frame in the first with the held coordinates, or bent."""
    turns = "angle" in joint.coordinates or not joint.coordinates
    angle = (BEND if turns else 0.0) if angle is None else angle
    distance = (0.0 if turns else BEND) if distance is None else distance
    along = jnp.stack([jnp.zeros(()), jnp.zeros(()), jnp.asarray(distance, float)])
    return Pose(along, rotation_about(2, jnp.asarray(angle, float)))


def _open_joint(system: System, found: Closed, hold: Mapping[str, object], independent: Sequence[str] | None) -> str:
    rows, Phi = system.equations().row_names, np.asarray(found.Phi)
    owners = [row.rpartition(".")[0] for row in rows]
    if not np.all(np.isfinite(Phi)):
        bad = owners[int(np.argmin(np.isfinite(Phi)))]
        return f"assemble_state cannot evaluate joint '{bad}': its residual is not finite. Check its numbers and the guess."
    lengths = np.asarray(found.correction.scaling.lengths(found.J))
    # What was held, and the coordinates' own rows, give way as the joints do, but it is the joints that are open.
    joints = [name for name in system.joints if name not in map(_held, hold)]
    residual = np.abs(found.residual)
    ours = np.where(np.isin(owners, joints), residual, 0.0)
    worst = int(np.argmax(ours if np.max(ours) > CLOSED else residual))
    off = {key: owners.index(_held(key)) for key in hold}
    held = [f"{key}, itself off by {in_units(abs(Phi[i]), bool(lengths[i]))}" for key, i in off.items()]
    kept = [f"{', '.join(independent)} as independent"] if independent else []
    owner = owners[worst]
    what = f"close joint '{owner}'" if owner in system.joints else f"put body '{owner}' into its coordinates"
    return (
        f"assemble_state could not {what}: row {rows[worst].rpartition('.')[2]} stays open by "
        f"{in_units(abs(Phi[worst]), bool(lengths[worst]))} (held: {'; '.join([*held, *kept]) or 'nothing'}). Check that the "
        "lengths allow it, hold other values, or give a guess nearer to the closed mechanism."
    )


def _contradiction(
    system: System, missed: np.ndarray, rates: Mapping[str, object], independent: Sequence[str] | None
) -> str:
    rows = system.equations().row_names
    given = [f"rates of {', '.join(rates)}"] if rates else []
    given += [f"speeds kept: {', '.join(independent)}"] if independent else []
    asked = "; ".join(given) or "only moving constraints"
    if not np.all(np.isfinite(missed)):
        return f"assemble_state found no speeds: a rate is not finite (given: {asked}). Give finite rates."
    chosen = [rows.index(f"{_held(key)}.drive") for key in rates] or range(len(rows))
    worst = max(chosen, key=lambda i: abs(missed[i]))
    name = rows[worst].removeprefix("hold ").removesuffix(".drive")
    return (
        "assemble_state found no speeds that satisfy the constraints: what was given contradicts the joints or itself "
        f"({asked}). The nearest speeds miss '{name}' by {abs(missed[worst]):.1e} of the speeds. Give less, or what agrees."
    )
