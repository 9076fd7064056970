"""The same motion in every kind of coordinates."""

import functools

import jax
import numpy as np
import pytest

import jaxmb as mb
from jaxmb.mechanisms import mcpherson

#: As many times as the reference has, so that a program which is compiled already serves here too.
TS = np.linspace(0.0, 1.0, 101)


@functools.cache
def poses(kind, t1):
    """Positions and rotation matrices of all bodies of the overconstrained McPherson strut over time."""
    system = mcpherson().with_coordinates(kind)
    sol = mb.simulate(system, system.state(), t1=t1, ts=t1 * TS, rtol=1e-11, atol=1e-11)
    found = jax.vmap(system.equations().poses)(sol.q)
    return np.asarray(found.p), np.asarray(found.R)


@pytest.mark.slow
@pytest.mark.parametrize("t1", [1.0, 10.0])
@pytest.mark.parametrize("kind", [mb.EulerAngles("zxz"), mb.EulerParameters()], ids=["zxz", "euler-parameters"])
def test_mcpherson_strut_moves_alike(kind, t1):
    for found, wanted in zip(poses(kind, t1), poses(mb.Quaternion(), t1), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-9)
