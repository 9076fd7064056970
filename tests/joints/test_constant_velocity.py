"""The homokinetic joint: equal angles of both shafts at every phase and bend."""

import jax.numpy as jnp
import numpy as np
import pytest

from jaxmb import Body, ConstantVelocity, System
from jaxmb.spatial import Pose

from ..oracles import rotation_matrices, turn
from .frames import about, allowed, gap

JOINT = ConstantVelocity("a", "b")


def test_bends_about_any_axis_across_the_shaft_are_left():
    assert allowed(JOINT) == {"turn x", "turn y"}
    for direction in ([1, 0, 0], [1, 2, 0], [-3, 1, 0]):
        assert gap(JOINT, about(direction, 0.7)) < 1e-12


@pytest.mark.parametrize("out", [(1.0, 0.9, 0.2), (0.5, -0.4, 2.0), (0.3, 1.0, -0.5), (-0.2, 0.5, 0.1)])
def test_both_shafts_turn_by_equal_angles(out):
    """World point and both shafts given: closed as it stands, and after any equal turn; not after unequal ones."""
    shaft, out = np.array([0.3, 1.0, -0.5]), np.array(out)
    R_WA, R_WB = rotation_matrices(2, seed=41)
    point = np.array([0.2, 0.1, -0.3])
    bodies = {
        "a": Body(1.0, (1, 1, 1), position=(1, 2, 3), rotation=R_WA),
        "b": Body(1.0, (1, 1, 1), position=(-1, 0, 1), rotation=R_WB),
    }
    system = System(bodies, {"cv": ConstantVelocity("a", "b", point=point, axis=shaft, axis_to=out)})
    joint = system.joints["cv"]
    frames = [bodies[port.body].pose @ port.frame for port in joint.ports]
    for frame, axis in zip(frames, (shaft, out), strict=True):
        np.testing.assert_allclose(frame.p, point, atol=1e-14)
        np.testing.assert_allclose(frame.z, axis / np.linalg.norm(axis), atol=1e-14)

    def open_by(first, second):
        turned = [
            Pose(f.p, jnp.array(turn(a, s)) @ f.R)
            for f, a, s in zip(frames, (shaft, out), (first, second), strict=True)
        ]
        return float(jnp.max(jnp.abs(joint.residual(*turned, jnp.zeros(())))))

    for angle in (0.0, 0.5, 2.0, 3.0, 9.0):
        assert open_by(angle, angle) < 1e-12
        assert open_by(angle, angle + 0.1) > 1e-2


def test_it_can_stand_on_the_ground():
    system = System(
        {"b": Body(1.0, (1, 1, 1), position=(0, 0, 0))},
        {"cv": ConstantVelocity("ground", "b", point=(0, 0, 0), axis="x", axis_to=(1, 1, 1))},
    )
    F, G = (port.frame for port in system.joints["cv"].ports)
    np.testing.assert_allclose(system.joints["cv"].residual(F, G, jnp.zeros(())), 0.0, atol=1e-14)
    np.testing.assert_allclose(G.z, np.ones(3) / np.sqrt(3), atol=1e-14)
