"""Energy over long conservative runs with the default: projection costs no energy."""

import numpy as np
import pytest

import jaxmb as mb
from jaxmb.mechanisms import get_mechanism
from tests.models import spatial_loop

SYSTEMS = {"four-bar": spatial_loop, "bricard": lambda: get_mechanism("bricard").build()}


@pytest.mark.slow
@pytest.mark.parametrize("name", SYSTEMS)
def test_100_seconds(name):
    """Both are redundant and without losses. The error is relative to the largest kinetic energy, which no choice of the zero of
    height can make look small."""
    system, state = SYSTEMS[name]()
    sol = mb.simulate(system, state, t1=100.0, ts=np.linspace(0.0, 100.0, 201), rtol=1e-10, atol=1e-10)
    energy = sol.energy
    total = np.asarray(energy.total)
    largest = float(np.max(np.asarray(energy.kinetic)))
    assert largest > 1.0, "it moves"
    assert np.max(np.abs(total - total[0])) < 1e-8 * largest
    assert float(np.max(np.asarray(sol.violation.position))) < 1e-10
