"""Bricard's mechanism and the strut by hand."""

import numpy as np
import pytest

from jaxmb.peers import hand_models


@pytest.mark.parametrize("overconstrained", [False, True])
def test_first_accelerations_of_the_strut(overconstrained):
    """Those that another program found (global axes; centers, then angular)."""
    m = hand_models.strut(overconstrained)
    a = m.rhs(0.0, m.start()).reshape(5, 13)[:, 7:]
    assert a[0] == pytest.approx([0, 0, -0.100525291, -0.670168605, 0, 0], abs=1e-8)
    assert a[1] == pytest.approx([-0.0669676639, 0, -0.201050581, 0, 0.121759389, 1.88727053], abs=1e-8)
    assert a[3] == pytest.approx([0.0152199236, 0.188727053, -0.106613260, -0.426453041, 0, -0.0608796945], abs=1e-8)
    assert a[4] == pytest.approx([0, 0.188727053, 0, 0, 0, 0], abs=1e-8)


def test_bricard_starts_as_the_reference_does():
    """P3 moves by half the acceleration times t^2: (-1.95, 0, -1.95) m/s2 from the first row of the reference."""
    m = hand_models.bricard()
    slope = m.rhs(0.0, m.start()).reshape(5, 13)
    corner = slope[1, 7:10] + np.cross(slope[1, 10:13], [0.0, -0.5, 0.0])
    assert corner == pytest.approx([-1.95, 0.0, -1.95], abs=0.02)
