import jax.numpy as jnp
import numpy as np

from jaxmb.kinematics import ride
from jaxmb.spatial import Pose

from .oracles import derivative, rotation_matrices, turn


def test_a_ride_is_the_motion_of_a_frame_fixed_in_a_body():
    R, twist = rotation_matrices(2, seed=8), np.array([0.1, 0.2, 0.3, 1.0, -2.0, 0.5])
    pose, frame = Pose(jnp.array([1.0, 2, 3]), jnp.array(R[0])), Pose(jnp.array([0.3, -0.4, 0.5]), jnp.array(R[1]))
    found = ride(pose, jnp.array(twist), frame)

    def at(s):
        return Pose(pose.p + s * twist[:3], pose.R @ jnp.array(turn(twist[3:], s * np.linalg.norm(twist[3:])))) @ frame

    np.testing.assert_allclose(found.pose.p, at(0.0).p, atol=1e-14)
    np.testing.assert_allclose(found.pose.R, at(0.0).R, atol=1e-14)
    np.testing.assert_allclose(found.w, R[0] @ twist[3:], atol=1e-14)
    np.testing.assert_allclose(found.arm, R[0] @ frame.p, atol=1e-14)
    for name in ("p", "R"):

        def path(s, name=name):
            return np.asarray(getattr(at(s), name))

        rate = derivative(path)
        second = (path(1e-3) - 2 * path(0.0) + path(-1e-3)) / 1e-6
        np.testing.assert_allclose(getattr(found.rate, name), rate, atol=1e-10)
        np.testing.assert_allclose(getattr(found.drift, name), second, atol=1e-5)
        np.testing.assert_allclose(np.tensordot(twist, getattr(found.basis, name), 1), rate, atol=1e-10)
