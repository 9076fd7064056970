"""The default kind: speeds are the twist, and the unit length needs no row."""

import jax
import jax.numpy as jnp
import numpy as np
from scipy.spatial.transform import Rotation

from jaxmb import Body, Quaternion, System

from ..oracles import rotation_matrices

Q = jnp.array([1.0, 2.0, 3.0, *Rotation.from_matrix(rotation_matrices(1)[0]).as_quat(scalar_first=True)])
V = jnp.array([0.1, 0.2, 0.3, 1.0, -2.0, 0.5])


def test_retract_is_the_exponential_and_keeps_unit_length():
    moved = np.asarray(jax.jit(Quaternion().retract)(1.5 * Q.at[:3].set(Q[:3]), V))
    expected = Rotation.from_quat(np.array(Q[3:]), scalar_first=True) * Rotation.from_rotvec(np.array(V[3:]))
    np.testing.assert_allclose(np.linalg.norm(moved[3:]), 1.0, atol=1e-15)
    np.testing.assert_allclose(
        Rotation.from_quat(moved[3:], scalar_first=True).as_matrix(), expected.as_matrix(), atol=1e-14
    )


def test_retract_has_a_derivative_at_rest():
    jacobian = np.asarray(jax.jit(jax.jacfwd(Quaternion().retract, argnums=1))(Q, jnp.zeros(6)))
    rates = np.stack([np.asarray(Quaternion().qdot(Q, e)) for e in jnp.eye(6)], axis=1)
    np.testing.assert_allclose(jacobian, rates, atol=1e-15)


def test_the_mass_matrix_is_that_of_the_body_and_constant():
    J = rotation_matrices(1, seed=2)[0] @ np.diag([1.0, 2.0, 2.5]) @ rotation_matrices(1, seed=2)[0].T
    system = System({"a": Body(3.0, J)})
    equations = system.equations()
    M = np.block([[3.0 * np.eye(3), np.zeros((3, 3))], [np.zeros((3, 3)), J]])
    for q, v in ((Q, V), (system.state().q, jnp.zeros(6))):
        terms = equations.terms(jnp.zeros(()), q, v)
        np.testing.assert_allclose(terms.M, M, atol=1e-15)
        w = np.asarray(v[3:])
        np.testing.assert_allclose(terms.Q, np.concatenate([np.zeros(3), -np.cross(w, J @ w)]), atol=1e-14)
        np.testing.assert_allclose(terms.mass.inverse_times(jnp.array(M)), np.eye(6), atol=1e-14)
    assert equations.row_names == ()
