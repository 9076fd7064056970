"""Which joints to make freer so that no constraint is redundant and the motion stays what it is."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..joints import (
    Coupler,
    Cylindrical,
    Distance,
    Driver,
    Gear,
    InLine,
    InPlane,
    Joint,
    PlanarJoint,
    PlanarRevolute,
    PlanarSlot,
    Prismatic,
    Revolute,
    Spherical,
)
from ..system import System
from .dependence import decompose

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
#: In the plane: a slot along x or y of the first frame.
SLOTS = {"x": (1,), "y": (0,)}
#: Elements of a single row, which can only be left out.
SINGLE = (Distance, Driver, Gear, Coupler)
#: Combinations of joints that are tried before a mere choice one by one.
TRIALS = 1500
SHOWN = 6


@dataclass(frozen=True)
class Change:
    """One joint to be replaced by a freer kind (None: to be left out), a slot along an axis of the joint's first frame."""

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
        return f"make {self.joint} {self.kind.__name__}" + (f" along {self.axis}" if self.axis else "")

    def applied_to(self, joint: Joint) -> Joint:
        """The joint of the other kind between the same frames."""
        if self.kind is PlanarSlot:
            F, G = (port.frame for port in joint.ports)  # pyright: ignore[reportAttributeAccessIssue]
            return PlanarSlot(*joint.bodies, at=F.p, to=G.p, axis=F.R[:, "xy".index(self.axis)])
        copy = object.__new__(self.kind)  # pyright: ignore[reportArgumentType]
        object.__setattr__(copy, "ports", joint.ports)
        return copy


@dataclass(frozen=True)
class Relaxation:
    """Changes that together remove the redundancy of a loop and leave its freedom."""

    changes: tuple[Change, ...]

    def __str__(self) -> str:
        return " and ".join(map(str, self.changes))

    def applied_to(self, system: System) -> System:
        """The system with these joints replaced."""
        joints = dict(system.joints)
        for change in self.changes:
            if change.kind is None:
                del joints[change.joint]
            else:
                joints[change.joint] = change.applied_to(joints[change.joint])
        return System(system.bodies, joints, system.forces, coordinates=system.coordinates)


def _candidates(name: str, joint: Joint) -> list[Change]:
    """Freer kinds by the number of rows alone; whether they really are is seen in the rows."""
    if isinstance(joint, SINGLE):
        return [Change(name, None, joint.nrows, ())]
    if isinstance(joint, PlanarRevolute):
        return [Change(name, PlanarSlot, 1, components, axis) for axis, components in SLOTS.items()]
    return [
        Change(name, kind, joint.nrows - len(components), components)
        for kind, components in FREER.items()
        if len(components) < joint.nrows
    ]


def relaxations(
    system: System, rows: Mapping[str, np.ndarray], relative: Mapping[str, np.ndarray], loop: Sequence[str], redundant: int
) -> list[Relaxation]:
    """The fewest joints of a loop to change. `rows` has the scaled rows of every joint, `relative` the matrix of its relative
    motion."""
    rank = decompose(np.concatenate(list(rows.values()))).rank

    def freer_rows(change: Change) -> np.ndarray:
        return _unit_rows(relative[change.joint][list(change.components)]) if change.components else rows[change.joint][:0]

    def kept(chosen: Sequence[Change]) -> bool:
        changed = {change.joint: freer_rows(change) for change in chosen}
        return decompose(np.concatenate([changed.get(name, rows[name]) for name in rows])).rank == rank

    def really_freer(change: Change) -> bool:
        both = np.concatenate([rows[change.joint], freer_rows(change)])
        return decompose(both).rank == decompose(rows[change.joint]).rank

    # What forbids less alone than before forbids less in every combination.
    useful = {
        name: [
            change
            for change in _candidates(name, system.joints[name])
            if 0 < change.released <= redundant and really_freer(change) and kept([change])
        ]
        for name in loop
    }
    trials = 0
    for count in range(1, len(loop) + 1):
        found = []
        for chosen in _choices(useful, count, redundant):
            trials += 1
            if trials > TRIALS:
                return found[:SHOWN] or _one_by_one(useful, redundant, kept)
            if kept(chosen):
                found.append(Relaxation(chosen))
        if found:
            return found[:SHOWN]
    return []


def _choices(useful: Mapping[str, list[Change]], count: int, redundant: int) -> Iterator[tuple[Change, ...]]:
    for joints in itertools.combinations(useful, count):
        for chosen in itertools.product(*(useful[name] for name in joints)):
            if sum(change.released for change in chosen) == redundant:
                yield chosen


def _one_by_one(useful: Mapping[str, list[Change]], redundant: int, kept) -> list[Relaxation]:
    """A set found by taking, joint after joint, the change that releases most."""
    chosen: tuple[Change, ...] = ()
    for name in useful:
        left = redundant - sum(change.released for change in chosen)
        fitting = [c for c in useful[name] if c.released <= left and kept((*chosen, c))]
        if fitting:
            chosen = (*chosen, max(fitting, key=lambda change: change.released))
    done = sum(change.released for change in chosen) == redundant
    return [Relaxation(chosen)] if done else []


def _unit_rows(rows: np.ndarray) -> np.ndarray:
    size = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(size > 0, size, 1.0)
