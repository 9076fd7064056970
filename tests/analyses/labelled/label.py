"""What is known of a mechanism from theory."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import jaxmb as mb

from .model import HERE, Model, Place


@dataclass(frozen=True)
class Labelled:
    """A mechanism in three poses, with what theory says of it."""

    name: str
    draw: Callable[[Model, int], None]
    """Draws a pose (0, 1, 2) into a model."""
    rows: int
    """Constraint rows of the joints. Rows that belong to coordinates, as the norm of Euler parameters, are not counted."""
    dof: int
    """Degrees of freedom of the finite motion, idle spins of bars included."""
    redundant: int
    """Rows beyond those that leave `dof`: rows - speeds + dof, where the speeds are those of the free bodies."""
    note: str
    """Where the label comes from."""
    here_dof: tuple[int, int, int]
    """Instantaneous degrees of freedom in each pose: more than `dof` where it is singular."""
    reactions: Mapping[str, str] = field(default_factory=dict)
    """For joints of which statics tells it, in poses that are not singular: "unique" when no self-stress (a solution of J'
    lam = 0) loads the joint; "not unique" when self-stresses can give its multipliers any values; else "partly"."""
    coordinates: mb.Coordinates = field(default_factory=mb.Quaternion)
    places: tuple[Place, Place, Place] = (HERE, HERE, HERE)
    """Where the mechanism with its ground is put for each pose."""

    def build(self, pose: int, length: float = 1.0, mass: float = 1.0) -> tuple[mb.System, mb.State]:
        """The system and its state in a pose, with all lengths and all masses multiplied."""
        model = Model(length, mass, self.places[pose])
        self.draw(model, pose)
        return model.system(self.coordinates)

    @property
    def rank(self) -> int:
        """Independent rows in poses that are not singular."""
        return self.rows - self.redundant

    def here_rank(self, pose: int) -> int:
        return self.rank - (self.here_dof[pose] - self.dof)

    def here_redundant(self, pose: int) -> int:
        return self.rows - self.here_rank(pose)


def label(*, rows: int, dof: int, redundant: int, note: str, here_dof: tuple[int, int, int] | None = None, **options):
    """Makes a labelled mechanism of the function that draws it."""

    def labelled(draw: Callable[[Model, int], None]) -> Labelled:
        here = (dof, dof, dof) if here_dof is None else here_dof
        return Labelled(draw.__name__, draw, rows, dof, redundant, " ".join(note.split()), here, **options)

    return labelled


def each(joints, verdict: str) -> dict[str, str]:
    """One verdict on the reactions of several joints."""
    return dict.fromkeys(joints, verdict)


def ring(count: int, verdict: str) -> dict[str, str]:
    """One verdict on the joints of a loop.

    A self-stress of a single loop is one wrench that goes around it, reciprocal to every joint screw, so it loads all its
    joints and there are 6 - (rank of the screws) of them (3 - rank in the plane).
    """
    return each((f"P{k + 1}" for k in range(count)), verdict)
