"""The motions that are left, body by body, in words."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg

#: A body rests in a motion if it moves less than this part of the fastest one.
RESTS = 1e-6
#: Bodies that are named in a motion before the others are only counted.
SHOWN = 10


@dataclass(frozen=True)
class BodyScrew:
    """What a body does in a motion: it turns at `rate` (rad/s) about an axis through a point while it advances by `pitch`
    (m/rad), or moves at `rate` (m/s) along a direction. The body that turns fastest does so at 1 rad/s; if none turns, the
    fastest moves at 1 m/s."""

    body: str
    direction: np.ndarray
    point: np.ndarray | None
    """A point of the axis (m), None for a translation."""
    pitch: float
    rate: float

    def __str__(self) -> str:
        if self.point is None:
            return f"{self.body} moves along {_numbers(self.direction)} at {self.rate:.3g} m/s"
        advance = f", advancing {self.pitch:.3g} m/rad" if self.pitch else ""
        axis = f"about {_numbers(self.direction)} through {_numbers(self.point)} m"
        return f"{self.body} turns {axis} at {self.rate:.3g} rad/s{advance}"


@dataclass(frozen=True)
class Freedom:
    """A motion the constraints allow; bodies at rest are left out."""

    v: np.ndarray
    """The speeds."""
    screws: tuple[BodyScrew, ...]

    def __str__(self) -> str:
        """A line for each body."""
        alone = " (it alone)" if len(self.screws) == 1 else ""
        more = [f"and {len(self.screws) - SHOWN} more bodies"] if len(self.screws) > SHOWN else []
        return "\n".join([*map(str, self.screws[:SHOWN]), *more]) + alone


def simple_basis(null_columns: np.ndarray) -> np.ndarray:
    """The same space by columns in which as few speeds as possible take part: each is the only one with its leading speed."""
    count = null_columns.shape[1]
    if not count:
        return null_columns
    leading = scipy.linalg.qr(null_columns.T, mode="r", pivoting=True)[1][:count]  # pyright: ignore[reportGeneralTypeIssues]
    basis = null_columns @ np.linalg.inv(null_columns[leading])
    basis[np.abs(basis) < 1e-9] = 0.0
    return basis / np.max(np.abs(basis), axis=0, keepdims=True)


def describe(
    v: np.ndarray, twists: np.ndarray, positions: np.ndarray, rotations: np.ndarray, names: Sequence[str], size: float
) -> Freedom:
    """A motion with speeds v and the given twists of the bodies (world velocity of the centre of mass at `positions`, angular
    velocity in body axes); `size` is that of the mechanism."""
    omega, velocity = np.einsum("bij,bj->bi", rotations, twists[:, 3:]), twists[:, :3]
    turns, moves = np.linalg.norm(omega, axis=1), np.linalg.norm(velocity, axis=1)
    fastest = max(turns.max(), moves.max() / size)
    turning, moving = turns > RESTS * fastest, moves > RESTS * fastest * size
    unit = turns.max() if turning.any() else moves.max()
    first = int(np.argmax(turning | moving))
    leading = omega[first] if turning[first] else velocity[first]
    # Of the two ways to go, the one in which the first body turns or moves along a positive axis.
    unit = unit * np.sign(leading[np.argmax(np.abs(leading))])
    omega, velocity = omega / unit, velocity / unit
    screws = []
    for k, name in enumerate(names):
        if turning[k]:
            rate = float(np.linalg.norm(omega[k]))
            axis = omega[k] / rate
            point = positions[k] + np.cross(omega[k], velocity[k]) / rate**2
            point = point - (point @ axis) * axis
            point[np.abs(point) < RESTS * size] = 0.0
            pitch = float(velocity[k] @ axis) / rate
            screws.append(BodyScrew(name, axis, point, pitch if abs(pitch) > RESTS * size else 0.0, rate))
        elif moving[k]:
            rate = float(np.linalg.norm(velocity[k]))
            screws.append(BodyScrew(name, velocity[k] / rate, None, 0.0, rate))
    return Freedom(v / unit, tuple(screws))


def _numbers(x: np.ndarray) -> str:
    clean = np.where(np.abs(x) < 1e-9 * np.abs(x).max(), 0.0, x)
    return f"({', '.join(f'{value:.4g}' for value in clean)})"
