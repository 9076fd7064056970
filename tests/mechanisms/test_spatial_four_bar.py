"""Spatial four-bar: the points and axes found from the lengths."""

import numpy as np

from jaxmb.mechanisms import spatial_four_bar


def test_points():
    bodies = spatial_four_bar().bodies
    np.testing.assert_allclose(bodies["coupler"].pose.p, (-3.74555772, -4.25, 4.26236544), rtol=1e-8)
    np.testing.assert_allclose(bodies["rocker"].pose.p, (-5.74555772, -8.5, 3.26236544), rtol=1e-8)
    for name in ("coupler", "rocker"):
        C = bodies[name].pose.p + bodies[name].pose.R @ bodies[name].points["C"]
        np.testing.assert_allclose(C, (-7.491115439, -8.5, 6.524730877), rtol=1e-9)


def test_axes():
    u, e1, e2 = np.asarray(spatial_four_bar().bodies["coupler"].pose.R).T
    np.testing.assert_allclose(u, (-0.61402586, -0.69672131, 0.37087958), atol=1e-8)
    np.testing.assert_allclose(e1, (0.75022676, -0.66118062, 0.0), atol=1e-8)
    np.testing.assert_allclose(e2, (0.24521839, 0.27824379, 0.92868097), atol=1e-8)
