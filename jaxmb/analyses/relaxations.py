"""Which joints to make freer so that no constraint is redundant and the motion stays what it is."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..joints import (
    Cylindrical,
    InLine,
    InPlane,
    Joint,
    PlanarJoint,
    PlanarPrismatic,
    PlanarRevolute,
    PlanarSlot,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
)
from ..system import System
from .dependence import RANK_TOLERANCE, decompose

#: Which components of the relative motion (velocity x, y, z, rotation x, y, z in the axes of the first frame) a joint forbids.
FREER = {
    Revolute: (0, 1, 2, 3, 4),
    Prismatic: (0, 1, 3, 4, 5),
    Cylindrical: (0, 1, 3, 4),
    Spherical: (0, 1, 2),
    PlanarJoint: (2, 3, 4),
    InLine: (0, 1),
    InPlane: (2,),
}
#: What a slot along x or y of the first frame forbids, in the plane and in space (a ball in a groove), and what a face across it.
SLOTS = {"x": (1,), "y": (0,)}
GROOVES = {"x": (1, 2), "y": (0, 2)}
FACES = {"x": (0,), "y": (1,)}
#: And what a cross joint whose one axis is that of the joint and whose other one is x or y of the first frame.
CROSSES = {"x": (0, 1, 2, 4), "y": (0, 1, 2, 3)}
#: Combinations of changes that are looked at before a mere choice one by one, and how many answers are shown.
TRIALS = 1000
SHOWN = 6
#: A released row counts when self-stresses load it by more than this part of a unit self-stress.
LOADED = 1e-6


@dataclass(frozen=True)
class Change:
    """One joint to be replaced by a freer kind (None: to be left out), along its own axis or another one of its first frame."""

    joint: str
    kind: type[Joint] | None
    released: int
    """Number of rows it releases."""
    components: tuple[int, ...]
    """What it still forbids of the relative motion."""
    axis: str = ""

    def __str__(self) -> str:
        if self.kind is None:
            return f"leave out {self.joint}"
        which = "with a second axis along" if self.kind is Universal else "along"
        along = f" {which} {self.axis} of its first frame" if self.axis else ""
        return f"make {self.joint} {self.kind.__name__}{along}"

    def applied_to(self, joint: Joint) -> Joint:
        """The joint of the other kind between the same frames."""
        if self.axis:
            F, G = (port.frame for port in joint.ports)  # pyright: ignore[reportAttributeAccessIssue]
            own = {"axis_to": G.R[:, 2]} if self.kind is Universal else {}
            return self.kind(*joint.bodies, at=F.p, to=G.p, axis=F.R[:, "xy".index(self.axis)], **own)  # pyright: ignore
        copy = object.__new__(self.kind)  # pyright: ignore[reportArgumentType]
        object.__setattr__(copy, "ports", joint.ports)
        return copy


@dataclass(frozen=True)
class Relaxation:
    """Changes that together remove the redundancy of a loop and leave its freedom."""

    changes: tuple[Change, ...]

    def __str__(self) -> str:
        return " and ".join(map(str, self.changes)).replace(" and make ", " and ")

    def applied_to(self, system: System) -> System:
        """The system with these joints replaced."""
        joints = dict(system.joints)
        for change in self.changes:
            if change.kind is None:
                del joints[change.joint]
            else:
                joints[change.joint] = change.applied_to(joints[change.joint])
        return System(system.bodies, joints, system.forces, coordinates=system.coordinates)


def _candidates(name: str, joint: Joint, across: bool) -> list[Change]:
    """Freer kinds by the number of rows alone; whether they really are is seen in the rows. Those with an axis `across`
    that of the joint, and to leave out a joint of several rows, are only asked for when there is no other way."""
    if joint.nrows == 1:
        return [Change(name, None, 1, ())]
    if len(joint.ports) != 2:
        return []
    if isinstance(joint, PlanarRevolute):
        return [Change(name, PlanarSlot, 1, components, axis) for axis, components in SLOTS.items()]
    if isinstance(joint, PlanarPrismatic):
        return [Change(name, PlanarSlot, 1, ())]
    kinds = [(kind, components, "") for kind, components in FREER.items()]
    if across:
        kinds += [(Universal, components, axis) for axis, components in CROSSES.items()]
        kinds += [(InLine, components, axis) for axis, components in GROOVES.items()]
        kinds += [(InPlane, components, axis) for axis, components in FACES.items()]
    freer = [
        Change(name, kind, joint.nrows - len(components), components, axis)
        for kind, components, axis in kinds
        if len(components) < joint.nrows
    ]
    return [*freer, Change(name, None, joint.nrows, ())] if across else freer


def relaxations(
    system: System, rows: Mapping[str, np.ndarray], relative: Mapping[str, np.ndarray], loop: Sequence[str]
) -> list[Relaxation]:
    """The fewest joints of a loop to change, then one more. `rows` has the scaled rows of every joint, `relative` the
    matrix of its relative motion.

    Rows are redundant because self-stresses (combinations of multipliers with no effect) load them. The freer joints have no
    self-stress left, and forbid as much together, when as many rows are released as there are self-stresses and no
    self-stress leaves them all unloaded. So a square matrix of the size of the redundancy decides, not the whole Jacobian.
    """
    stress = decompose(np.concatenate([rows[name] for name in loop])).null_rows
    redundant = stress.shape[1]
    parts = dict(zip(loop, np.split(stress, np.cumsum([len(rows[name]) for name in loop])[:-1]), strict=True))
    for across in (False, True):
        useful: dict[str, list[tuple[Change, np.ndarray]]] = {}
        for name in loop:
            changes = _candidates(name, system.joints[name], across)
            found = [(change, _released_rows(change, rows[name], relative.get(name))) for change in changes]
            loads = [(change, released @ parts[name]) for change, released in found if released is not None]
            useful[name] = [(c, load) for c, load in loads if c.released <= redundant and _all_loaded([load])]
        options = _search(useful, redundant)
        if options:
            return [Relaxation(tuple(change for change, _ in option)) for option in options]
    return []


def _search(useful: Mapping[str, list[tuple[Change, np.ndarray]]], redundant: int) -> list[tuple]:
    budget, options = itertools.count(1), []
    for count in range(1, len(useful) + 1):
        few = bool(options)
        choices = _choices(useful, list(useful), count, redundant, (), budget)
        try:
            for option in itertools.islice(choices, SHOWN - len(options)):
                options.append(option)
        except _TooManyError:
            return options or _one_by_one(useful, redundant)
        # With one joint more the changes are often to commoner kinds.
        if few or len(options) == SHOWN:
            break
    return options


def _released_rows(change: Change, rows: np.ndarray, relative: Any) -> np.ndarray | None:
    """The combinations of a joint's rows that a change releases, None if it is not really freer. Without components left there is
    no need of the relative motion."""
    if change.kind is None:
        return np.eye(len(rows))
    if change.components:
        freer = _unit_rows(relative[list(change.components)])
    else:
        freer = rows[:1]  # the slot of a slider that may turn
    kept = freer @ np.linalg.pinv(rows, rcond=RANK_TOLERANCE)
    if np.abs(kept @ rows - freer).max() > RANK_TOLERANCE:
        return None
    return decompose(kept).null_columns.T


def _all_loaded(loads: Sequence[np.ndarray]) -> bool:
    """Whether self-stresses can give the released rows any values, each by its own."""
    together = np.concatenate(loads)
    if len(together) > together.shape[1]:
        return False
    return bool(np.linalg.svd(together, compute_uv=False)[-1] > LOADED)


class _TooManyError(Exception):
    """The search is longer than it is worth."""


def _choices(
    useful, names: list[str], count: int, redundant: int, chosen: tuple, budget: Iterator[int]
) -> Iterator[tuple]:
    """Choices of `count` more joints that release `redundant` more rows. What is in vain for some joints is so for more."""
    if not count:
        yield chosen
        return
    for k in range(len(names) - count + 1):
        rest = names[k + 1 :]
        most = sorted((max((c.released for c, _ in useful[name]), default=0) for name in rest), reverse=True)
        for change, load in useful[names[k]]:
            left = redundant - change.released
            if not count - 1 <= left <= sum(most[: count - 1]):
                continue
            if next(budget) > TRIALS:
                raise _TooManyError
            option = (*chosen, (change, load))
            if _all_loaded([load for _, load in option]):
                yield from _choices(useful, rest, count - 1, left, option, budget)


def _one_by_one(useful, redundant: int) -> list[tuple]:
    """A set found by taking, joint after joint, the change that releases most."""
    chosen: tuple[tuple[Change, np.ndarray], ...] = ()
    for changes in useful.values():
        for option in sorted(changes, key=lambda pair: -pair[0].released):
            if _all_loaded([load for _, load in (*chosen, option)]):
                chosen = (*chosen, option)
                break
    return [chosen] if sum(change.released for change, _ in chosen) == redundant else []


def _unit_rows(rows: np.ndarray) -> np.ndarray:
    size = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(size > 0, size, 1.0)
