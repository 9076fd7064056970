"""Points and rotations in closed form."""

import numpy as np

X, Y, Z = np.eye(3)


def unit(a):
    return np.asarray(a) / np.linalg.norm(a)


def turn(axis, angle):
    """The rotation matrix about a direction."""
    n = unit(axis)
    K = np.cross(np.eye(3), n)
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def polar(angle, radius=1.0):
    """A point of the plane z = 0."""
    return radius * np.array([np.cos(angle), np.sin(angle), 0.0])


def third_point(A, B, from_A, from_B):
    """The point of the plane z = 0 at two distances from A and B, to the left of the way from A to B."""
    AB = B - A
    d2 = AB @ AB
    along = (from_A**2 - from_B**2 + d2) / (2 * d2)
    return A + along * AB + np.sqrt(from_A**2 / d2 - along**2) * np.cross(Z, AB)


def angle_with(a, b, c, branch=1):
    """One of the two angles with a cos + b sin = c."""
    return np.arctan2(b, a) + branch * np.arccos(c / np.hypot(a, b))


def frame(x, across):
    """The rotation matrix with its x axis along `x` and its z axis along the part of `across` that is perpendicular to it."""
    x = unit(x)
    z = unit(across - (across @ x) * x)
    return np.stack([x, np.cross(z, x), z], axis=1)
