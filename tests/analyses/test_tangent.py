"""A mechanism held still."""

import functools

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg

import jaxmb as mb
from jaxmb.analyses import tangent
from jaxmb.analyses.tangent import count_free
from tests import oracles
from tests.models import door, parallelogram, spatial_loop

ZERO = jnp.zeros(())
# One program each instead of one for every operation.
close_near, damping, free_motions, release, stiffness = map(
    eqx.filter_jit, (tangent.close_near, tangent.damping, tangent.free_motions, tangent.release, tangent.stiffness)
)


@functools.cache
def loop():
    """The redundant loop away from its rest, let go."""
    system, state = spatial_loop()
    equations = system.equations()
    return equations, state, release(equations, ZERO, state.q)


def test_let_go_a_mechanism_accelerates_as_the_whole_system_of_equations_says():
    equations, state, at = loop()
    terms = equations.terms(ZERO, state.q, state.v)
    np.testing.assert_allclose(at.a, oracles.accelerations(terms), atol=1e-9)
    np.testing.assert_allclose(at.force, terms.Q - terms.J.T @ at.lam, atol=1e-9)
    np.testing.assert_allclose(at.size, np.sqrt(at.a @ terms.M @ at.a), rtol=1e-12)
    assert at.violation < 1e-12


@pytest.mark.parametrize(("model", "dof"), [("loop", 1), ("door", 1), ("free", 6)])
def test_free_motions_are_a_basis_of_the_null_space_of_unit_kinetic_norm(model, dof):
    if model == "loop":
        at = loop()[2]
    else:
        bodies = {"rod": mb.rod((0, 0, 0), (1, 0, 0), mass=2.0)}
        system = door() if model == "door" else mb.System(bodies)
        at = release(system.equations(), ZERO, system.state().q)
    J, M = np.asarray(at.terms.J), np.asarray(at.terms.M)
    null = scipy.linalg.null_space(J, rcond=1e-9) if J.size else np.eye(M.shape[0])
    assert int(count_free(at.null)) == null.shape[1] == dof
    Z, there = free_motions(at, dof)
    np.testing.assert_allclose(J @ Z, 0.0, atol=1e-12)
    np.testing.assert_allclose(Z.T @ M @ Z, np.eye(dof), atol=1e-12)
    assert bool(jnp.all(there))
    padded, there = free_motions(at)
    assert padded.shape == (M.shape[0], M.shape[0])
    assert int(jnp.sum(there)) == dof
    np.testing.assert_array_equal(padded[:, ~there], 0.0)
    np.testing.assert_allclose(padded @ padded.T, Z @ Z.T, atol=1e-12)
    assert not bool(jnp.any(free_motions(at, dof + 1 if dof < M.shape[0] else dof - 1)[1]))


def energy_along(equations, q, z, s):
    """Potential energy (J) when displaced by s along z, with the joints closed again."""
    moved = close_near(equations, ZERO, equations.retract(q, s * z))
    return float(equations.energies(moved, jnp.zeros_like(z))[1])


def test_stiffness_at_rest_is_the_curvature_of_the_energy_for_every_multiplier_that_balances():
    """Redundant rows leave many multipliers; each has another K, and all the same K on the free motions. Cranks that hang
    down are at rest by symmetry; the spring pulls straight up."""
    system, rest = parallelogram(angle=-0.5 * np.pi, length=0.8)
    equations = system.equations()
    at = release(equations, ZERO, rest.q)
    assert float(at.size) < 1e-12
    Z, _ = free_motions(at, 1)
    h, z = 2e-3, Z[:, 0]
    far, near, middle = (
        sum(energy_along(equations, rest.q, z, s) for s in pair) for pair in ((2 * h, -2 * h), (h, -h), (0.0, 0.0))
    )
    curvature = (16 * near - far - 15 * middle) / (12 * h**2)
    others = scipy.linalg.null_space(np.asarray(at.terms.J).T, rcond=1e-9)
    assert others.shape[1] == 7
    for lam in (at.lam, at.lam + 50.0 * others @ np.ones(others.shape[1])):
        K = Z.T @ stiffness(equations, ZERO, rest.q, jnp.asarray(lam)) @ Z
        np.testing.assert_allclose(K[0, 0], curvature, rtol=1e-7)


def test_closing_ends_on_the_constraints_and_leaves_a_closed_mechanism_alone():
    equations, state, _ = loop()
    np.testing.assert_allclose(close_near(equations, ZERO, state.q), state.q, atol=1e-12)
    opened = equations.retract(state.q, 0.02 * jnp.cos(jnp.arange(state.v.size)))
    assert float(release(equations, ZERO, opened).violation) > 1e-3
    assert float(release(equations, ZERO, close_near(equations, ZERO, opened)).violation) < 1e-13


def test_damping_is_that_of_the_dampers():
    system = mb.System(
        {"ball": mb.sphere((0, 0, 0), radius=0.1, mass=2.0)},
        {"rail": mb.Prismatic("ground", "ball", point=(0, 0, 0), axis="x")},
        {"damper": mb.joint_spring("rail", stiffness=5.0, damping=3.0)},
    )
    expected = np.zeros((6, 6))
    expected[0, 0] = 3.0
    np.testing.assert_allclose(damping(system.equations(), ZERO, system.state().q), expected, atol=1e-15)
