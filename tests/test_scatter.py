import jax.numpy as jnp
import numpy as np
import pytest

from jaxmb.scatter import scatter

#: Rows and bodies of two groups: two joints with two rows, one with one row and both ports on body 1; body 2 is the ground.
ROWS, BODIES = ([[0, 1], [3, 4]], [[2]]), ([[2, 0], [0, 1]], [[1, 1]])


@pytest.mark.parametrize("width", [6, 3])
def test_blocks_are_summed_where_their_bodies_are(width):
    rng = np.random.default_rng(3)
    blocks = [rng.normal(size=(len(bodies), 2, len(rows[0]), 6)) for rows, bodies in zip(ROWS, BODIES, strict=True)]
    T = None if width == 6 else rng.normal(size=(2, 6, width))
    expected = np.zeros((5, 2 * width))
    for block, rows, bodies in zip(blocks, ROWS, BODIES, strict=True):
        for g, k in np.ndindex(len(bodies), 2):
            body = bodies[g][k]
            if body < 2:
                part = block[g, k] if T is None else block[g, k] @ T[body]
                expected[rows[g], width * body : width * (body + 1)] += part
    places = [(np.array(rows), np.array(bodies)) for rows, bodies in zip(ROWS, BODIES, strict=True)]
    columns = (places, np.array([0, width, 2 * width]), np.array([width, width, 0]))
    found = scatter([jnp.asarray(b) for b in blocks], None if T is None else [jnp.asarray(T)], columns, 5, 2 * width)
    np.testing.assert_allclose(found, expected, atol=1e-14)


def test_no_joints_make_an_empty_jacobian():
    assert scatter([], None, ([], np.zeros(1, int), np.zeros(1, int)), 0, 6).shape == (0, 6)
