"""From a rough guess to a state that closes every joint."""

from collections.abc import Mapping, Sequence

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from ..errors import ModelError, did_you_mean, is_concrete, unknown_name
from ..formulations.pivoting import dependent_speeds
from ..joints import Driver, Joint
from ..ports import GROUND
from ..scaling import scaling_of
from ..spatial import Pose, rotation_about
from ..state import State
from ..system import System
from ..terms import Equations
from .closing import CLOSED, CORRECTIONS, Closed, close, directions, newton_step
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

    `hold` fixes joint coordinates by joint name (rad, m), `rates` the rates of joint coordinates (rad/s, m/s). Without a guess,
    bodies that have no place are lined up joint by joint from the ground; which of several closures is found depends on the
    guess. Of all corrections of positions and speeds the one taken is that of least kinetic energy
    (`correction="inertia"`), of the smallest sum of squares (`"minimum-norm"`, lengths as parts of the mechanism's size), or the one
    that keeps the coordinates named by `independent` (as 'crank.v6'; default: found by full pivoting) as they are in the guess
    (`"independent"`). Dependent rows are allowed.

    Differentiable with respect to every number of the system, `guess`, `hold` and `rates`; where freedom is left, the
    derivative is the correction of the same kind. When the joints cannot be closed, an error says which stays open by how
    much (inside jit: a state of NaN).
    """
    hold, rates = dict(hold or {}), dict(rates or {})
    for name in [*hold, *rates]:
        if not system.joint(name).coordinates:
            raise ModelError(
                f"assemble_state was told to hold joint '{name}', a {type(system.joint(name)).__name__} without coordinates."
            )
    if correction not in CORRECTIONS:
        raise ModelError(
            f"assemble_state was asked for correction '{correction}'. There are: {', '.join(CORRECTIONS)}."
            f"{did_you_mean(correction, CORRECTIONS)}"
        )
    kept = _kept(system, correction, independent)
    start = _line_up(system, hold) if guess is None else guess
    positions = _with_drivers(system, hold)
    found = _close(positions, start.t, start.q, correction, kept)
    if is_concrete(found.Phi) and not bool(found.closed):
        raise ModelError(_open_joint(positions, found, hold))
    q = jnp.where(found.closed, found.q, jnp.nan)
    moving = _with_drivers(system, dict.fromkeys(rates))
    given = {name: jnp.asarray(x, float) for name, x in rates.items()}
    v, missed = _move(moving, start.t, q, start.v, given, correction, kept)
    if is_concrete(missed) and not np.max(np.abs(missed), initial=0.0) <= CLOSED:
        raise ModelError(_contradiction(moving, np.asarray(missed), rates))
    return State(start.t, q, jnp.where(jnp.max(jnp.abs(missed), initial=0.0) <= CLOSED, v, jnp.nan))


def _kept(system: System, correction: str, independent: Sequence[str] | None) -> np.ndarray | None:
    """Which speeds were named as independent; None if the choice is left to pivoting."""
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
    return np.isin(names, list(independent))


def _with_drivers(system: System, values: Mapping[str, object]) -> System:
    drivers = {
        _held(name): Driver(name, 0.0 if value is None else jnp.asarray(value, float)) for name, value in values.items()
    }
    return system.with_joints(**drivers)


def _held(name: str) -> str:
    return f"hold {name}"


@eqx.filter_jit
def _close(system: System, t, q, correction: str, kept) -> Closed:
    equations = system.equations()
    return close(equations, t, q, correction, _dependent(equations, t, q, correction, kept))


@eqx.filter_jit
def _move(system: System, t, q, v, rates, correction: str, kept):
    """The speeds nearest to v that satisfy the constraints, with given rates of joint coordinates, and by how much they do not
    (relative to the speeds)."""
    equations = system.equations()
    terms = equations.terms(t, q, v)
    if not equations.row_names:
        return v, terms.Phi
    scaling = scaling_of(equations, q, terms.J)
    wanted = jnp.zeros_like(terms.Phi)
    for name, rate in rates.items():
        wanted = wanted.at[equations.row_names.index(f"{_held(name)}.drive")].set(rate)
    S = directions(correction, terms, scaling, _dependent(equations, t, q, correction, kept))
    moved = v + newton_step(terms.J, terms.Phi_dot - wanted, S)
    left = scaling.residual(terms.J, equations.terms(t, q, moved).Phi_dot - wanted)
    asked = jnp.maximum(jnp.max(jnp.abs(moved / scaling.columns)), jnp.max(jnp.abs(scaling.residual(terms.J, wanted))))
    return moved, left / jnp.where(asked > 0, asked, 1.0)


def _dependent(equations: Equations, t, q, correction: str, kept):
    """The speeds that move, where the others do not."""
    if correction != "independent":
        return None
    if kept is not None:
        return jnp.asarray(~kept)
    terms = equations.terms(t, q, jnp.zeros(len(equations.speed_names)))
    return dependent_speeds(terms.J * scaling_of(equations, q, terms.J).columns[None, :])


def _line_up(system: System, hold: Mapping[str, object]) -> State:
    """The reference state, with bodies that have no place put where a joint to a placed body puts them."""
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
        between = _between(joint, hold.get(name))
        if first in placed:
            placed[second] = placed[first] @ F @ between @ G.inverse()
        else:
            placed[first] = placed[second] @ G @ between.inverse() @ F.inverse()
    bodies = {
        name: eqx.tree_at(lambda b: b.pose, body, placed.get(name, body.pose)) for name, body in system.bodies.items()
    }
    return System(bodies, system.joints, system.forces, coordinates=system.coordinates).state()


def _between(joint: Joint, held) -> Pose:
    """Pose of the second frame in the first with the held coordinate, or bent."""
    value = jnp.asarray(BEND if held is None else held, float)
    if "angle" in joint.coordinates or not joint.coordinates:
        return Pose(jnp.zeros(3), rotation_about(2, value))
    return Pose(jnp.stack([jnp.zeros(()), jnp.zeros(()), value]), jnp.eye(3))


def _open_joint(system: System, found: Closed, hold: Mapping[str, object]) -> str:
    rows, Phi = system.equations().row_names, np.asarray(found.Phi)
    if not np.all(np.isfinite(Phi)):
        bad = rows[int(np.argmin(np.isfinite(Phi)))].rpartition(".")[0]
        return f"assemble_state cannot evaluate joint '{bad}': its residual is not finite. Check its numbers and the guess."
    worst = int(np.argmax(np.abs(found.scaling.residual(found.J, found.Phi))))
    joint, _, row = rows[worst].rpartition(".")
    amount = in_units(abs(Phi[worst]), bool(found.scaling.lengths(found.J)[worst]))
    held = ", ".join(hold) if hold else "nothing"
    return (
        f"assemble_state could not close joint '{joint}': row {row} stays open by {amount} (held: {held}). "
        "Check that the lengths allow it, hold other values, or give a guess nearer to the closed mechanism."
    )


def _contradiction(system: System, missed: np.ndarray, rates: Mapping[str, object]) -> str:
    row = system.equations().row_names[int(np.argmax(np.abs(missed)))]
    asked = ", ".join(rates) if rates else "none; moving constraints contradict each other"
    return (
        f"assemble_state found no speeds that satisfy the constraints: row {row} is missed by "
        f"{np.max(np.abs(missed)):.1e} of the speeds (rates given: {asked}). Give fewer rates, or ones that agree."
    )
