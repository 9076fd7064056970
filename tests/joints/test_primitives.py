"""The few relations, each by its geometric meaning."""

import jax.numpy as jnp
import numpy as np
import pytest

from jaxmb.joints import primitives

from .frames import F, about, along


def test_rows_measure_what_their_names_say():
    G = F @ along(0.1, 0.2, 0.3)
    np.testing.assert_allclose(primitives.coincide(F, G), np.asarray(G.p) - np.asarray(F.p))
    np.testing.assert_allclose(primitives.parallel2(F, G), [0.1, 0.2], atol=1e-15)
    np.testing.assert_allclose(primitives.perpendicular2(F.z, F, G), [0.3], atol=1e-15)
    np.testing.assert_allclose(primitives.perpendicular1(F.x, F.y), [0.0], atol=1e-15)
    np.testing.assert_allclose(primitives.perpendicular1(F.x, F.x), [1.0], atol=1e-15)
    length = np.sqrt(0.14)
    np.testing.assert_allclose(primitives.distance(F, G, jnp.array(length)), [0.0], atol=1e-15)
    np.testing.assert_allclose(primitives.distance(F, G, jnp.array(0.5)), [(0.14 - 0.25) / 1.0], atol=1e-15)


@pytest.mark.parametrize("axis", ["x", "y", "z", (1, 2, 3)])
def test_parallel_rows_never_vanish_for_tilted_axes(axis):
    """Two of the three rows of a cross product would, for axes along a coordinate direction."""
    start = about(axis, 1.0)
    for tilt, row in (("x", 1), ("y", 0)):
        residual = np.asarray(primitives.parallel1(start, start @ about(tilt, 0.2)))
        expected = np.zeros(2)
        expected[row] = np.sin(0.2) * (1 if row == 0 else -1)
        np.testing.assert_allclose(residual, expected, atol=1e-15)
