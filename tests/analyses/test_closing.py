import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmb as mb
from jaxmb.analyses.closing import CORRECTIONS, Correction, close, displacement
from jaxmb.scaling import Scaling

from ..oracles import jacobian


def circle_and_line(radius=1.0, height=0.3):
    """A point on a circle, said twice, and on a level line: 3 rows of rank 2 in space; y is free to slide where z follows."""

    def constraint(q, t, p):
        on_circle = q[0] ** 2 + q[1] ** 2 - p[0] ** 2
        return jnp.stack([on_circle, 2.0 * on_circle, q[2] - p[1] * q[1]])

    def kinetic(q, v, p):
        return 0.5 * (v[0] ** 2 + 4.0 * v[1] ** 2 + 9.0 * v[2] ** 2) + 0.5 * v[0] * v[1]

    return mb.GeneralizedSystem(
        kinetic, constraint=constraint, parameters=jnp.stack([radius, height]), coordinates=("x", "y", "z")
    )


@eqx.filter_jit
def closed_from(q, correction, radius=1.0, height=0.3, dependent=None):
    system = circle_and_line(jnp.asarray(radius), jnp.asarray(height))
    return close(system, jnp.zeros(()), q, correction, dependent)


@pytest.mark.parametrize("kind", CORRECTIONS)
def test_the_step_is_the_smallest_of_its_kind(kind):
    """Against pseudoinverses, with dependent rows and masses that differ by six powers of ten."""
    rng = np.random.default_rng(0)
    J = rng.normal(size=(4, 7))
    J = np.concatenate([J, rng.normal(size=(2, 4)) @ J])
    root = rng.normal(size=(7, 7)) * 10.0 ** rng.uniform(-3, 0, 7)[:, None]
    M = root @ root.T
    residual = J @ rng.normal(size=7)
    columns, dependent = rng.uniform(0.1, 10.0, 7), np.array([1, 1, 1, 0, 1, 1, 0], bool)
    scaling = Scaling(jnp.ones(()), jnp.asarray(columns))
    correction = Correction(kind, scaling, jnp.asarray(dependent) if kind == "independent" else None)
    step = np.asarray(eqx.filter_jit(correction.newton)(*(jnp.asarray(x) for x in (M, J, residual))))
    if kind == "inertia":
        Minv = np.linalg.inv(M)
        expected = -Minv @ J.T @ np.linalg.pinv(J @ Minv @ J.T, rcond=1e-10) @ residual
    else:
        units = np.where(dependent, columns, 0.0) if kind == "independent" else columns
        expected = -units * (np.linalg.pinv(J * units, rcond=1e-10) @ residual)
    np.testing.assert_allclose(step, expected, atol=1e-9 * np.abs(expected).max())
    np.testing.assert_allclose(J @ step, -residual, atol=1e-9 * np.abs(residual).max())


@pytest.mark.parametrize("kind", CORRECTIONS)
def test_closes_from_afar_and_near_a_pose_by_the_formula(kind):
    dependent = jnp.array([False, True, True]) if kind == "independent" else None
    for q in ([0.8, 3.0, -2.0], [0.5, 0.1, 7.0], [-0.9, 0.3, 0.1]):
        found = closed_from(jnp.array(q), kind)
        assert bool(found.closed) and np.abs(found.Phi).max() < 1e-13

    x, y = np.cos(0.8), np.sin(0.8)
    rough = np.array([x, y, 0.3 * y]) + 1e-5 * np.array([1.0, -2.0, 0.5])
    found = closed_from(jnp.asarray(rough), kind, dependent=dependent)
    J = np.array([[2 * x, 2 * y, 0], [4 * x, 4 * y, 0], [0, -0.3, 1.0]])
    Phi = np.array(
        [rough[0] ** 2 + rough[1] ** 2 - 1, 2 * (rough[0] ** 2 + rough[1] ** 2 - 1), rough[2] - 0.3 * rough[1]]
    )
    M = np.array([[1.0, 0.5, 0], [0.5, 4.0, 0], [0, 0, 9.0]])
    columns = 1 / np.linalg.norm(J, axis=0)
    if kind == "inertia":
        Minv = np.linalg.inv(M)
        step = -Minv @ J.T @ np.linalg.pinv(J @ Minv @ J.T) @ Phi
    elif kind == "minimum-norm":
        step = -columns * (np.linalg.pinv(J * columns) @ Phi)
    else:
        step = np.array([0.0, *-np.linalg.lstsq(J[:, 1:], Phi, rcond=None)[0]])
        assert found.q[0] == rough[0], "what is kept is kept to the last bit"
    # First order: what is left is of the size of the step squared.
    np.testing.assert_allclose(np.asarray(found.q) - rough, step, atol=1e-9)


@pytest.mark.parametrize("kind", CORRECTIONS)
def test_derivatives_are_those_of_the_closed_pose(kind):
    closed = np.array([np.cos(0.8), np.sin(0.8), 0.3 * np.sin(0.8)])

    def pose(x):
        return closed_from(x[:3], kind, x[3], x[4]).q

    at = jnp.asarray([*closed, 1.0, 0.3])
    expected = jacobian(pose, at, h=1e-4)
    np.testing.assert_allclose(jax.jacfwd(pose)(at), expected, atol=1e-7)
    np.testing.assert_allclose(jax.jacrev(pose)(at), expected, atol=1e-7)


def test_a_conflict_ends_at_the_best_compromise():
    """Two concentric circles: the nearest to both is known."""
    system = mb.GeneralizedSystem(
        lambda q, v, p: 0.5 * jnp.dot(v, v),
        constraint=lambda q, t, p: jnp.stack([jnp.dot(q, q) - 1.0, jnp.dot(q, q) - 1.5]),
        coordinates=("x", "y"),
    )
    found = jax.jit(lambda q: close(system, jnp.zeros(()), q))(jnp.array([0.3, 0.1]))
    assert not bool(found.closed)
    np.testing.assert_allclose(found.Phi, [0.25, -0.25], atol=1e-6)


def test_what_is_not_finite_is_open():
    assert not bool(closed_from(jnp.array([jnp.nan, 0.0, 0.0]), "minimum-norm").closed)


def test_a_change_of_positions_is_a_displacement():
    equations = mb.System({"a": mb.box(length=1.0, width=0.2, height=0.1, mass=1.0)}).equations()
    q = equations.retract(jnp.array([1.0, 2, 3, 1, 0, 0, 0]), jnp.array([0.0, 0, 0, 0.3, -0.8, 0.5]))
    d = jnp.array([0.2, -0.1, 0.5, 0.7, 0.1, -0.4])
    np.testing.assert_allclose(displacement(equations, q, equations.retract(q, 1e-6 * d) - q), 1e-6 * d, atol=1e-11)
