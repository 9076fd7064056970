"""Products by blocks against dense ones, for joints with different numbers of rows and bodies of different widths."""

import jax.numpy as jnp
import numpy as np

import jaxmb as mb
from jaxmb.formulations.structure import Structure, gather, take, unit_scale


def mixed():
    """A loop of spatial joints with 5, 3, 2 and 1 rows, a body without inertia, and a second joint between the same bodies."""
    a, b = mb.rod((0, 0, 0), (1, 0, 0), mass=1.0), mb.rod((1, 0, 0), (1, 1, 0), mass=2.0)
    bodies = {"a": a, "b": b, "c": mb.point_mass((2, 1, 0), mass=0.5)}
    joints = {
        "A": mb.Revolute("ground", "a", point=(0, 0, 0)),
        "B": mb.Spherical("a", "b", point=(1, 0, 0)),
        "twin": mb.InLine("a", "b", point=(1, 0, 0), axis=(0, 0, 1)),
        "C": mb.Distance("b", "c", at="end", to=(0, 0, 0), length=1.0),
    }
    system = mb.System(bodies, joints, {"gravity": mb.Gravity((0, -9.81, 0))}, coordinates={"c": mb.PointMass()})
    return system, system.state()


def test_products_are_those_of_the_dense_matrices():
    system, state = mixed()
    terms = system.equations().terms(state.t, state.q, state.v)
    J, structure = np.asarray(terms.J), Structure.of(terms.jacobian.layout)
    blocks = structure.blocks(terms.jacobian)
    rng = np.random.default_rng(2)
    v, lam = rng.normal(size=J.shape[1]), rng.normal(size=J.shape[0])
    found = structure.to_rows(structure.times(blocks, structure.to_bodies(jnp.asarray(v))))
    np.testing.assert_allclose(found, J @ v, atol=1e-13)
    pushed = structure.transposed_times(blocks, structure.to_joints(jnp.asarray(lam)))
    np.testing.assert_allclose(structure.to_columns(pushed), J.T @ lam, atol=1e-13)


def test_entries_past_the_end_are_zero():
    x = jnp.arange(1.0, 7.0).reshape(2, 3)
    np.testing.assert_array_equal(take(x, np.array([2, 3])), [[3, 0], [6, 0]])
    np.testing.assert_array_equal(gather(x, np.array([[0, 3], [1, 3]])), [[3, 0], [9, 0]])
    assert gather(x, np.zeros((0, 2), int)).shape == (2, 2)


def test_empty_rows_keep_their_size():
    np.testing.assert_allclose(unit_scale(jnp.array([4.0, 0.0])), [0.5, 1.0])
