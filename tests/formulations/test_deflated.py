"""The default solve and what it carries."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmb as mb
from jaxmb.formulations.deflated import Proximal, null_space, row_scale, schur


def system(seed=0, n=8, rank=4, m=6):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, n))
    J = rng.normal(size=(m, rank)) @ rng.normal(size=(rank, n))
    a = rng.normal(size=n)
    return tuple(jnp.asarray(x) for x in (A @ A.T + np.eye(n), J, rng.normal(size=n), J @ a))


def truth(M, J, Q, gamma):
    m = len(gamma)
    K = np.block([[M, J.T], [J, np.zeros((m, m))]])
    return np.linalg.lstsq(K, np.concatenate([Q, gamma]), rcond=1e-10)[0][: len(Q)]


def test_solves_dependent_rows_and_finds_their_number():
    M, J, Q, gamma = system()
    null = null_space(J)
    assert int(null.deficiency) == 2
    out = mb.Deflated().solve(M, J, Q, gamma)
    assert np.allclose(out.a, truth(M, J, Q, gamma), atol=1e-10)
    assert np.allclose(M @ out.a + J.T @ out.lam, Q, atol=1e-10)


@pytest.mark.parametrize("length", [1e-3, 1e3])
@pytest.mark.parametrize("mass", [1e-6, 1e6])
def test_units_do_not_change_the_verdict(length, mass):
    M, J, Q, gamma = system()
    mixed, right = J.at[0].multiply(length), gamma.at[0].multiply(length)
    assert int(null_space(length * J).deficiency) == int(null_space(mixed).deficiency) == 2
    out = mb.Deflated().solve(mass * M, mixed, mass * Q, right)
    assert np.allclose(out.a, truth(M, J, Q, gamma), atol=1e-9)


def test_a_null_space_from_nearby_serves():
    """The null space turns along a motion; one found a little earlier gives the same solution for consistent rows."""
    M, J, Q, gamma = system()
    turn = jnp.asarray(np.linalg.qr(np.eye(6) + 0.1 * np.random.default_rng(3).normal(size=(6, 6)))[0])
    out = mb.Deflated().solve(M, turn @ J, Q, turn @ gamma, null_space(J))
    assert np.allclose(out.a, truth(M, J, Q, gamma), atol=1e-9)


@pytest.mark.parametrize("redundant", [True, False])
def test_proximal_refinement_finds_the_same_without_a_null_space(redundant):
    M, J, Q, gamma = system(rank=4 if redundant else 6)
    out = mb.Deflated().particular(M, J, Q, gamma, Proximal())
    np.testing.assert_allclose(out.a, truth(M, J, Q, gamma), atol=1e-9)
    slope = jax.grad(lambda p: jnp.sum(mb.Deflated().particular(M, J, p * Q, p * gamma, Proximal()).a))(1.0)
    np.testing.assert_allclose(slope, jnp.sum(out.a), atol=1e-9)


def test_crossing_zero_is_seen_and_coming_near_is_not():
    J = lambda s: jnp.array([[1.0, 0.2, 0.0], [0.0, s, 0.3 * s]])  # noqa: E731
    weights = null_space(J(1.0)).D
    before = null_space(J(0.1), weights)
    crossed, change = before.crossing(J(-0.05))
    assert bool(crossed) and before.crossing(J(0.1))[1] < 1e-12 < change
    assert not bool(before.crossing(J(0.01))[0])


def test_singular_mass_is_solved_through_the_constraints():
    """A rotation without inertia that the constraints determine."""
    M = jnp.diag(jnp.array([1.0, 2.0, 0.0]))
    J = jnp.array([[0.0, 1.0, 1.0], [0.0, 2.0, 2.0]])
    Q, gamma = jnp.array([3.0, 1.0, 0.5]), jnp.array([1.0, 2.0])
    out = mb.Deflated().solve(M, J, Q, gamma)
    assert np.allclose(out.a, truth(M, J, Q, gamma), atol=1e-10)


def test_gradients_with_dependent_rows():
    M, _J, Q, _gamma = system()
    mix = jnp.asarray(np.random.default_rng(5).normal(size=(6, 4)))
    base = jnp.asarray(np.random.default_rng(6).normal(size=(4, 8)))

    def value(p):
        rows = mix @ (base + p * jnp.sin(base))  # stays of rank 4
        return jnp.sum(jnp.cos(mb.Deflated().solve(M * (1 + p), rows, Q * p, rows @ Q).a))

    difference = (value(0.3 + 1e-6) - value(0.3 - 1e-6)) / 2e-6
    assert np.allclose(jax.grad(value)(0.3), difference, atol=1e-7)
    assert np.allclose(jax.jacfwd(value)(0.3), difference, atol=1e-7)


def test_no_constraints():
    M, _, Q, _ = system()
    out = mb.Deflated().solve(M, jnp.zeros((0, 8)), Q, jnp.zeros(0))
    assert np.allclose(out.a, np.linalg.solve(M, Q))


def test_scale_of_an_empty_row_is_one():
    S, _ = schur(jnp.eye(2), jnp.array([[2.0, 0.0], [0.0, 0.0]]))
    scale = row_scale(S)
    assert scale[1] == 1.0 and np.isclose(scale[0] ** 2 * S[0, 0], 1.0)


@pytest.mark.parametrize("mode", [jax.jacfwd, jax.jacrev])
@pytest.mark.parametrize("which", [0, 1])
def test_derivative_when_only_one_side_depends_on_the_parameter(mode, which):
    """Forces that move while gamma does not, and the other way round; rows are dependent."""
    M, J = jnp.diag(jnp.array([1.0, 2.0, 3.0])), jnp.array([[1.0, 1.0, 0.0], [2.0, 2.0, 0.0]])
    Q, gamma = jnp.array([1.0, -1.0, 2.0]), jnp.array([0.5, 1.0])

    def a(p):
        return mb.Deflated().solve(M, J, *((p * Q, gamma) if which == 0 else (Q, p * gamma))).a

    np.testing.assert_allclose(mode(a)(1.0), (a(1.5) - a(0.5)), atol=1e-12)
