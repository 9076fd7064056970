"""The Jacobian by blocks against a dense one put together here."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmb.jacobian import BlockJacobian, Layout, block_jacobian, stacked

#: Two groups: two joints with two rows, one with one row and both ports on body 1; body 2 is the ground.
ROWS, BODIES = (((0, 1), (3, 4)), ((2,),)), (((2, 0), (0, 1)), ((1, 1),))


def example(width):
    rng = np.random.default_rng(3)
    blocks = [rng.normal(size=(len(bodies), 2, len(rows[0]), 6)) for rows, bodies in zip(ROWS, BODIES, strict=True)]
    T = None if width == 6 else rng.normal(size=(2, 6, width))
    expected = np.zeros((5, 2 * width))
    for block, rows, bodies in zip(blocks, ROWS, BODIES, strict=True):
        for g, k in np.ndindex(len(bodies), 2):
            body = bodies[g][k]
            if body < 2:
                part = block[g, k] if T is None else block[g, k] @ T[body]
                expected[list(rows[g]), width * body : width * (body + 1)] += part
    layout = Layout(ROWS, BODIES, (width, width, 0))
    return block_jacobian([jnp.asarray(b) for b in blocks], None if T is None else [jnp.asarray(T)], layout), expected


@pytest.mark.parametrize("width", [6, 3])
def test_blocks_are_summed_where_their_bodies_are(width):
    J, expected = example(width)
    np.testing.assert_allclose(J.dense(), expected, atol=1e-14)
    v = np.random.default_rng(4).normal(size=2 * width)
    np.testing.assert_allclose(J @ jnp.asarray(v), expected @ v, atol=1e-13)


def test_a_batch_keeps_its_axis():
    J, expected = example(6)
    batch = jax.vmap(lambda k: jax.tree.map(lambda x: k * x, J))(jnp.arange(1.0, 4.0))
    np.testing.assert_allclose(batch.dense(), np.arange(1.0, 4.0)[:, None, None] * expected, atol=1e-14)


def test_no_joints_make_an_empty_jacobian():
    J = BlockJacobian((), Layout((), (), (6, 0)))
    assert J.dense().shape == (0, 6) and (J @ jnp.zeros(6)).shape == (0,)


def test_lists_are_stacked_as_columns():
    np.testing.assert_array_equal(stacked([[1], [2, 3], []], 9), [[1, 2, 9], [9, 3, 9]])
    assert stacked([[], []], 9).shape == (0, 2)
