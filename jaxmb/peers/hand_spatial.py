"""Bodies in space by hand in numpy: quaternions, world angular velocities, constraints differentiated twice.

Rows of three kinds: points that coincide, a . b = 0 of directions on two bodies, and n . (p_B - p_A) = 0.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np


class Rows(NamedTuple):
    """Rows of one kind between bodies A and B; the ground comes after the last body. All frames are parallel at the start."""

    A: np.ndarray
    B: np.ndarray
    a: np.ndarray
    """Point or direction in the frame of A."""
    b: np.ndarray
    n: np.ndarray
    """Normal in the frame of A; only of the third kind."""


def rows(given: Sequence[tuple]) -> Rows:
    """From tuples (A, B, a, b) or (A, B, a, b, n)."""
    full = [(*row, (0.0, 0.0, 0.0))[:5] for row in given]
    numbers = (np.array([row[k] for row in full], int) for k in (0, 1))
    return Rows(*numbers, *(np.array([row[k] for row in full], float).reshape(-1, 3) for k in (2, 3, 4)))


def rotations(p: np.ndarray) -> np.ndarray:
    """From quaternions, scalar first, of about unit length."""
    w, x, y, z = (p / np.linalg.norm(p, axis=1, keepdims=True)).T
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    ).transpose(2, 0, 1)


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """numpy's own takes ten times as long for a few rows."""
    return np.stack(
        [
            a[:, 1] * b[:, 2] - a[:, 2] * b[:, 1],
            a[:, 2] * b[:, 0] - a[:, 0] * b[:, 2],
            a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0],
        ],
        1,
    )


def dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.einsum("ij,ij->i", a, b)


class Poses(NamedTuple):
    """Of all bodies and the ground: places, rotations, velocities, angular velocities."""

    p: np.ndarray
    R: np.ndarray
    v: np.ndarray
    w: np.ndarray

    def turned(self, body: np.ndarray, x: np.ndarray) -> np.ndarray:
        return np.einsum("nij,nj->ni", self.R[body], x)

    def inward(self, body: np.ndarray, x: np.ndarray) -> np.ndarray:
        """w x (w x X): the acceleration of a turned vector without angular acceleration."""
        return cross(self.w[body], cross(self.w[body], x))


class Mechanism(NamedTuple):
    centers: np.ndarray
    masses: np.ndarray
    inertias: np.ndarray
    """(bodies, 3, 3), in frames that are parallel to the world at the start."""
    points: Rows
    directions: Rows
    planes: Rows
    force: Callable[[float], np.ndarray]
    """Forces (bodies, 3) at the centers at a time."""

    def start(self) -> np.ndarray:
        y = np.zeros((len(self.masses), 13))
        y[:, :3], y[:, 3] = self.centers, 1.0
        return y.ravel()

    def rhs(self, t: float, y: np.ndarray) -> np.ndarray:
        """For each body: place, quaternion, velocity, angular velocity."""
        Y, n = y.reshape(-1, 13), len(self.masses)
        R, w, still = rotations(Y[:, 3:7]), Y[:, 10:13], np.zeros((1, 3))
        full = (
            np.concatenate(pair) for pair in ((Y[:, :3], still), (R, np.eye(3)[None]), (Y[:, 7:10], still), (w, still))
        )
        poses = Poses(*full)
        parts = [coincide(poses, self.points), perpendicular(poses, self.directions), inplane(poses, self.planes)]
        J, gamma = (np.concatenate(part) for part in zip(*parts, strict=True))
        inertia = R @ self.inertias @ R.transpose(0, 2, 1)
        inverse = np.linalg.inv(inertia)
        gyro = cross(w, np.einsum("nij,nj->ni", inertia, w))
        free = np.concatenate(
            [self.force(t) / self.masses[:, None], -np.einsum("nij,nj->ni", inverse, gyro)], 1
        ).ravel()
        J = J[:, : 6 * n].reshape(-1, n, 2, 3)
        JW = np.stack([J[:, :, 0] / self.masses[:, None], np.einsum("rni,nij->rnj", J[:, :, 1], inverse)], 2)
        J, JW = J.reshape(len(gamma), -1), JW.reshape(len(gamma), -1)
        # Least squares, as rows may depend on each other.
        lam = np.linalg.lstsq(JW @ J.T, gamma - J @ free, rcond=1e-10)[0]
        a = (free + JW.T @ lam).reshape(n, 6)
        s, e = Y[:, 3:4], Y[:, 4:7]
        turn = np.concatenate([-0.5 * dot(e, w)[:, None], 0.5 * (s * w + cross(w, e))], 1)
        return np.concatenate([Y[:, 7:10], turn, a], 1).ravel()

    def place(self, y: np.ndarray, body: int, point: np.ndarray) -> np.ndarray:
        """A point of a body, given in the world at the start, in a run (times, state)."""
        Y = y[:, 13 * body : 13 * body + 7]
        return Y[:, :3] + rotations(Y[:, 3:]) @ (point - self.centers[body])


def coincide(x: Poses, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """p_A + a = p_B + b."""
    A, B, a, b = rows.A, rows.B, x.turned(rows.A, rows.a), x.turned(rows.B, rows.b)
    J, r = np.zeros((len(A), 3, 6 * len(x.p))), np.arange(len(A))
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        J[r, i, 6 * A + i], J[r, i, 6 * B + i] = 1.0, -1.0
        J[r, i, 6 * A + 3 + j], J[r, i, 6 * A + 3 + k] = a[:, k], -a[:, j]
        J[r, i, 6 * B + 3 + j], J[r, i, 6 * B + 3 + k] = -b[:, k], b[:, j]
    return J.reshape(3 * len(A), -1), (x.inward(B, b) - x.inward(A, a)).ravel()


def perpendicular(x: Poses, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """a . b = 0."""
    A, B, a, b = rows.A, rows.B, x.turned(rows.A, rows.a), x.turned(rows.B, rows.b)
    normal = cross(a, b)
    J, r = np.zeros((len(A), 6 * len(x.p))), np.arange(len(A))
    for i in range(3):
        J[r, 6 * A + 3 + i], J[r, 6 * B + 3 + i] = normal[:, i], -normal[:, i]
    both = dot(cross(x.w[A], a), cross(x.w[B], b))
    return J, -(dot(x.inward(A, a), b) + 2 * both + dot(a, x.inward(B, b)))


def inplane(x: Poses, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """n . (p_B + b - p_A - a) = 0, n on A."""
    A, B, a, b = rows.A, rows.B, x.turned(rows.A, rows.a), x.turned(rows.B, rows.b)
    n = x.turned(A, rows.n)
    gap = x.p[B] + b - x.p[A] - a
    rate = x.v[B] + cross(x.w[B], b) - x.v[A] - cross(x.w[A], a)
    on_A, on_B = cross(n, gap + a), cross(b, n)
    J, r = np.zeros((len(A), 6 * len(x.p))), np.arange(len(A))
    for i in range(3):
        J[r, 6 * A + i], J[r, 6 * B + i] = -n[:, i], n[:, i]
        J[r, 6 * A + 3 + i], J[r, 6 * B + 3 + i] = on_A[:, i], on_B[:, i]
    bent = dot(x.inward(A, n), gap) + 2 * dot(cross(x.w[A], n), rate) + dot(n, x.inward(B, b) - x.inward(A, a))
    return J, -bent
