import jax.numpy as jnp
import numpy as np
import pytest

import jaxmb as mb

from ..models import door, spatial_loop


def run(stabilization, **options):
    system, state = spatial_loop()
    return mb.simulate(system, state, t1=2.0, dt_save=0.1, stabilization=stabilization, rtol=1e-5, atol=1e-5, **options)


@pytest.fixture(scope="module")
def free():
    return run(mb.NoStabilization())


@pytest.mark.parametrize("weight", ["mass", "identity"])
def test_keeps_positions_and_speeds_where_a_free_run_drifts(weight, free):
    projected = run(mb.Projection(weight=weight))
    assert np.max(free.violation.position) > 1e-7, "without drift there is nothing to see"
    # One Newton step squares what a step of tolerance 1e-5 (or the interpolation inside it) leaves.
    assert np.max(projected.violation.position) < 1e-9
    assert np.max(projected.violation.velocity) < 1e-9


def test_correction_is_the_smallest_in_the_mass_metric():
    """On a redundant door: the correction dv solves J dv = -Phi and is M-orthogonal to every free motion."""
    system = door()
    state = system.state()
    equations = system.equations()
    q = equations.retract(state.q, jnp.asarray([1e-6, 2e-6, -1e-6, 3e-6, 1e-6, 2e-6]))
    from jaxmb.formulations.deflated import null_space

    terms = equations.terms(state.t, q, state.v)
    corrected = mb.Projection().correct(equations, state.t, q, state.v, terms, null_space(terms.J), ())
    J, M = np.asarray(terms.J), np.asarray(terms.M)
    free_motion = np.linalg.svd(J)[2][5:]
    moved = np.linalg.lstsq(J, -np.asarray(terms.Phi), rcond=1e-9)[0]
    # Any solution plus free motions; take the one of least energy by hand.
    y = np.linalg.solve(free_motion @ M @ free_motion.T, -free_motion @ M @ moved)
    expected = equations.retract(q, jnp.asarray(moved + free_motion.T @ y))
    assert np.max(np.abs(corrected.q - expected)) < 1e-14
    assert np.max(np.abs(equations.terms(state.t, corrected.q, state.v).Phi)) < 1e-11


def test_bad_options_are_refused():
    with pytest.raises(mb.ModelError, match="at least 1 is needed"):
        mb.Projection(iterations=0)
    with pytest.raises(mb.ModelError, match="neither 'mass' nor 'identity'"):
        mb.Projection(weight="heavy")
