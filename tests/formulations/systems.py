"""Systems M a + J' lam = Q, J a = gamma with their solutions, by NumPy and SciPy alone."""

import dataclasses

import numpy as np
import scipy.linalg


@dataclasses.dataclass(frozen=True)
class Path:
    """A family of systems: every factor runs along a straight line, so J = C A keeps its rank and gamma = J x fits."""

    M: tuple[np.ndarray, np.ndarray]
    C: tuple[np.ndarray, np.ndarray]
    A: tuple[np.ndarray, np.ndarray]
    Q: tuple[np.ndarray, np.ndarray]
    x: tuple[np.ndarray, np.ndarray]

    def at(self, p=0.0):
        M, C, A, Q, x = (value + p * slope for value, slope in (self.M, self.C, self.A, self.Q, self.x))
        return M, C @ A, Q, C @ A @ x

    def tangent(self):
        J, dJ = self.C[0] @ self.A[0], self.C[1] @ self.A[0] + self.C[0] @ self.A[1]
        return self.M[1], dJ, self.Q[1], dJ @ self.x[0] + J @ self.x[1]

    def solution_tangent(self, h=1e-4):
        """Central differences of fourth order."""

        def difference(k):
            return [plus - minus for plus, minus in zip(solution(*self.at(k)), solution(*self.at(-k)), strict=True)]

        return [(8 * near - far) / (12 * h) for near, far in zip(difference(h), difference(2 * h), strict=True)]

    def scaled(self, d=1.0, s=1.0) -> "Path":
        """In other units: speeds divided by d, rows multiplied by s."""
        d, s = d * np.ones(len(self.x[0])), s * np.ones(len(self.C[0]))
        factors = (np.outer(d, d), s[:, None], d[None, :], d, 1 / d)
        values = (self.M, self.C, self.A, self.Q, self.x)
        return Path(*((k * x, k * dx) for k, (x, dx) in zip(factors, values, strict=True)))


def solution(M, J, Q, gamma):
    """Accelerations by reduction to the null space, and the minimum-norm multipliers."""
    B = scipy.linalg.null_space(J, rcond=1e-6) if len(J) else np.eye(len(M))
    J_pinv = np.linalg.pinv(J, rcond=1e-6)
    particular = J_pinv @ gamma
    a = particular + B @ np.linalg.solve(B.T @ M @ B, B.T @ (Q - M @ particular))
    return a, J_pinv.T @ (Q - M @ a)


def path(seed, n, m, rank, M=None, C=None, A=None) -> Path:
    """Random where nothing is given."""
    rng = np.random.default_rng(seed)
    L = rng.normal(size=(n, n))
    M = L @ L.T + np.eye(n) if M is None else M
    C = rng.normal(size=(m, rank)) if C is None else C
    A = rng.normal(size=(rank, n)) if A is None else A
    dM = rng.normal(size=(n, n))
    values = (C, A, rng.normal(size=n), rng.normal(size=n))
    return Path((M, dM + dM.T), *((value, rng.normal(size=value.shape)) for value in values))


def singular_mass(rank):
    """A body with four Euler parameters p (mass 4 G' I G, row 2 p' of their norm) and two translations."""
    e0, e1, e2, e3 = p = np.array([0.5, -0.1, 0.7, 0.5])
    G = np.array([[-e1, e0, e3, -e2], [-e2, -e3, e0, e1], [-e3, e2, -e1, e0]])
    M = scipy.linalg.block_diag(4 * G.T @ np.diag([1.0, 2.0, 3.0]) @ G, 1.5 * np.eye(2))
    A = np.random.default_rng(7).normal(size=(rank, 6))
    A[0] = [*2 * p, 0, 0]
    return path(8, 6, 4, rank, M=M, C=np.vstack([np.eye(rank), np.ones((4 - rank, rank))]), A=A)


def massless():
    """Some direction has neither mass nor constraint."""
    W = scipy.linalg.qr(np.random.default_rng(9).normal(size=(6, 6)))[0]
    A = np.random.default_rng(10).normal(size=(3, 6)) @ np.diag([1, 1, 1, 1, 1, 0]) @ W.T
    return path(11, 6, 4, 3, M=W @ np.diag([1.0, 2, 3, 4, 5, 0]) @ W.T, A=A)


#: Two bodies tied together in x, y and z, and in x twice: singular values 2, sqrt 2, sqrt 2 and 0.
TIES = np.hstack([np.eye(3), -np.eye(3)])
UNITS = {
    "1e6 M and 1e6 J": (1e3, 1e3),
    "1e6 M and 1e-6 J": (1e3, 1e-9),
    "1e-6 M and 1e6 J": (1e-3, 1e9),
    "1e-6 M and 1e-6 J": (1e-3, 1e-3),
}
MIXED = (10.0 ** np.array([4, -4, 0, 3, -1, 1]), 10.0 ** np.array([-6, 6, 0, 3]))

#: Six speeds and four rows; three degrees of freedom unless independent.
SMALL = {
    "redundant": path(2, 6, 4, 3),
    "repeated": path(4, 6, 4, 3, M=np.diag([2.0, 2, 2, 1, 1, 1]), C=np.eye(4, 3) + np.eye(4, 3, -3), A=TIES),
    "singular mass": singular_mass(3),
    "massless": massless(),
    "rank two": path(13, 6, 4, 2),
    "independent": path(1, 6, 4, 4),
    "independent, singular mass": singular_mass(4),
    "independent, mixed units": path(1, 6, 4, 4).scaled(*MIXED),
    "empty row": path(14, 6, 4, 3, C=np.eye(4, 3)),
    **{f"redundant, {unit}": path(2, 6, 4, 3).scaled(*scales) for unit, scales in UNITS.items()},
    **{f"independent, {unit}": path(1, 6, 4, 4).scaled(*scales) for unit, scales in UNITS.items()},
}

#: The same shape, but not as they should be: the row no longer quite dependent nor its gamma quite consistent, and NaN.
_M, _J, _Q, _gamma = SMALL["redundant"].at()
_NOISE = np.random.default_rng(12).normal(size=(4, 7))
_LIGHT = np.outer(*[[1, 1, 1, 0.01, 0.01, 0.01]] * 2)
DISTURBED = {
    "drifted": (_M, _J + 3e-7 * _NOISE[:, :6], _Q, _gamma + 1e-6 * _NOISE[:, 6]),
    "drifted, light body": (_M * _LIGHT, _J + 1e-6 * _NOISE[:, :6], _Q, _gamma + 1e-6 * _NOISE[:, 6]),
    "force is NaN": (_M, _J, _Q * [1, np.nan, 1, 1, 1, 1], _gamma),
    "row is infinite": (_M, _J * np.array([1, 1, 1, np.inf])[:, None], _Q, _gamma),
}

#: The size of the overconstrained McPherson strut, and the same with inertias spread over seven decades.
LARGE = path(3, 30, 31, 26)
WIDE = path(3, 30, 31, 26, M=LARGE.M[0] * np.sqrt(np.outer(*[np.geomspace(1e-6, 10, 30)] * 2)))
NO_ROWS = path(5, 6, 0, 0)
NO_FREEDOM = path(6, 6, 6, 6)
