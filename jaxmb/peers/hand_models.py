"""Bricard's mechanism and the McPherson strut for the equations in space that are written by hand."""

import math

import numpy as np

from .hand_spatial import Mechanism, rows
from .numbers import GRAVITY, Bricard, Strut

NONE = np.zeros(3)
X, Y, Z = np.eye(3)


def bricard() -> Mechanism:
    """Five rods are bodies 0 to 4; 30 rows, of which one depends on the others everywhere."""
    P, centers = Bricard.CORNERS, (Bricard.CORNERS[:-1] + Bricard.CORNERS[1:]) / 2
    frames = np.concatenate([centers, NONE[None]])  # the ground is body 5, and so is what comes before body 0
    points, directions = [], []
    for k, axis in enumerate(Bricard.AXES):
        A, B = (k - 1) % 6, k
        points.append((A, B, P[k] - frames[A], P[k] - frames[B]))
        directions += [(A, B, axis, np.roll(axis, 1)), (A, B, axis, np.roll(axis, 2))]
    weight = np.tile([0.0, -GRAVITY, 0.0], (5, 1))
    inertias = np.stack([np.diag(Bricard.inertia(k)) for k in range(5)])
    return Mechanism(centers, np.ones(5), inertias, rows(points), rows(directions), rows([]), lambda t: weight)


def strut(overconstrained: bool) -> Mechanism:
    """Arm, knuckle, top, tie rod and rack are bodies 0 to 4: 26 rows, or 31 of rank 26 with the second hinge of the arm."""
    P = {name: np.array(point) for name, point in Strut.P.items()}
    centers = np.array(list(Strut.COM.values()))
    frames = np.concatenate([centers, NONE[None]])
    arm, knuckle, top, tie_rod, rack, ground = range(6)

    def at(A: int, B: int, point: np.ndarray, *normal: np.ndarray) -> tuple:
        return (A, B, point - frames[A], point - frames[B], *normal)

    hinges = ("P1A", "P1B") if overconstrained else ("P1A",)
    balls = ((arm, knuckle, "P2"), (top, ground, "P11"), (knuckle, tie_rod, "P9"), (tie_rod, rack, "P12"))
    points = [at(ground, arm, P[name]) for name in hinges] + [at(A, B, P[name]) for A, B, name in balls]
    hinged = [(ground, arm, X, Y), (ground, arm, X, Z)] * len(hinges)
    strut_axis = [(knuckle, top, Z, X), (knuckle, top, Z, Y)]
    guide = [(ground, rack, Y, X), (ground, rack, Y, Z), (ground, rack, X, Z)]
    planes = [at(knuckle, top, P["P4"], n) for n in (X, Y)] + [at(ground, rack, P["P12"], n) for n in (X, Z)]
    loads = np.tile([0.0, 0.0, -Strut.mass * Strut.gravity], (5, 1))
    loads[arm, 2] += Strut.lift

    def force(t: float) -> np.ndarray:
        out = loads.copy()
        out[rack, 1] += Strut.push_mean + Strut.push_amplitude * math.sin(t)
        return out

    inertias = np.tile(Strut.inertia * np.eye(3), (5, 1, 1))
    directions = rows(hinged + strut_axis + guide)
    return Mechanism(centers, np.full(5, Strut.mass), inertias, rows(points), directions, rows(planes), force)
