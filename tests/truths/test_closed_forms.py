"""The truths themselves are true: they satisfy their equations, and one another."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from . import closed_forms as truth

T = np.linspace(0.0, 3.0, 31)


def integrated(k, angle, rate):
    """theta'' = k sin(theta) by another method."""
    return solve_ivp(
        lambda _, y: [y[1], k * np.sin(y[0])], (0, 3), [angle, rate], "DOP853", T, rtol=1e-12, atol=1e-13
    ).y


@pytest.mark.parametrize("amplitude", [0.1, 1.6, 3.0])
def test_swinging(amplitude):
    np.testing.assert_allclose(truth.swinging(T, amplitude, 9.81), integrated(-9.81, amplitude, 0.0), atol=1e-9)


def test_swinging_period():
    period = truth.swinging_period(np.pi / 2, 9.81)
    assert period == pytest.approx(2.367841947576237, rel=1e-14)
    np.testing.assert_allclose(truth.swinging(np.array([period]), np.pi / 2, 9.81), [[np.pi / 2], [0.0]], atol=1e-7)


@pytest.mark.parametrize("rate", [0.3, 1.0, 8.0])
def test_turning(rate):
    np.testing.assert_allclose(truth.turning(T, rate, 12.0), integrated(12.0, 0.0, rate), rtol=1e-9, atol=1e-9)


def test_quarter_turn():
    at = truth.quarter_turn(1.0, 12.0)
    assert truth.turning(np.array([at]), 1.0, 12.0)[0][0] == pytest.approx(np.pi / 2, rel=1e-13)


def test_bricard_corner_keeps_the_rods_at_their_length():
    P3 = truth.bricard_corner(np.linspace(0.0, np.pi, 9))
    P2 = np.stack([np.cos(np.linspace(0.0, np.pi, 9)), np.zeros(9), -np.sin(np.linspace(0.0, np.pi, 9))])
    np.testing.assert_allclose(np.linalg.norm(P3 - P2, axis=0), 1.0, rtol=1e-14)


def test_slider_crank_keeps_its_energy():
    masses, inertias = (0.3, 5.0, 3.0), (1e-3, 0.1)
    t = np.linspace(0.0, 5.0, 11)
    phi, rate, x, dx = truth.slider_crank(t, 0.2, 0.5, masses, inertias, 0.5, -0.5)
    pin, pin_rate = 0.2 * np.stack([np.cos(phi), np.sin(phi)]), 0.2 * rate * np.stack([-np.sin(phi), np.cos(phi)])
    wrist, wrist_rate = np.stack([x, 0 * x]), np.stack([dx, 0 * x])
    along, along_rate = wrist - pin, wrist_rate - pin_rate
    turn = (along[0] * along_rate[1] - along[1] * along_rate[0]) / 0.5**2
    middle = 0.5 * (pin_rate + wrist_rate)
    energy = masses[0] * np.sum(pin_rate**2, 0) / 4 + masses[1] * np.sum(middle**2, 0) + masses[2] * dx**2
    energy = 0.5 * (energy + inertias[0] * rate**2 + inertias[1] * turn**2)
    np.testing.assert_allclose(np.linalg.norm(along, axis=0), 0.5, rtol=1e-13)
    np.testing.assert_allclose(energy, 0.5 * (phi + 0.5), atol=1e-11)
