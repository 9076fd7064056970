"""A03 by hand in numpy: the seven angles and six constraints of the IVP test set, accelerations from a system of 13."""

from math import cos, hypot, sin

import numpy as np

from .numbers import Andrews as K

RA, DA, SA, SB, EA, TA, TB, FA, UA, UB = (
    0.00092,
    0.0115,
    0.01874,
    0.01043,
    0.01421,
    0.02308,
    0.00916,
    0.01421,
    0.01228,
    0.00449,
)
M1, M2, M3, M4, M5, M6, M7 = K.masses
I1, I2, I3, I4, I5, I6, I7 = K.inertias

#: The constraints are sums of `LENGTHS` times the cosine (x) or sine (y) of `TURN @ q + SHIFT`, minus a ground point.
TURN = np.zeros((7, 7))
for _row, _angles in enumerate(((0,), (0, 1), (2,), (3, 4), (4,), (5, 6), (6,))):
    TURN[_row, list(_angles)] = 1.0
SHIFT = np.array([0.0, 0.0, -np.pi / 2, -np.pi / 2, 0.0, 0.0, -np.pi / 2])
LENGTHS = np.zeros((3, 7))
LENGTHS[:, :2] = K.rr, -K.d
LENGTHS[0, 2] = -K.ss
LENGTHS[1, 3], LENGTHS[1, 4] = -K.e, -K.zt
LENGTHS[2, 5], LENGTHS[2, 6] = -K.zf, -K.u


def mass(theta: float, phi: float, omega: float) -> np.ndarray:
    M = np.zeros((7, 7))
    g4, g6 = K.e - EA, K.zf - FA
    M[0, 0] = M1 * RA**2 + M2 * (K.rr**2 - 2 * DA * K.rr * cos(theta) + DA**2) + I1 + I2
    M[0, 1] = M[1, 0] = M2 * (DA**2 - DA * K.rr * cos(theta)) + I2
    M[1, 1] = M2 * DA**2 + I2
    M[2, 2] = M3 * (SA**2 + SB**2) + I3
    M[3, 3] = M4 * g4**2 + I4
    M[3, 4] = M[4, 3] = M4 * (g4**2 + K.zt * g4 * sin(phi)) + I4
    M[4, 4] = M4 * (K.zt**2 + 2 * K.zt * g4 * sin(phi) + g4**2) + M5 * (TA**2 + TB**2) + I4 + I5
    M[5, 5] = M6 * g6**2 + I6
    M[5, 6] = M[6, 5] = M6 * (g6**2 - K.u * g6 * sin(omega)) + I6
    M[6, 6] = M6 * (g6**2 - 2 * K.u * g6 * sin(omega) + K.u**2) + M7 * (UA**2 + UB**2) + I6 + I7
    return M


def forces(q, v) -> list[float]:
    _, theta, gamma, phi, _, omega, _ = q
    dbeta, dtheta, _, dphi, ddelta, domega, depsilon = v
    sd, sc = K.D_ON_K3[0], -K.D_ON_K3[1]
    x = sd * cos(gamma) + sc * sin(gamma) + K.B[0] - K.C[0]
    y = sd * sin(gamma) - sc * cos(gamma) + K.B[1] - K.C[1]
    length = hypot(x, y)
    pull = -K.c0 * (length - K.l0) / length
    c2, c4, c6 = M2 * DA * K.rr * sin(theta), M4 * K.zt * (K.e - EA) * cos(phi), M6 * K.u * (K.zf - FA) * cos(omega)
    return [
        K.torque - c2 * dtheta * (dtheta + 2 * dbeta),
        c2 * dbeta**2,
        pull * (x * (sc * cos(gamma) - sd * sin(gamma)) + y * (sd * cos(gamma) + sc * sin(gamma))),
        c4 * ddelta**2,
        -c4 * dphi * (dphi + 2 * ddelta),
        -c6 * depsilon**2,
        c6 * domega * (domega + 2 * depsilon),
    ]


def rhs(t: float, y: np.ndarray) -> np.ndarray:
    q, v = y[:7], y[7:]
    angles, rates = TURN @ q + SHIFT, TURN @ v
    x, z = LENGTHS * np.cos(angles), LENGTHS * np.sin(angles)
    J = np.concatenate([-z, x]) @ TURN
    A = np.zeros((13, 13))
    A[:7, :7], A[:7, 7:], A[7:, :7] = mass(q[1], q[3], q[5]), J.T, J
    gamma = np.concatenate([x, z]) @ rates**2
    return np.concatenate([v, np.linalg.solve(A, np.concatenate([forces(q.tolist(), v.tolist()), gamma]))[:7]])


def start() -> np.ndarray:
    return np.concatenate([K.start, np.zeros(7)])
