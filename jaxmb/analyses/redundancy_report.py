"""The redundancy report, as data and as a page."""

import textwrap
from dataclasses import dataclass
from functools import cached_property

from .dependence import Decomposition
from .freedoms import Freedom
from .messages import in_units
from .relaxations import Relaxation
from .uniqueness import ReactionVerdict

#: Width of the page, and how many conflicts it names before the others are only counted.
WIDTH = 110
SHOWN = 8


@dataclass(frozen=True)
class DependentSet:
    """Rows that depend on each other, every member an equal; `redundant` of them are too many."""

    rows: tuple[str, ...]
    redundant: int

    @property
    def joints(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(row.rpartition(".")[0] for row in self.rows))

    def __str__(self) -> str:
        return f"{self.redundant} too many of {len(self.rows)} rows: {', '.join(self.rows)}"


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
        return "\n".join(
            [*self._verdict(), *self._motions(), *self._dependencies(), *self._reactions(), *self._advice()]
        )

    def _verdict(self) -> list[str]:
        if self.conflicting:
            rates = self.conflicts[0].rate
            head = (
                "CONFLICTING: rates of the constraints contradict each other"
                if rates
                else "CONFLICTING: the joints cannot all be closed from here"
            )
            more = [f"  and {len(self.conflicts) - SHOWN} more rows"] if len(self.conflicts) > SHOWN else []
            lines = [head + "; they miss:", *(f"  {conflict}" for conflict in self.conflicts[:SHOWN]), *more, ""]
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
            f"redundant rows       {self.redundant}"
            + (f" ({self.structurally_redundant} elsewhere)" if self.singular else ""),
            f"degrees of freedom   {self.dof}" + (f" ({self.structural_dof} elsewhere)" if self.singular else ""),
            f"singular values      smallest {smallest}{dropped} (tolerance {self.tolerance:.0e}, size {self.size:.3g} m)",
        ]

    def _motions(self) -> list[str]:
        if not self.freedoms:
            return ["", "Nothing can move."]
        lines = ["", "What can move (world axes; the fastest turn is 1 rad/s):"]
        for k, freedom in enumerate(self.freedoms):
            number = f"  {k + 1}. "
            lines.append(number + str(freedom).replace("\n", "\n" + " " * len(number)))
        return lines

    def _dependencies(self) -> list[str]:
        lines = []
        if self.structural_sets:
            lines += ["", "Redundant at every pose (members of a set are equals, any of them is too many):"]
            lines += map(self._set, self.structural_sets)
        if self.singular:
            lines += ["", "Dependent at this pose:", *map(self._set, self.redundant_sets)]
        return lines

    def _set(self, found: DependentSet) -> str:
        """A set, with joints that belong to it with all their rows named once."""
        members = set(found.rows)
        every = {joint: [row for row in self.names if row.rpartition(".")[0] == joint] for joint in found.joints}
        whole = [joint for joint, rows in every.items() if len(rows) > 1 and members.issuperset(rows)]
        others = [row for row in found.rows if row.rpartition(".")[0] not in whole]
        named = [*others, *([f"all rows of {', '.join(whole)}"] if whole else [])]
        return _wrapped(f"{found.redundant} too many of {len(found.rows)} rows: {', '.join(named)}")

    def _reactions(self) -> list[str]:
        if not self.reactions:
            return []
        if not self.redundant:
            return ["", "All reactions are unique."]
        groups: dict[str, list[str]] = {}
        for name, verdict in self.reactions.items():
            groups.setdefault(str(verdict), []).append(name)
        heading = "Reactions (components along the axes of the joint's first frame, z is the axis of the joint):"
        return ["", heading, *(_wrapped(f"{', '.join(names)} - {verdict}") for verdict, names in groups.items())]

    def _advice(self) -> list[str]:
        lines = []
        for options in self.relaxations:
            lines += ["", "To remove the redundancy and keep the motion, one of:" if options else
                      "No freer joints were found that remove the redundancy and keep the motion."]  # fmt: skip
            lines += [_wrapped(str(option)) for option in options]
        return lines


def _wrapped(text: str) -> str:
    """A line of the page, indented, and continued below itself."""
    return textwrap.fill(text, WIDTH, initial_indent="  ", subsequent_indent="      ", break_long_words=False)
