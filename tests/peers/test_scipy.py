"""Equations by hand reach the trusted trajectories, with scipy's integrators."""

import numpy as np
import pytest

from jaxmb.peers.base import Method
from jaxmb.peers.scipy import SCIPY, _model, tolerances

from .errors import error_of


@pytest.mark.parametrize(
    ("key", "method", "level", "error"),
    [
        ("a01", "DOP853", 1e-12, 1e-11),
        ("a01", "LSODA", 1e-9, 5e-7),
        ("a02-2", "DOP853 Baumgarte 20", 1e-8, 2e-6),
        ("a03", "DOP853", 1e-9, 1e-10),
        ("a03", "LSODA", 1e-7, 1e-7),
        ("a04", "DOP853", 1e-8, 5e-6),
        ("a05", "LSODA", 1e-7, 1e-5),
        ("a05", "Radau", 1e-6, 1e-6),
        ("mcpherson-simplified", "DOP853", 1e-9, 1e-7),
        ("mcpherson-overconstrained", "DOP853", 1e-8, 1e-6),
    ],
)
def test_it_reaches_the_reference(key, method, level, error):
    assert error_of(SCIPY, key, method, level) < error


@pytest.mark.parametrize(("key", "level", "error"), [("a02-10", 1e-7, 1e-5), ("a02-40", 1e-6, 1e-4)])
def test_it_passes_the_singular_configurations_of_long_rows(key, level, error):
    assert error_of(SCIPY, key, "DOP853 Baumgarte 20", level) < error


def test_what_does_not_come_to_its_end_is_nan():
    """y' = y^2 is infinite at t = 1."""
    ts = np.linspace(0.0, 2.0, 5)
    model = _model(ts, lambda t, y: y**2, [1.0], lambda y: (y[:, 0],), (Method("RK45", (1e-6,), fixed=False),))
    outputs = model.run("RK45", 1e-6).outputs[:, 0]
    assert outputs[:2] == pytest.approx([1.0, 2.0], rel=1e-4)
    assert np.isnan(outputs[3:]).all()


def test_tolerances_are_decades():
    assert tolerances(3, 5) == (1e-3, 1e-4, 1e-5)
