"""What the tests compare with: NumPy, SciPy and finite differences, none of it from the package."""

import numpy as np
from scipy.spatial.transform import Rotation


def derivative(f, h: float = 1e-3):
    """f'(0) by the central formula of fourth order."""
    near = np.asarray(f(h)) - np.asarray(f(-h))
    far = np.asarray(f(2 * h)) - np.asarray(f(-2 * h))
    return (8 * near - far) / (12 * h)


def jacobian(f, x, h: float = 1e-3):
    """df/dx, column by column."""
    x = np.asarray(x, float)
    return np.stack([derivative(lambda s, e=e: f(x + s * e), h) for e in np.eye(x.size)], axis=-1)


def cross_matrix(w):
    return np.cross(np.eye(3), np.asarray(w)).T * -1.0


def rotation_matrices(count: int, seed: int = 0):
    return Rotation.random(count, rng=np.random.default_rng(seed)).as_matrix()


def turn(axis, angle):
    """Rotation matrix about a direction."""
    axis = np.asarray(axis, float)
    return Rotation.from_rotvec(angle * axis / np.linalg.norm(axis)).as_matrix()


def accelerations(terms):
    """The accelerations of M a + J' lam = Q, J a = gamma, by least squares on the whole matrix."""
    M, J = np.asarray(terms.M), np.asarray(terms.J)
    n, m = M.shape[0], J.shape[0]
    K = np.block([[M, J.T], [J, np.zeros((m, m))]])
    right = np.concatenate([terms.Q, terms.gamma])
    solution = np.linalg.lstsq(K, right, rcond=1e-12)[0]
    np.testing.assert_allclose(K @ solution, right, atol=1e-8 * (1 + np.abs(right).max()))
    return solution[:n]


def rank(matrix) -> int:
    return int(np.linalg.matrix_rank(np.asarray(matrix), tol=1e-9))
