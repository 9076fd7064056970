"""The slider of planar mechanisms."""

import jax.numpy as jnp
import numpy as np
import pytest

from jaxmb import PlanarPrismatic
from jaxmb.spatial import Pose, frame_with_z

from ..oracles import turn

AXIS = np.array([0.6, 0.8, 0.0])
F = Pose(jnp.array([1.0, 2.0, 0.0]), frame_with_z(jnp.array(AXIS)))
JOINT = PlanarPrismatic("a", "b")


def moved(shift, angle=0.0):
    return Pose(F.p + jnp.array(shift), jnp.array(turn([0, 0, 1], angle)) @ F.R)


@pytest.mark.parametrize("distance", [-3.0, 0.0, 0.7])
def test_the_slide_along_the_axis_is_left_and_measured(distance):
    np.testing.assert_allclose(JOINT.residual(F, moved(distance * AXIS), jnp.zeros(())), 0.0, atol=1e-14)
    np.testing.assert_allclose(JOINT.measure(F, moved(distance * AXIS)), [distance], atol=1e-14)


def test_neither_a_turn_nor_a_move_across_is():
    across = np.array([-0.8, 0.6, 0.0])
    np.testing.assert_allclose(JOINT.residual(F, moved(0.1 * across), jnp.zeros(())), [0.1, 0.0], atol=1e-14)
    np.testing.assert_allclose(JOINT.residual(F, moved([0.0] * 3, 0.3), jnp.zeros(())), [0.0, np.sin(0.3)], atol=1e-14)
