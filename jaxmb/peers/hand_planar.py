"""A02 by hand in numpy: absolute coordinates in the plane, accelerations from the constraints differentiated twice."""

from collections.abc import Callable

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from .numbers import GRAVITY


def n_four_bar(windows: int) -> tuple[np.ndarray, Callable[..., np.ndarray]]:
    """The start (coordinates, then speeds), and the right-hand side of (t, y, baumgarte).

    Uprights come first, then couplers; pins are (body, place along it, body or -1 for the ground, place or ground point).
    """
    N, n = windows, 3 * (2 * windows + 1)
    x, v = np.zeros((2 * N + 1, 3)), np.zeros((2 * N + 1, 3))
    x[: N + 1], v[: N + 1] = [(i, 0.5, np.pi / 2) for i in range(N + 1)], (0.5, 0.0, -1.0)
    x[N + 1 :], v[N + 1 :] = [(i + 0.5, 1.0, 0.0) for i in range(N)], (1.0, 0.0, 0.0)
    left = [(i, 0.5, N + 1 + i, -0.5) for i in range(N)]
    right = [(i + 1, 0.5, N + 1 + i, 0.5) for i in range(N)]
    a = np.array([*range(N + 1), *(p[0] for p in left + right)])
    along_a = np.array([-0.5] * (N + 1) + [p[1] for p in left + right])
    b, along_b = np.array([p[2] for p in left + right]), np.array([p[3] for p in left + right])
    pins, moving = np.arange(3 * N + 1), np.arange(N + 1, 3 * N + 1)
    ground = np.stack([np.arange(N + 1.0), np.zeros(N + 1)], 1)
    # Constant entries of the Jacobian; those of the angles are filled in at each evaluation.
    J0 = np.zeros((6 * N + 2, n))
    for k in (0, 1):
        J0[2 * pins + k, 3 * a + k] = 1.0
        J0[2 * moving + k, 3 * b + k] = -1.0
    root = np.sqrt(np.tile([1.0, 1.0, 12.0], 2 * N + 1))
    free = np.tile([0.0, -GRAVITY, 0.0], 2 * N + 1)

    def rhs(t: float, y: np.ndarray, baumgarte: float) -> np.ndarray:
        q, w = y[:n].reshape(-1, 3), y[n:].reshape(-1, 3)[:, 2]
        unit = np.stack([np.cos(q[:, 2]), np.sin(q[:, 2])], 1)
        arm_a, arm_b = along_a[:, None] * unit[a], along_b[:, None] * unit[b]
        J = J0.copy()
        J[2 * pins, 3 * a + 2], J[2 * pins + 1, 3 * a + 2] = -arm_a[:, 1], arm_a[:, 0]
        J[2 * moving, 3 * b + 2], J[2 * moving + 1, 3 * b + 2] = arm_b[:, 1], -arm_b[:, 0]
        gamma = arm_a * w[a, None] ** 2
        gamma[N + 1 :] -= arm_b * w[b, None] ** 2
        gamma = gamma.ravel()
        if baumgarte:
            gap = q[a, :2] + arm_a
            gap[: N + 1] -= ground
            gap[N + 1 :] -= q[b, :2] + arm_b
            gamma = gamma - 2 * baumgarte * (J @ y[n:]) - baumgarte**2 * gap.ravel()
        # LU would fail: the rank drops by N when the rods lie on one line.
        A = J * root
        z = A.T @ multipliers(A @ A.T, gamma - J @ free)
        return np.concatenate([y[n:], free + root * z])

    return np.concatenate([x.ravel(), v.ravel()]), rhs


def multipliers(S: np.ndarray, b: np.ndarray, ridge: float = 1e-8, iterations: int = 3) -> np.ndarray:
    """S x = b for a symmetric S that is singular or nearly so: a small diagonal is added, and what it changes is taken back by
    iteration (the proximal method). A least-squares solve by SVD takes ten times as long for 60 rows. `S` is overwritten."""
    S.flat[:: len(S) + 1] += ridge
    factor = cho_factor(S, overwrite_a=True, check_finite=False)
    x = cho_solve(factor, b, check_finite=False)
    for _ in range(iterations - 1):
        x = cho_solve(factor, b + ridge * x, check_finite=False)
    return x
