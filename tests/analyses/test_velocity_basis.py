import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmb as mb

from ..models import door, parallelogram
from ..oracles import rank


@functools.cache
def models():
    cranks, state = parallelogram()
    parameters = cranks.with_coordinates(mb.EulerParameters())
    free = mb.System({"a": mb.sphere((0, 0, 0), radius=0.1, mass=2.0)})
    held = mb.System({"a": mb.sphere((0, 0, 0), radius=0.1, mass=2.0)}, {"f": mb.Fixed("ground", "a")})
    hinged = door(hinges=3)
    return {
        "parallelogram": (cranks, state, 1),
        "Euler parameters": (parameters, parameters.convert(state, cranks), 1),
        "door": (hinged, hinged.state(), 1),
        "free": (free, free.state(), 6),
        "held": (held, held.state(), 0),
    }


@pytest.mark.parametrize("name", ["parallelogram", "Euler parameters", "door", "free", "held"])
def test_spans_the_allowed_velocities_with_unit_energies(name):
    system, state, dof = models()[name]
    Z = mb.velocity_basis(system, state)
    terms = system.equations().terms(state.t, state.q, state.v)
    assert Z.shape == (state.v.size, dof)
    assert dof == state.v.size - (rank(terms.J) if terms.J.size else 0)
    np.testing.assert_allclose(terms.J @ Z, 0.0, atol=1e-12)
    np.testing.assert_allclose(Z.T @ terms.M @ Z, np.eye(dof), atol=1e-12)


def test_velocities_made_with_it_are_consistent_and_have_the_energy_of_y():
    system, state, _ = models()["Euler parameters"]
    y = jnp.array([1.7])
    moving = mb.State(state.t, state.q, mb.velocity_basis(system, state) @ y)
    equations = system.equations()
    assert np.abs(equations.terms(moving.t, moving.q, moving.v).Phi_dot).max() < 1e-12
    assert float(equations.energies(moving.q, moving.v)[0]) == pytest.approx(0.5 * 1.7**2, rel=1e-12)


@pytest.mark.slow
def test_simulate_accepts_what_is_made_with_it():
    system, state, _ = models()["parallelogram"]
    sol = mb.simulate(system, mb.State(state.t, state.q, mb.velocity_basis(system, state) @ jnp.array([2.0])), t1=0.01)
    assert bool(sol.ok)
    assert float(sol.energy.kinetic[0]) == pytest.approx(2.0, rel=1e-10)


def test_inside_jit_dof_is_given():
    system, state, dof = models()["parallelogram"]
    inside = jax.jit(lambda s, dof: mb.velocity_basis(system, s, dof=dof), static_argnums=1)
    Z, here = inside(state, dof), mb.velocity_basis(system, state)
    np.testing.assert_allclose(np.abs(np.sum(Z * (system.equations().terms(0.0, state.q, state.v).M @ here))), 1.0)
    assert np.all(np.isnan(inside(state, 2))), "more columns than freedoms are no plausible basis"
    with pytest.raises(mb.ModelError, match="needs dof="):
        inside(state, None)


def test_the_derivative_keeps_both_properties():
    """Along a change of the crank's angle the basis stays one; all lengths are equal, so that singular values repeat."""

    def basis(angle):
        system, state = parallelogram(angle=angle)
        terms = system.equations().terms(state.t, state.q, state.v)
        return mb.velocity_basis(system, state, dof=1), terms.J, terms.M

    (Z, J, M), (dZ, dJ, dM) = jax.jit(lambda x: jax.jvp(basis, (x,), (1.0,)))(0.9)
    assert np.abs(dJ @ Z).max() > 0.1
    np.testing.assert_allclose(dJ @ Z + J @ dZ, 0.0, atol=1e-11)
    np.testing.assert_allclose(dZ.T @ M @ Z + Z.T @ M @ dZ + Z.T @ dM @ Z, 0.0, atol=1e-11)


def test_a_wrong_number_of_freedoms_is_refused():
    system, state, _ = models()["door"]
    with pytest.raises(mb.ModelError, match="given dof=3, but the mechanism has 1 degrees of freedom"):
        mb.velocity_basis(system, state, dof=3)
