import jax.numpy as jnp
import numpy as np
import pytest

from jaxmb import Distance, ModelError

from ..oracles import rotation_matrices
from .frames import F, Pose, about, along, gap

JOINT = Distance("a", "b", length=0.5)


def test_the_point_stays_on_a_sphere_and_the_body_turns_freely():
    for R in rotation_matrices(4, seed=2):
        assert gap(JOINT, Pose(jnp.zeros(3), jnp.array(R)), along(x=0.5), about([1, 2, 3], 1.0)) < 1e-12


@pytest.mark.parametrize("excess", [1e-3, -1e-3])
def test_the_row_is_the_excess_length_in_metres(excess):
    residual = JOINT.residual(F, F @ along(y=0.5 + excess), jnp.zeros(()))
    np.testing.assert_allclose(residual, [excess], rtol=2e-3)


@pytest.mark.parametrize("length", [0.0, -1.0, np.nan])
def test_a_length_is_positive(length):
    with pytest.raises(
        ModelError, match=r"Distance\('a', 'b'\) has length .* m, but needs a positive one. .* use Spherical"
    ):
        Distance("a", "b", length=length)
