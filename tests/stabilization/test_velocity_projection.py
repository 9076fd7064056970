import jax.numpy as jnp
import numpy as np
import pytest

import jaxmb as mb
from jaxmb.formulations.deflated import null_space
from jaxmb.mechanisms import get_mechanism

from ..models import spatial_loop


def at(stabilization, system, state, v):
    equations = system.equations()
    terms = equations.terms(state.t, state.q, v)
    q, v = stabilization.field(equations, state.t, state.q, v, null_space(terms.J), ())
    return np.asarray(terms.J), np.asarray(q), np.asarray(v)


def test_speeds_are_the_nearest_consistent_ones_of_a_redundant_loop():
    system, state = spatial_loop()
    v = jnp.asarray(np.random.default_rng(2).normal(size=state.v.size))
    J, q, projected = at(mb.VelocityProjection(), system, state, v)
    assert np.linalg.matrix_rank(J, rtol=1e-9) < J.shape[0]
    np.testing.assert_array_equal(q, state.q)
    np.testing.assert_allclose(projected, v - np.linalg.pinv(J, rcond=1e-9) @ J @ v, atol=1e-10)


def test_independent_speeds_are_kept():
    system, state = get_mechanism("slider-crank-free").build()
    v = jnp.array([0.3, -1.0, 2.0])
    J, _, projected = at(mb.VelocityProjection((2,)), system, state, v)
    assert projected[2] == 2.0
    np.testing.assert_allclose(J @ projected, 0, atol=1e-14)


@pytest.mark.slow
def test_drift_is_that_of_the_integrator():
    """Positions drift as t without and much less with; Kurz, Burkhardt and Eberhard's figure 3."""
    system, state = get_mechanism("slider-crank-free").build()
    drift = {}
    for stabilization in (mb.NoStabilization(), mb.VelocityProjection()):
        sol = mb.simulate(system, state, t1=20.0, dt_save=1.0, rtol=1e-6, atol=1e-6, stabilization=stabilization)
        drift[type(stabilization).__name__] = float(np.max(sol.violation.position))
    assert drift["VelocityProjection"] < 0.1 * drift["NoStabilization"]


@pytest.mark.parametrize(("independent", "phrase"), [((1, 1), "is repeated"), ((7,), "the speeds are 0 to 2")])
def test_bad_indices(independent, phrase):
    system, state = get_mechanism("slider-crank-free").build()
    with pytest.raises(mb.ModelError, match=phrase):
        at(mb.VelocityProjection(independent), system, state, state.v)
