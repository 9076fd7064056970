"""Motions known without jaxmb: elliptic functions, and an equation of one coordinate where that is all there is."""

import numpy as np
from scipy.integrate import solve_ivp
from scipy.special import ellipj, ellipk, ellipkinc


def swinging(t, amplitude, k):
    """Angle and rate of theta'' = -k sin(theta) (1/s2) released at rest from `amplitude` (rad, below pi)."""
    half = np.sin(amplitude / 2)
    m, w = half**2, np.sqrt(k)
    sn, cn, dn, _ = ellipj(w * np.asarray(t), m)
    return 2 * np.arcsin(half * cn / dn), -2 * half * w * np.sqrt(1 - m) * sn / dn


def swinging_period(amplitude, k):
    """Time (s) of a full swing."""
    return 4 * ellipk(np.sin(amplitude / 2) ** 2) / np.sqrt(k)


def turning(t, rate, k):
    """Angle and rate of psi'' = k sin(psi) (1/s2) that leaves the top, psi = 0, at `rate` (rad/s) and goes round and round."""
    m, w = _turning(rate, k)
    amplitude = ellipj(ellipk(m) - w * np.asarray(t), m)[3]
    psi = np.pi - 2 * amplitude
    return psi, np.sqrt(rate**2 + 4 * k * np.sin(psi / 2) ** 2)


def quarter_turn(rate, k):
    """Time (s) at which `turning` is at psi = 90 degrees for the first time."""
    m, w = _turning(rate, k)
    return (ellipk(m) - ellipkinc(np.pi / 4, m)) / w


def _turning(rate, k):
    return 4 * k / (rate**2 + 4 * k), 0.5 * np.sqrt(rate**2 + 4 * k)


def n_four_bar_constant(windows, gravity=9.81):
    """k of `turning` for a row of parallelograms of thin rods of 1 m and 1 kg."""
    inertia, moment = (windows + 1) / 3 + windows, (windows + 1) / 2 + windows
    return moment * gravity / inertia


def bricard_corner(theta):
    """P3 of Bricard's loop at the angle `theta` of its first hinge."""
    s, c = np.sin(theta), np.cos(theta)
    return np.stack([c / (1 + s), -np.sqrt(1 - (s / (1 + s)) ** 2), -s / (1 + s)])


def slider_crank(t, crank, rod, masses, inertias, torque, phi):
    """Crank angle, its rate, wrist position and its rate of a slider-crank with uniform links at rest at `phi`, under a constant
    torque: I(phi) phi'' + I'(phi) phi'^2 / 2 = torque, with I by kinetic energy."""

    def shape(phi):
        """Wrist x, and the squares of the speeds per unit crank rate; analytic, so that complex steps differentiate it."""
        s, c = np.sin(phi), np.cos(phi)
        alpha = -crank * s / rod  # sine of the rod's angle
        cosine = np.sqrt(1 - alpha**2)
        rate = -crank * c / (rod * cosine)  # of the rod's angle
        x, dx = crank * c + rod * cosine, -crank * s - rod * alpha * rate
        middle = np.array([-crank * s + 0.5 * (dx + crank * s), 0.5 * crank * c])
        inertia = inertias[0] + masses[0] * (crank / 2) ** 2 + inertias[1] * rate**2
        return x, dx, inertia + masses[1] * np.sum(middle**2) + masses[2] * dx**2

    def acceleration(_, y):
        inertia = shape(y[0])[2]
        slope = np.imag(shape(y[0] + 1e-30j)[2]) / 1e-30
        return [y[1], (torque - 0.5 * slope * y[1] ** 2) / inertia]

    y = solve_ivp(acceleration, (0.0, t[-1]), [phi, 0.0], method="DOP853", t_eval=t, rtol=1e-13, atol=1e-14).y
    x, dx, _ = np.array([shape(angle) for angle in y[0]], dtype=object).T
    return y[0], y[1], x.astype(float), dx.astype(float) * y[1]
