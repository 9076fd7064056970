"""The classical equations of Euler parameters, by their textbook matrices."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmb import Body, EulerParameters, System

from ..oracles import rotation_matrices

J = rotation_matrices(1, seed=2)[0] @ np.diag([1.0, 2.0, 2.5]) @ rotation_matrices(1, seed=2)[0].T


def G(e):
    """w (body axes) = 2 G(e) edot."""
    e0, e1, e2, e3 = e
    return np.array([[-e1, e0, e3, -e2], [-e2, -e3, e0, e1], [-e3, e2, -e1, e0]])


@pytest.fixture(scope="module")
def case():
    rng = np.random.default_rng(0)
    e, e_dot = rng.normal(size=(2, 4))
    e /= np.linalg.norm(e)
    e_dot -= e * (e @ e_dot)
    q, v = jnp.array([1.0, 2.0, 3.0, *e]), jnp.array([0.1, 0.2, 0.3, *e_dot])
    system = System({"a": Body(3.0, J)}, coordinates=EulerParameters())
    equations = system.equations()
    return e, e_dot, equations, equations.terms(jnp.zeros(()), q, v)


def test_the_mass_is_4_G_J_G_and_singular(case):
    e, _, _, terms = case
    M = np.asarray(terms.M)
    np.testing.assert_allclose(M[:3, :3], 3.0 * np.eye(3), atol=1e-15)
    np.testing.assert_allclose(M[3:, 3:], 4 * G(e).T @ J @ G(e), atol=1e-13)
    assert np.linalg.matrix_rank(M, tol=1e-10) == 6
    assert EulerParameters.singular_mass and terms.mass.inverses is None


def test_the_force_has_the_gyroscopic_term(case):
    e, e_dot, _, terms = case
    w = 2 * G(e) @ e_dot
    # Along e the force is a matter of the norm row; across it, it must be that of Euler's equations.
    np.testing.assert_allclose(G(e) @ terms.Q[3:], 2 * G(e) @ G(e).T @ -np.cross(w, J @ w), atol=1e-12)
    classical = 8 * G(e_dot).T @ J @ G(e_dot) @ e
    np.testing.assert_allclose(G(e) @ terms.Q[3:], G(e) @ classical, atol=1e-12)


def test_the_norm_row(case):
    e, e_dot, equations, terms = case
    assert equations.row_names == ("a.norm",)
    np.testing.assert_allclose(terms.Phi, [0.0], atol=1e-15)
    np.testing.assert_allclose(terms.Phi_dot, [2 * e @ e_dot], atol=1e-15)
    np.testing.assert_allclose(terms.J, [[0, 0, 0, *2 * e]], atol=1e-15)
    np.testing.assert_allclose(terms.gamma, [-2 * e_dot @ e_dot], atol=1e-14)


def test_speeds_of_a_twist_keep_the_norm():
    e = np.array([0.5, 0.5, -0.5, 0.5])
    w = np.array([1.0, 2.0, 3.0])
    v = jax.jit(EulerParameters().from_twist)(jnp.array([0, 0, 0, *e]), jnp.array([0, 0, 0, *w]))
    np.testing.assert_allclose(v[3:], 0.5 * G(e).T @ w, atol=1e-14)
