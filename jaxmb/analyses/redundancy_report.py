"""The redundancy report, as data and as a page."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .dependence import Decomposition
from .freedoms import Freedom
from .messages import in_units
from .relaxations import Relaxation

COMPONENTS = ("force x", "force y", "force z", "torque x", "torque y", "torque z")


@dataclass(frozen=True)
class DependentSet:
    """Rows that depend on each other, every member an equal; `redundant` of them are too many."""

    rows: tuple[str, ...]
    redundant: int

    @property
    def joints(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(row.rpartition(".")[0] for row in self.rows))

    def __str__(self) -> str:
        return f"{self.redundant} of {len(self.rows)} rows: {', '.join(self.rows)}"


@dataclass(frozen=True)
class Conflict:
    """A row that cannot be satisfied together with the others, and by how much (m or rad; per second for a rate)."""

    row: str
    mismatch: float
    length: bool
    rate: bool

    def __str__(self) -> str:
        return f"{self.row} by {in_units(self.mismatch, self.length)}{'/s' if self.rate else ''}"


@dataclass(frozen=True)
class ReactionVerdict:
    """Which of the six components of a reaction (axes of the joint's first frame, z its axis) the joint carries, and which of
    them no choice of the multipliers changes."""

    carried: np.ndarray
    determined: np.ndarray

    @property
    def verdict(self) -> str:
        """'unique', 'partly' or 'not unique'."""
        if np.all(self.determined[self.carried]):
            return "unique"
        return "partly" if np.any(self.determined[self.carried]) else "not unique"

    @property
    def unique_components(self) -> tuple[str, ...]:
        return self._names(self.carried & self.determined)

    @property
    def free_components(self) -> tuple[str, ...]:
        """The components that the equations of motion do not determine."""
        return self._names(self.carried & ~self.determined)

    def _names(self, mask) -> tuple[str, ...]:
        return tuple(name for name, chosen in zip(COMPONENTS, mask, strict=True) if chosen)

    def __str__(self) -> str:
        if self.verdict != "partly":
            return self.verdict
        return f"partly unique: {', '.join(self.unique_components)}; not {', '.join(self.free_components)}"


@dataclass(frozen=True)
class Redundancy:
    """What `redundancy` found; `print` it for a page."""

    names: tuple[str, ...]
    """Names of the rows."""
    rank: int
    dof: int
    """Degrees of freedom here."""
    structural_rank: int
    structural_dof: int
    """Those at nearly every pose."""
    decomposition: Decomposition
    tolerance: float
    size: float
    """Size of the mechanism (m), by which lengths are measured."""
    redundant_sets: tuple[DependentSet, ...]
    """Rows that are dependent here."""
    structural_sets: tuple[DependentSet, ...]
    """Rows that are dependent at nearly every pose."""
    conflicts: tuple[Conflict, ...]
    reactions: dict[str, ReactionVerdict]
    freedoms: tuple[Freedom, ...]
    relaxations: tuple[tuple[Relaxation, ...], ...]
    """For each loop with redundant rows, alternative changes that remove the redundancy."""

    @property
    def rows(self) -> int:
        return len(self.names)

    @property
    def redundant(self) -> int:
        """Number of rows too many here."""
        return self.rows - self.rank

    @property
    def structurally_redundant(self) -> int:
        """Number of rows too many at nearly every pose."""
        return self.rows - self.structural_rank

    @property
    def singular(self) -> bool:
        """Whether rows are dependent here that are not elsewhere (a singular configuration)."""
        return self.rank < self.structural_rank

    @property
    def conflicting(self) -> bool:
        return bool(self.conflicts)

    @property
    def gap(self) -> float:
        """Ratio of the smallest singular value that counts to the largest that does not."""
        return self.decomposition.gap

    @cached_property
    def unique_reactions(self) -> tuple[str, ...]:
        """Joints whose reaction is unique."""
        return tuple(name for name, found in self.reactions.items() if found.verdict == "unique")

    @property
    def exit_code(self) -> int:
        """0 clean, 1 redundant or singular, 2 conflicting."""
        return 2 if self.conflicting else int(self.redundant > 0)

    def __str__(self) -> str:
        return "\n".join([*self._verdict(), *self._motions(), *self._dependencies(), *self._reactions(), *self._advice()])

    def _verdict(self) -> list[str]:
        if self.conflicting:
            rates = self.conflicts[0].rate
            head = (
                "CONFLICTING: rates of the constraints contradict each other"
                if rates
                else "CONFLICTING: the joints cannot all be closed from here"
            )
            lines = [head + "; they miss:", *(f"  {conflict}" for conflict in self.conflicts), ""]
        elif self.singular:
            lines = ["SINGULAR HERE: constraints are dependent at this pose that are not elsewhere.", ""]
        elif self.redundant:
            lines = ["REDUNDANT: some constraints say what others say already.", ""]
        else:
            lines = ["CLEAN: no redundant constraints.", ""]
        here = self.decomposition
        dropped = f", largest counted as zero {here.zero:.1e}" if here.zero else ""
        smallest = f"{here.smallest:.1e}" if self.rank else "none"
        return [
            *lines,
            f"constraint rows      {self.rows}",
            f"independent rows     {self.rank}" + (f" ({self.structural_rank} elsewhere)" if self.singular else ""),
            f"redundant rows       {self.redundant}" + (f" ({self.structurally_redundant} elsewhere)" if self.singular else ""),
            f"degrees of freedom   {self.dof}" + (f" ({self.structural_dof} elsewhere)" if self.singular else ""),
            f"singular values      smallest {smallest}{dropped} (tolerance {self.tolerance:.0e}, size {self.size:.3g} m)",
        ]

    def _motions(self) -> list[str]:
        if not self.freedoms:
            return ["", "Nothing can move."]
        return ["", "What can move:", *(f"  {k + 1}. {freedom}" for k, freedom in enumerate(self.freedoms))]

    def _dependencies(self) -> list[str]:
        lines = []
        if self.structural_sets:
            lines += ["", "Redundant at every pose:", *(f"  {found}" for found in self.structural_sets)]
        if self.singular:
            lines += ["", "Dependent at this pose:", *(f"  {found}" for found in self.redundant_sets)]
        return lines

    def _reactions(self) -> list[str]:
        if not self.reactions:
            return []
        if not self.redundant:
            return ["", "All reactions are unique."]
        width = max(map(len, self.reactions))
        return ["", "Reactions (in the axes of the joint, z is its axis):",
                *(f"  {name:<{width}}  {verdict}" for name, verdict in self.reactions.items())]  # fmt: skip

    def _advice(self) -> list[str]:
        lines = []
        for options in self.relaxations:
            lines += ["", "To remove the redundancy and keep the motion, for example:" if options else
                      "No freer joints were found that remove the redundancy and keep the motion."]  # fmt: skip
            lines += [f"  {option}" for option in options]
        return lines
