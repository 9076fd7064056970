"""What events do: the impulse law against NumPy."""

import jax.numpy as jnp
import numpy as np

import jaxmb as mb
from jaxmb.integrators.actions import Impact, Lock, Moment, Release, rows_of_joint
from jaxmb.integrators.mode import all_active

from ..models import spatial_loop


def moving_loop():
    system, state = spatial_loop()
    equations = system.equations()
    J = np.asarray(equations.terms(state.t, state.q, state.v).J)
    _, _, V = np.linalg.svd(J)
    v = jnp.asarray(2.0 * V[-1])
    moment = Moment(state.t, state.q, v, all_active(J.shape[0]), jnp.zeros((), bool))
    return equations, moment, J


def height(equations):
    """Gap of the crank's centre from the ground, closing or opening with the sign of the motion."""
    return lambda t, q, v: equations.poses(q).p[0, 1]


def test_impact_obeys_the_impulse_law_on_a_redundant_loop():
    equations, moment, J = moving_loop()
    gap = height(equations)
    row = np.zeros(moment.v.size)
    row[1] = 1.0
    sign = -np.sign(float(row @ moment.v))
    moment = Moment(moment.t, moment.q, sign * moment.v, moment.mode, moment.stopped)
    before = np.asarray(moment.v)
    after = np.asarray(Impact(0.5).apply(equations, gap, moment).v)
    np.testing.assert_allclose(row @ after, -0.5 * (row @ before), atol=1e-12)
    np.testing.assert_allclose(J @ after, 0.0, atol=1e-12)
    # The change of momentum is a combination of constraint forces and the contact's.
    M = np.asarray(equations.terms(moment.t, moment.q, moment.v).M)
    impulse, allowed = M @ (after - before), np.vstack([J, row]).T
    left = impulse - allowed @ np.linalg.lstsq(allowed, impulse, rcond=1e-9)[0]
    assert np.max(np.abs(left)) < 1e-10 and np.max(np.abs(impulse)) > 0.1


def test_an_opening_gap_is_left_alone():
    equations, moment, _ = moving_loop()
    sign = np.sign(float(moment.v[1]))
    moment = Moment(moment.t, moment.q, sign * moment.v, moment.mode, moment.stopped)
    np.testing.assert_array_equal(Impact(0.5).apply(equations, height(equations), moment).v, moment.v)


def test_release_and_lock_remember_where_they_held():
    equations, moment, _J = moving_loop()
    rows = np.asarray(rows_of_joint(equations, "B", "test"))
    released = Release("B").apply(equations, None, moment)
    np.testing.assert_array_equal(released.mode.active, 1.0 - rows)
    shifted = Moment(moment.t, moment.q.at[7].add(0.25), moment.v, released.mode, moment.stopped)
    locked = Lock("B").apply(equations, None, shifted)
    np.testing.assert_array_equal(locked.mode.active, 1.0)
    Phi = np.asarray(equations.terms(shifted.t, shifted.q, shifted.v).Phi)
    np.testing.assert_allclose(locked.mode.held, rows * Phi, atol=1e-15)
    assert np.max(np.abs(Phi * rows)) > 0.2
    again = Lock("B").apply(equations, None, moment)
    np.testing.assert_array_equal(again.mode.held, 0.0)


def test_stop_stops():
    equations, moment, _ = moving_loop()
    assert bool(mb.Stop().apply(equations, None, moment).stopped)
