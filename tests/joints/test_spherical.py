from jaxmb import Spherical

from ..oracles import rotation_matrices
from .frames import F, Pose, allowed, gap, jnp

JOINT = Spherical("a", "b")


def test_every_rotation_is_left_and_no_translation():
    assert allowed(JOINT) == {"turn x", "turn y", "turn z"}
    for R in rotation_matrices(3, seed=1):
        assert gap(JOINT, Pose(jnp.zeros(3), jnp.array(R))) < 1e-12


def test_rows_are_the_gap_in_world_axes():
    moved = Pose(F.p + jnp.array([1.0, 2.0, 3.0]), F.R)
    assert jnp.allclose(JOINT.residual(F, moved, jnp.zeros(())), jnp.array([1.0, 2.0, 3.0]), atol=1e-14)
