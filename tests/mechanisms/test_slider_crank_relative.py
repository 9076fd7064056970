"""Slider-crank in relative angles: both mass matrices."""

import numpy as np

from .starts import at_start


def test_right_mass_matrix():
    c = np.cos(-np.pi / 2)
    wanted = [[20 / 3 + 4 * c, 4 / 3 + 2 * c, 0], [4 / 3 + 2 * c, 4 / 3, 0], [0, 0, 1]]
    np.testing.assert_allclose(at_start("slider-crank-relative").M, wanted, rtol=1e-14, atol=1e-14)


def test_printed_mass_matrix():
    np.testing.assert_allclose(at_start("slider-crank-relative-printed").M, np.diag([4 / 3, 4 / 3, 1.0]), rtol=1e-14)
