"""The equations of the IVP test set."""

import numpy as np
import pytest

from jaxmb.peers import hand_andrews


def test_first_accelerations():
    """Those that the test set prints; the start is closed and at rest."""
    slope = hand_andrews.rhs(0.0, hand_andrews.start())
    assert slope[:7] == pytest.approx(np.zeros(7))
    assert slope[7:9] == pytest.approx([14222.44391995, -10666.83293997], rel=1e-9)


def test_the_start_is_closed():
    from jaxmb.peers.numbers import Andrews

    angles = hand_andrews.TURN @ np.array(Andrews.start) + hand_andrews.SHIFT
    x, y = hand_andrews.LENGTHS @ np.cos(angles), hand_andrews.LENGTHS @ np.sin(angles)
    assert x == pytest.approx([Andrews.B[0], Andrews.A[0], Andrews.A[0]], abs=1e-15)
    assert y == pytest.approx([Andrews.B[1], Andrews.A[1], Andrews.A[1]], abs=1e-15)
