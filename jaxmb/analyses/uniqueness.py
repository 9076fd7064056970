"""Which part of a reaction the equations of motion determine."""

from dataclasses import dataclass

import numpy as np

COMPONENTS = ("force x", "force y", "force z", "torque x", "torque y", "torque z")


@dataclass(frozen=True)
class ReactionVerdict:
    """What redundant constraints leave of a reaction, in the axes of the joint's first frame (z is its axis).

    The verdict does not depend on these axes: a reaction is partly unique also when only combinations of its components are."""

    carried: np.ndarray
    """Which of the six components the joint carries."""
    determined: np.ndarray
    """Which of them no choice of the multipliers changes."""
    combinations: np.ndarray
    """Coefficients (k, 6) of all independent combinations of the components (N, N m) that no choice changes."""
    count: int
    """Number of independent components the joint carries."""

    @property
    def verdict(self) -> str:
        """'unique', 'partly' or 'not unique'."""
        if len(self.combinations) == self.count:
            return "unique"
        return "partly" if len(self.combinations) else "not unique"

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
        known, open_ = self.unique_components, ", ".join(self.free_components)
        combined = len(self.combinations) - len(known)
        if not combined:
            return f"partly unique: {', '.join(known)}; not {open_}"
        some = f"{combined} combination{'s' if combined > 1 else ''} of {open_}"
        return f"partly unique: {', '.join([*known, some])}"


def verdict_of(carried: np.ndarray, moved: np.ndarray, least: float, unit: np.ndarray) -> ReactionVerdict:
    """The verdict on a reaction whose scaled components are `carried @ multipliers` and change by `moved @ anything`
    without an effect on the motion; changes up to `least` are rounding. `unit` has the factors that scaled the
    components."""
    size = np.abs(carried).max(axis=1)
    U, values, _ = np.linalg.svd(carried)
    count = int(np.sum(values > 1e-9 * values[0]))
    inside = U[:, :count]
    W, changes, _ = np.linalg.svd(inside.T @ moved)
    known = inside @ W[:, int(np.sum(changes > least)) :]
    return ReactionVerdict(
        carried=size > 1e-9 * size.max(),
        determined=np.abs(moved).max(axis=1, initial=0.0) <= least,
        combinations=known.T * unit[None, :],
        count=count,
    )
