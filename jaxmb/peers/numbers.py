"""The numbers of the problems, written out for the other engines.

They are not taken from jaxmb's mechanisms, so that a mistake in one of the two shows as an error. SI units.
"""

import math
from typing import NamedTuple

import numpy as np

GRAVITY = 9.81


class Link(NamedTuple):
    """A body of Andrews' squeezer at the start: its frame is at `origin`, turned by `angle`."""

    mass: float
    inertia: float
    """About z, through the centre of mass."""
    com: tuple[float, float]
    origin: tuple[float, float]
    angle: float


class Andrews:
    """A03, in the letters and with the start of the IVP test set."""

    A, B, C = (-0.06934, -0.00227), (-0.03635, 0.03273), (0.014, 0.072)
    D_ON_K3 = (0.02, -0.018)
    d, e, rr, ss, u, zf, zt = 0.028, 0.02, 0.007, 0.035, 0.04, 0.02, 0.04
    torque, c0, l0 = 0.033, 4530.0, 0.07785
    #: beta, theta, gamma, phi, delta, omega, epsilon.
    start = (
        -0.0617138900142764496358948458001,
        0.0,
        0.455279819163070380255912382449,
        0.222668390165885884674473185609,
        0.487364979543842550225598953530,
        -0.222668390165885884674473185609,
        1.23054744454982119249735015568,
    )
    masses = (0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498)
    inertias = (2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5)
    #: Where the pin E is on the four bodies that share it.
    E_ON = {"K2": (-d, 0.0), "K3": (0.0, -ss), "K4": (e, 0.0), "K6": (zf, 0.0)}
    #: Which body carries which, where a tree is wanted; the others are on the ground.
    PARENT = {"K2": "K1", "K4": "K5", "K6": "K7"}

    @classmethod
    def links(cls) -> dict[str, Link]:
        """K1 to K7; those on another body begin where they are pinned to it, and K2, K4, K6 have x along themselves."""
        beta, theta, gamma, phi, delta, omega, epsilon = cls.start
        F = (cls.rr * math.cos(beta), cls.rr * math.sin(beta))
        G = (cls.A[0] + cls.zt * math.cos(delta), cls.A[1] + cls.zt * math.sin(delta))
        H = (cls.A[0] + cls.u * math.sin(epsilon), cls.A[1] - cls.u * math.cos(epsilon))
        placed = (
            ((0.00092, 0.0), (0.0, 0.0), beta),
            ((-0.0115, 0.0), F, beta + theta),
            ((0.01043, -0.01874), cls.B, gamma),
            ((0.00579, 0.0), G, phi + delta - math.pi / 2),
            ((0.02308, 0.00916), cls.A, delta),
            ((0.00579, 0.0), H, omega + epsilon),
            ((0.01228, -0.00449), cls.A, epsilon - math.pi / 2),
        )
        numbers = zip(cls.masses, cls.inertias, placed, strict=True)
        return {f"K{k}": Link(mass, inertia, *rest) for k, (mass, inertia, rest) in enumerate(numbers, 1)}

    @classmethod
    def pin_of(cls, name: str) -> tuple[float, float]:
        """Where a carried body is pinned, in the frame of what carries it; ground points for the others."""
        carried = {"K2": (cls.rr, 0.0), "K4": (cls.zt, 0.0), "K6": (cls.u, 0.0)}
        return carried[name] if name in carried else cls.links()[name].origin


class Bricard:
    """A04: corners, hinge axes, and the moments of inertia of a rod along and across."""

    CORNERS = np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)], float)
    AXES = np.array([(0, 1, 0), (0, 0, 1), (1, 0, 0)] * 2, float)
    along, across = 1 / 600, 1.01 / 12

    @classmethod
    def inertia(cls, rod: int) -> np.ndarray:
        """The diagonal, in world axes at the start."""
        out = np.full(3, cls.across)
        out[np.argmax(np.abs(cls.CORNERS[rod + 1] - cls.CORNERS[rod]))] = cls.along
        return out


class Governor:
    """A05. Rods are 0.3 kg bars of 1 m with a ball of 5 kg on their end; lengths from the hinge."""

    alpha, spin, offset, slider = math.pi / 6, 2 * math.pi, 0.05, 0.5
    stiffness, damping, free = 8e5, 4e4, 0.5
    shaft_mass, shaft_along, shaft_across = 0.3, 0.3 * 2e-4 / 12, 0.3 * 1.0001 / 12
    slider_mass, slider_inertia = 3.0, 0.005
    rod_mass = 5.3
    rod_com = (0.3 * 0.5 + 5.0) / 5.3
    rod_along = 0.3 * 2e-4 / 12
    rod_across = 0.3 * 1.0001 / 12 + 0.3 * (rod_com - 0.5) ** 2 + 5.0 * (1.0 - rod_com) ** 2
    """About the centre of mass."""


class Strut:
    """The McPherson strut: hard points, masses of 1 kg, inertias of 0.1 kg m2 about every axis."""

    P = {
        "P1A": (0.025, 0.0, 0.0),
        "P1B": (-0.025, 0.0, 0.0),
        "P2": (0.0, 0.3, 0.0),
        "P4": (0.0, 0.35, 0.45),
        "P8": (0.0, 0.5, 0.1),
        "P9": (0.1, 0.3, 0.25),
        "P11": (0.0, 0.35, 0.775),
        "P12": (0.1, -0.2, 0.25),
    }
    COM = {
        "arm": (0.0, 0.15, 0.0),
        "knuckle": (0.0, 0.35, 0.225),
        "top": (0.0, 0.35, 0.7625),
        "tie_rod": (0.1, 0.05, 0.25),
        "rack": (0.1, -0.3, 0.25),
    }
    mass, inertia, gravity, lift = 1.0, 0.1, 9.80665, 38.0
    push_mean, push_amplitude = 2.0, 0.01
