"""Eigenvalues and shapes of small motions."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg

import jaxmb as mb
from jaxmb.analyses.modes import count_modes
from jaxmb.analyses.modes import find_modes as find_shapes
from tests import oracles
from tests.models import door

G = 9.81


def matrices(seed=0, d=4, damping=0.1):
    """Stiffness and damping of any kind: not proportional, and not symmetric, as forces that follow a body make them."""
    rng = np.random.default_rng(seed)
    X, Y, skew = (rng.normal(size=(d, d)) for _ in range(3))
    return X @ X.T + d * np.eye(d) + 0.2 * (skew - skew.T), damping * (Y @ Y.T + 0.1 * skew)


def from_scipy(K, C):
    """Eigenvalues in the upper half plane, of the generalised problem s [1 0; 0 1] - [0 1; -K -C]."""
    d = K.shape[0]
    A = np.block([[np.zeros((d, d)), np.eye(d)], [-K, -C]])
    s = scipy.linalg.eigvals(A)
    return s[s.imag >= 0]


def none(K):
    return jnp.asarray(1e-10 * np.linalg.norm(K))


def find_modes(K, C, count):
    return find_shapes(jnp.asarray(K), jnp.asarray(C), jnp.asarray(1e-10), jnp.eye(K.shape[0]), count)


def residual(K, C, s, x):
    """|(s^2 + s C + K) x| relative to its largest part."""
    return np.linalg.norm(s**2 * x + s * (C @ x) + K @ x) / (np.linalg.norm(K) * np.linalg.norm(x))


@pytest.mark.parametrize("damping", [0.0, 0.1, 3.0])
@pytest.mark.parametrize("units", [1.0, 1e6])
def test_modes_are_the_eigenvalues_scipy_finds(damping, units):
    K, C = matrices(damping=damping)
    K, C = K * units**2, C * units
    expected = from_scipy(K, C)
    expected = expected[np.argsort(np.abs(expected))]
    count = int(count_modes(jnp.asarray(K), jnp.asarray(C), none(K)))
    assert count == expected.size
    assert (count > 4) == (damping == 3.0), "overdamped motions are two modes"
    s, x, rigid = find_modes(K, C, count)
    np.testing.assert_allclose(s, expected, atol=1e-11 * units * 10)
    assert not bool(jnp.any(rigid))
    np.testing.assert_allclose(np.linalg.norm(x, axis=1), 1.0, rtol=1e-12)
    assert max(residual(K, C, s[k], x[k]) for k in range(count)) < 1e-12


@pytest.mark.parametrize("damped", [False, True])
def test_motions_without_stiffness_are_one_rigid_mode_each(damped):
    """Three bodies in a row on a frictionless floor, and one beside them alone; a damper between floor and the last one."""
    k = 7.0
    K = k * np.array([[1.0, -1, 0, 0], [-1, 2, -1, 0], [0, -1, 1, 0], [0, 0, 0, 0]])
    C = np.diag([0, 0, 0, 2.0 if damped else 0.0])
    count = int(count_modes(jnp.asarray(K), jnp.asarray(C), none(K)))
    s, x, rigid = find_modes(K, C, count)
    assert count == 2 + 2 + damped
    assert int(jnp.sum(rigid)) == 2
    np.testing.assert_array_equal(s[rigid], 0.0)
    np.testing.assert_allclose(K @ x[rigid].T, 0.0, atol=1e-13)
    moving = s[~rigid]
    expected = [1j * np.sqrt(k), 1j * np.sqrt(3 * k)]
    np.testing.assert_allclose(moving, sorted([*expected, *([-2.0] if damped else [])], key=abs), atol=1e-12)


def test_equal_frequencies_stay_separate_modes():
    """A ball in a bowl: both swings have the same frequency, in any coordinates."""
    turn = oracles.turn((1.0, 2.0, 3.0), 0.7)
    K = turn @ np.diag([4.0, 4.0, 9.0]) @ turn.T
    s, x, _ = find_modes(K, np.zeros((3, 3)), 3)
    np.testing.assert_allclose(s, [2j, 2j, 3j], atol=1e-12)
    assert np.linalg.matrix_rank(np.asarray(x), tol=1e-3) == 3
    assert max(residual(K, np.zeros((3, 3)), s[k], x[k]) for k in range(3)) < 1e-12


def test_with_another_number_of_modes_all_is_nan():
    K, C = matrices()
    for count in (3, 5):
        s, x, _ = find_modes(K, C, count)
        assert bool(jnp.all(jnp.isnan(s.real)))
        assert bool(jnp.all(jnp.isnan(x.real)))


def test_eigenvalues_and_shapes_have_their_derivatives():
    K, C = (jnp.asarray(X) for X in matrices())
    dK, dC = (jnp.asarray(X) for X in matrices(seed=1))

    def modes(h):
        s, x, _ = find_modes(K + h * dK, C + h * dC, 4)
        return jnp.concatenate([s, x.reshape(-1)])

    def real(h):
        y = modes(h)
        return jnp.concatenate([y.real, y.imag])

    found = jax.jacfwd(real)(0.0)
    assert float(jnp.max(jnp.abs(found))) > 0.1
    np.testing.assert_allclose(found, oracles.derivative(real), atol=1e-8)
    np.testing.assert_allclose(jax.jacrev(real)(0.0), found, atol=1e-12)
    curvature = jax.jacfwd(jax.jacfwd(lambda h: real(h)[:8]))(0.0)
    np.testing.assert_allclose(curvature, oracles.derivative(lambda h: jax.jacfwd(lambda h: real(h)[:8])(h)), atol=1e-7)


@functools.cache
def double_pendulum():
    """Two equal rods that hang, with a damper in the upper hinge."""
    system = mb.System(
        {"upper": mb.rod((0, 0, 0), (0, -1, 0), mass=1.0), "lower": mb.rod((0, -1, 0), (0, -2, 0), mass=1.0)},
        {
            "A": mb.Revolute("ground", "upper", point=(0, 0, 0)),
            "B": mb.Revolute("upper", "lower", point=(0, -1, 0)),
        },
        {"gravity": mb.Gravity((0, -G, 0))},
    )
    return mb.linearize(system, system.state()).modes()


def test_bodies_move_in_a_mode_as_in_the_closed_form():
    """M = [4/3 1/2; 1/2 1/3], K = g [3/2 0; 0 1/2] for the angles of two rods of unit length and mass."""
    modes = double_pendulum()
    values, vectors = scipy.linalg.eigh(G * np.diag([1.5, 0.5]), [[4 / 3, 0.5], [0.5, 1 / 3]])
    np.testing.assert_allclose(modes.natural_frequency, np.sqrt(values) / (2 * np.pi), rtol=1e-12)
    np.testing.assert_allclose(modes.damping_ratio, 0.0, atol=1e-12)
    upper, lower = modes.body("upper"), modes.body("lower")
    for k in range(2):
        # Of unit kinetic norm, with a positive largest entry: the angle of the lower rod.
        angles = vectors[:, k] * np.sign(vectors[1, k])
        np.testing.assert_allclose(upper.rotation[k], [0, 0, angles[0]], atol=1e-12)
        np.testing.assert_allclose(lower.rotation[k], [0, 0, angles[1]], atol=1e-12)
        np.testing.assert_allclose(upper.displacement[k], [0.5 * angles[0], 0, 0], atol=1e-12)
        np.testing.assert_allclose(lower.displacement[k], [angles[0] + 0.5 * angles[1], 0, 0], atol=1e-12)
    with pytest.raises(mb.ModelError, match="mean 'lower'"):
        modes.body("lowr")


def test_the_table_reads_as_a_page():
    modes = double_pendulum()
    lines = str(modes).splitlines()
    assert lines[0].split() == "mode frequency (Hz) damping ratio eigenvalue (1/s) moves most".split()
    for k, line in enumerate(lines[2:4]):
        frequency, rate = modes.frequency[k], modes.eigenvalue[k].imag
        assert line.split() == [str(k), f"{frequency:.6g}", "0", "0", f"{rate:+.6g}i", "lower"]


def test_the_pictures_of_a_mode_have_closed_joints_and_the_asked_amplitude():
    """A door on two hinges, of redundant rows: its swing has no stiffness, which makes a picture book of one second."""
    system = door()
    modes = mb.linearize(system, system.state()).modes()
    np.testing.assert_array_equal(modes.rigid, [True])
    pictures = modes.states(0, amplitude=0.2, n=8)
    equations = system.equations()
    terms = jax.jit(jax.vmap(equations.terms))(pictures.t, pictures.q, pictures.v)
    assert float(jnp.max(jnp.abs(terms.Phi))) < 1e-12
    np.testing.assert_array_equal(pictures.v, 0.0)
    np.testing.assert_allclose(pictures.t, np.arange(8) / 8)
    # Position and quaternion of a turn about z; the last step back to the constraints changes it to third order.
    angle = 2 * np.arctan2(pictures.q[:, 6], pictures.q[:, 3])
    np.testing.assert_allclose(np.abs(angle), 0.2 * np.abs(np.cos(2 * np.pi * np.arange(8) / 8)), atol=0.02 * 0.2)
    expected = 0.45 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    np.testing.assert_allclose(pictures.q[:, :2], expected, atol=1e-12)
    assert "door, rigid" in str(modes)
    with pytest.raises(mb.ModelError, match="mode 1, but there are modes 0 to 0"):
        modes.states(1)
