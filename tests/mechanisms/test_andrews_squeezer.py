"""Andrews' squeezer: the start and the first accelerations of the IVP test set."""

import numpy as np

from jaxmb.mechanisms import get_mechanism

from .starts import accelerations


def test_angles_of_the_start():
    """Crank and K2 are aligned; the other angles as printed with 30 digits."""
    system, state = get_mechanism("andrews-squeezer").build()
    b, bt, ga, pd, de, oe, ep = np.asarray(state.q).reshape(7, 3)[:, 2]
    found = [bt - b, ga, pd - de, de, oe - ep - np.pi / 2, ep + np.pi / 2]
    wanted = [
        0.0,
        0.455279819163070380255912382449,
        0.222668390165885884674473185609,
        0.487364979543842550225598953530,
        -0.222668390165885884674473185609,
        1.23054744454982119249735015568,
    ]
    np.testing.assert_allclose(found, wanted, rtol=1e-13, atol=1e-13)
    assert list(system.bodies) == [f"K{k}" for k in range(1, 8)]


def test_first_accelerations():
    a = accelerations("andrews-squeezer").reshape(7, 3)[:, 2]
    np.testing.assert_allclose([a[0], a[1] - a[0]], [14222.44391995, -10666.83293997], rtol=1e-11)
