"""Know your mechanism: what moves, which constraints are redundant, and which reactions mean anything."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ..coordinates import EulerAngles, EulerParameters, Quaternion
from ..errors import ModelError, is_concrete
from ..joints import BodyDriver, Driver
from ..outputs import UNIQUE, wrench_maps
from ..scaling import scaling_of
from ..state import State
from ..system import System
from .closing import CLOSED
from .dependence import RANK_TOLERANCE, Decomposition, decompose, dependent_sets
from .freedoms import Freedom, describe, simple_basis
from .redundancy_report import Conflict, DependentSet, Redundancy
from .relaxations import Relaxation, relaxations
from .uniqueness import ReactionVerdict, verdict_of

#: How far (rad, or parts of the size) the poses nearby are at which the rank is found again, and how many.
NEARBY = 0.15
POSES = 4
#: Length of a step that tells a motion from a freedom of first order only, and the part of it that a motion keeps.
STEP = 1e-3
KEPT = 0.05
#: Mismatch (m/s per size, rad/s) of rates that contradict each other, relative to the rates.
CONTRADICTS = 1e-8


class _Look(eqx.Module):
    """Everything numerical at one pose: arrays of JAX as they are found, of NumPy where they are looked at."""

    q: Any
    Phi: Any
    Phi_t: Any
    lengths: Any
    J: Any
    """Rows of unit length, columns by the size."""
    D: Any
    """Factors of the rows."""
    size: Any
    columns: Any
    poses: Any
    twists: Any
    """From the speeds to the twists of the bodies (frames, 6, n)."""
    wrenches: list[list[Any]]

    @property
    def residual(self) -> np.ndarray:
        """Phi without a unit."""
        return np.where(self.lengths, self.Phi / self.size, self.Phi)

    @property
    def closed(self) -> bool:
        return bool(np.abs(self.residual).max(initial=0.0) <= CLOSED)


def redundancy(system: System, state: State) -> Redundancy:
    """Rank, degrees of freedom, redundant sets, unique reactions and what to do about them, at (and around) a state.

    The state is closed first if its joints are open; if they cannot be closed the report says which rows contradict each
    other. Verdicts do not depend on units. `print` the result for a page in words. Works on concrete values only: rank is a
    decision, so call it outside jit and grad.
    """
    if not is_concrete(system, state):
        raise ModelError(
            "redundancy was called on values that are not known yet (inside jit, grad or vmap). Call it outside, on concrete "
            "numbers."
        )
    plain = _in_plain_coordinates(system)
    if plain.coordinates != system.coordinates:
        state = plain.convert(state, system)

    def look(q: np.ndarray, displacement: np.ndarray | None = None) -> _Look:
        still = np.zeros(len(state.v)) if displacement is None else displacement
        return jax.tree.map(np.asarray, _look(plain, state.t, jnp.asarray(q), jnp.asarray(still)))

    rows = plain.equations().row_names
    here = _settle(look, look(np.asarray(state.q)), np.ones(len(rows), bool))
    found = decompose(here.J)
    generic, structural_rank = (here, found.rank) if found.rank == len(rows) else _elsewhere(plain, look, here)
    sets = _sets(rows, generic.J, decompose(generic.J).rank) if structural_rank < len(rows) else ()
    return Redundancy(
        names=rows,
        rank=found.rank,
        dof=len(here.columns) - found.rank,
        structural_rank=structural_rank,
        structural_dof=len(here.columns) - structural_rank,
        decomposition=found,
        tolerance=RANK_TOLERANCE,
        size=float(here.size),
        redundant_sets=_sets(rows, here.J, found.rank),
        structural_sets=sets,
        conflicts=_conflicts(rows, here),
        reactions=_verdicts(plain, here, found),
        freedoms=_freedoms(plain, here, found),
        relaxations=_relaxations(plain, generic, sets),
    )


def _in_plain_coordinates(system: System) -> System:
    """Rotations by quaternions, so that no coordinate brings rows or singularities of its own."""
    kinds = {
        name: Quaternion() if isinstance(kind, EulerAngles | EulerParameters) else kind
        for name, kind in system.coordinates.items()
    }
    return system.with_coordinates(kinds)


@eqx.filter_jit
def _look(system: System, t, q, displacement) -> _Look:
    equations = system.equations()
    q = equations.retract(q, displacement)
    still = jnp.zeros_like(displacement)
    terms = equations.terms(t, q, still)
    scaling = scaling_of(equations, q, terms.J)
    J, D = scaling.jacobian(terms.J)
    return _Look(
        q, terms.Phi, terms.Phi_dot, scaling.lengths(terms.J), J, D, scaling.length, scaling.columns, equations.poses(q),
        jax.jacfwd(lambda v: equations.twists(q, v))(still), [maps for _, maps in wrench_maps(equations, t, q, still)],
    )  # fmt: skip


def _settle(look: Callable[..., _Look], start: _Look, rows: np.ndarray) -> _Look:
    """The pose near `start` at which the chosen rows are nearest to zero: damped Gauss-Newton with the step written out, since a
    solver that is compiled into the program of every mechanism would take longer than all the rest."""
    best, damping = start, 1e-3
    for _ in range(100):
        norm = np.linalg.norm(best.residual[rows])
        if norm < 1e-14:
            break
        # Rows of unit length are reached by D Phi; the damping goes to zero, and the pseudoinverse leaves out what is dependent.
        J, r = best.J[rows], (best.D * best.Phi)[rows]
        U, values, Vt = np.linalg.svd(J, full_matrices=False)
        inverse = np.where(values > RANK_TOLERANCE * values[0], values / (values**2 + damping * values[0] ** 2), 0.0)
        step = -Vt.T @ (inverse * (U.T @ r))
        trial = look(best.q, best.columns * step)
        if np.linalg.norm(trial.residual[rows]) < norm:
            best, damping = trial, damping * 0.02
        elif damping < 1e-12 and norm < CLOSED:
            break
        else:
            damping = max(20 * damping, 1e-9)
            if damping > 1e6:
                break
    return best


def _elsewhere(system: System, look: Callable[..., _Look], here: _Look) -> tuple[_Look, int]:
    """The pose nearby (or this one) where the rows are least dependent, and the rank they have at nearly every pose.
    Drivers are left out when the mechanism is moved: with them it may not move at all, and their rows are the same
    wherever they drive it to.

    Freedoms that no motion follows up are not counted: two bars in one line, which do not move at all, or a loop of many that
    stays in its singular configuration while others leave theirs.
    """
    drivers = [name for name, joint in system.joints.items() if isinstance(joint, Driver | BodyDriver)]
    rows = np.array([row.rpartition(".")[0] not in drivers for row in system.equations().row_names], bool)
    if not _closed(here, rows):
        return here, decompose(here.J).rank
    tangent = decompose(here.J[rows]).null_columns
    poses = [here]
    for noise in np.random.default_rng(0).normal(size=(POSES if tangent.shape[1] else 0, tangent.shape[1])):
        near, part = _moved(look, here, tangent @ noise, NEARBY, rows)
        if np.abs(part).max() > KEPT:
            poses.append(near)
    best = max(poses, key=lambda pose: decompose(pose.J).rank)
    tangent = decompose(best.J[rows]).null_columns
    parts = np.array([_moved(look, best, direction, STEP, rows)[1] for direction in tangent.T])
    followed = int(np.sum(np.linalg.svd(parts, compute_uv=False) > KEPT)) if len(parts) else 0
    return best, decompose(best.J).rank + tangent.shape[1] - followed


def _moved(look: Callable[..., _Look], start: _Look, direction: np.ndarray, step: float, rows: np.ndarray):
    """The closed pose after a step in some direction, and how bodies were moved (parts of the size) and turned (rad), all
    as a part of the step; zero if the joints do not close."""
    direction = direction / np.abs(direction).max()
    near = _settle(look, look(start.q, start.columns * (step * direction)), rows)
    turned = np.einsum("bji,bjk->bik", start.poses.R, near.poses.R)
    moved = np.concatenate(
        [((near.poses.p - start.poses.p) / start.size).reshape(-1), (turned - np.eye(3)).reshape(-1)]
    )
    return near, moved / step if _closed(near, rows) else np.zeros_like(moved)


def _closed(pose: _Look, rows: np.ndarray) -> bool:
    return bool(np.abs(pose.residual[rows]).max(initial=0.0) <= CLOSED)


def _sets(rows: tuple[str, ...], J: np.ndarray, rank: int) -> tuple[DependentSet, ...]:
    found = dependent_sets(J, rank)
    return tuple(DependentSet(tuple(rows[i] for i in s), len(s) - decompose(J[s]).rank) for s in found)


def _conflicts(rows: tuple[str, ...], found: _Look) -> tuple[Conflict, ...]:
    """Rows that cannot all be zero, or whose rates contradict each other."""
    if not found.closed:
        size = np.abs(found.residual)
        chosen = [i for i in np.argsort(-size) if not size[i] <= 1e-3 * np.nanmax(size)]
        return tuple(Conflict(rows[i], float(found.Phi[i]), bool(found.lengths[i]), False) for i in chosen)
    wanted = found.D * found.Phi_t
    missed = wanted - found.J @ (np.linalg.pinv(found.J, rcond=RANK_TOLERANCE) @ wanted) if rows else wanted
    chosen = np.flatnonzero(np.abs(missed) > CONTRADICTS * np.abs(wanted).max(initial=0.0))
    return tuple(Conflict(rows[i], float(missed[i] / found.D[i]), bool(found.lengths[i]), True) for i in chosen)


def _verdicts(system: System, found: _Look, here: Decomposition) -> dict[str, ReactionVerdict]:
    """A reaction is unique if no null vector of J' takes part in it [Fraczek and Wojtyra 2011]; of one that is not, those
    combinations of components are which no null vector changes."""
    equations, names = system.equations(), tuple(system.joints)
    basis = found.D[:, None] * here.null_rows
    # Torques count by the size of the mechanism.
    unit = np.concatenate([np.ones(3), np.full(3, 1.0 / found.size)])
    carried, moved = {}, {}
    for group, maps in zip(equations.joints, found.wrenches, strict=True):
        rows, G = equations.row_index(group), maps[1]
        frames = np.asarray(group.frames.R)
        for i, k in enumerate(group.order):
            R_WF = found.poses.R[group.bodies[i][0]] @ frames[i]
            carried[names[k]] = unit[:, None] * (np.kron(np.eye(2), R_WF.T) @ G[i])
            moved[names[k]] = carried[names[k]] @ basis[rows[i]]
    least = UNIQUE * max((np.abs(x).max(initial=0.0) for x in moved.values()), default=0.0)
    # In the order of the system.
    return {name: verdict_of(carried[name], moved[name], least, unit) for name in names}


def _freedoms(system: System, found: _Look, here: Decomposition) -> tuple[Freedom, ...]:
    basis = found.columns[:, None] * simple_basis(here.null_columns)
    twists = found.twists[:-1]
    return tuple(
        describe(v, twists @ v, found.poses.p[:-1], found.poses.R[:-1], tuple(system.bodies), float(found.size))
        for v in basis.T
    )


def _relaxations(system: System, pose: _Look, sets: tuple[DependentSet, ...]) -> tuple[tuple[Relaxation, ...], ...]:
    """For each loop (dependent sets that share joints) the smallest changes that make its rows independent."""
    owners = [row.rpartition(".")[0] for row in system.equations().row_names]
    rows = {name: pose.J[[owner == name for owner in owners]] for name in system.joints}
    relative = {
        name: _relative_motion(system, pose, name) for name in system.joints if len(system.joints[name].ports) == 2
    }
    return tuple(tuple(relaxations(system, rows, relative, loop)) for loop in _loops(sets))


def _relative_motion(system: System, pose: _Look, name: str) -> np.ndarray:
    """From the scaled speeds to velocity and angular velocity of a joint's second frame relative to its first, at the
    origin of the second and in the axes of the first."""
    joint, numbers = system.joints[name], {body: k for k, body in enumerate(system.bodies)}
    first, second = (numbers.get(body, len(numbers)) for body in joint.bodies)
    F, G = (port.frame for port in joint.ports)  # pyright: ignore[reportAttributeAccessIssue]
    place, axes = pose.poses.p, pose.poses.R
    com = [
        np.zeros(3) if k == len(numbers) else np.asarray(list(system.bodies.values())[k].com) for k in (first, second)
    ]
    point = place[second] + axes[second] @ (np.asarray(G.p) - com[1])

    def at_point(body):
        velocity, omega = pose.twists[body][:3], axes[body] @ pose.twists[body][3:]
        return velocity - np.cross(point - place[body], omega, axisb=0).T, omega

    (v0, w0), (v1, w1) = at_point(first), at_point(second)
    R = axes[first] @ np.asarray(F.R)
    return np.concatenate([R.T @ (v1 - v0), R.T @ (w1 - w0)]) * pose.columns[None, :]


def _loops(sets: tuple[DependentSet, ...]) -> list[list[str]]:
    """The joints of sets that share some."""
    loops: list[list[str]] = []
    for found in sets:
        joints = list(found.joints)
        for loop in [loop for loop in loops if set(loop) & set(joints)]:
            loops.remove(loop)
            joints = [*loop, *(joint for joint in joints if joint not in loop)]
        loops.append(joints)
    return loops
