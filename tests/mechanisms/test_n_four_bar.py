"""N-four-bar: any number of squares, all tops at one speed."""

import numpy as np
import pytest

from jaxmb.mechanisms import n_four_bar, n_four_bar_start


@pytest.mark.parametrize("windows", [1, 3, 40])
def test_size(windows):
    system = n_four_bar(windows=windows)
    assert len(system.bodies) == 2 * windows + 1
    assert sum(joint.nrows for joint in system.joints.values()) == 6 * windows + 2


def test_start():
    system = n_four_bar(windows=2, length=0.5)
    velocity = np.asarray(n_four_bar_start(system, 2.0).v).reshape(5, 3)
    np.testing.assert_allclose(velocity[:3], np.tile([1.0, 0.0, -4.0], (3, 1)), atol=1e-15)
    np.testing.assert_allclose(velocity[3:], np.tile([2.0, 0.0, 0.0], (2, 1)), atol=1e-15)
