"""The row of four-bars by hand."""

import numpy as np
import pytest

from jaxmb.peers.hand_planar import multipliers, n_four_bar
from jaxmb.peers.numbers import GRAVITY


@pytest.mark.parametrize("windows", [1, 3])
def test_the_slope_is_that_of_the_parallelogram(windows):
    """psi'' = (P g / I) sin psi, tops at (sin psi, cos psi): psi'' = 0 and tops accelerate by -psi'^2 along the upright."""
    y, rhs = n_four_bar(windows)
    n = len(y) // 2
    slope = rhs(0.0, y, 0.0)
    assert slope[:n] == pytest.approx(y[n:])
    a = slope[n:].reshape(-1, 3)
    assert a[: windows + 1] == pytest.approx(np.tile([0.0, -0.5, 0.0], (windows + 1, 1)), abs=1e-9)
    assert a[windows + 1 :] == pytest.approx(np.tile([0.0, -1.0, 0.0], (windows, 1)), abs=1e-9)


def test_at_an_angle_the_weight_drives_it():
    windows, psi, rate = 2, 0.4, 0.7
    y, rhs = n_four_bar(windows)
    x, v = y.reshape(2, -1, 3)
    top = np.array([np.sin(psi), np.cos(psi)])
    speed = rate * np.array([np.cos(psi), -np.sin(psi)])
    for i in range(windows + 1):
        x[i], v[i] = (i + top[0] / 2, top[1] / 2, np.pi / 2 - psi), (*speed / 2, -rate)
    for i in range(windows):
        x[windows + 1 + i], v[windows + 1 + i] = (i + 0.5 + top[0], top[1], 0.0), (*speed, 0.0)
    a = rhs(0.0, y, 20.0)[y.size // 2 :].reshape(-1, 3)
    P, I = (windows + 1) / 2 + windows, (windows + 1) / 3 + windows
    assert a[: windows + 1, 2] == pytest.approx(-P * GRAVITY / I * np.sin(psi), rel=1e-9)


def test_a_singular_system_is_solved_where_it_can_be():
    """Two equal rows: S is singular, and the accelerations J' x are those of one row."""
    J = np.array([[1.0, 2.0, 0.0], [1.0, 2.0, 0.0], [0.0, 1.0, 3.0]])
    want = np.linalg.pinv(J) @ np.array([4.0, 4.0, 5.0])
    assert J.T @ multipliers(J @ J.T, np.array([4.0, 4.0, 5.0])) == pytest.approx(want, rel=1e-12)
