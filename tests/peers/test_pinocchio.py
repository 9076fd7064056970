"""The models in Pinocchio reach the trusted trajectories, where it is installed (the extra `bench`)."""

import pytest

from jaxmb.peers.pinocchio import PINOCCHIO

from .errors import error_of

pytest.importorskip("pinocchio")


@pytest.mark.parametrize(
    ("key", "method", "level", "error"),
    [
        ("a01", "RK4", 0.005, 1e-7),
        ("a02-2", "RK4, Baumgarte 20", 0.005, 1e-6),
        ("a02-10", "RK4, Baumgarte 20", 0.01, 1e-5),
        ("a03", "RK4", 5e-5, 1e-6),
        ("a04", "RK4", 0.005, 1e-6),
        ("a05", "RK4", 2.5e-4, 1e-9),
        ("mcpherson-simplified", "RK4", 0.01, 1e-6),
    ],
)
def test_it_reaches_the_reference(key, method, level, error):
    assert error_of(PINOCCHIO, key, method, level) < error


def test_rotations_of_ball_joints_are_of_fourth_order():
    """Half the step has a sixteenth of the error, which it has not when speeds are only added up."""
    coarse, fine = (error_of(PINOCCHIO, "mcpherson-overconstrained", "RK4", step) for step in (0.02, 0.01))
    assert 10 < coarse / fine < 22
