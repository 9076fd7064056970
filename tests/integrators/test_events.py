"""Where events are seen in a step."""

import jax.numpy as jnp
import numpy as np

from jaxmb.integrators.events import Events, EventState


def look(function, side, directions=(0,), t1=1.0):
    """A step from 0 to t1 in which q = t."""
    events = Events((lambda t, q, v: function(q[0]),), ((),), directions, 3)
    state = EventState(
        jnp.array([side]), jnp.ones(1), jnp.zeros((), int), jnp.full(3, jnp.inf), jnp.full(3, -1), jnp.ones((3, 0)),
        jnp.zeros((3, 0)), jnp.zeros((), bool), jnp.zeros((), bool),
    )  # fmt: skip
    at = lambda t: (jnp.reshape(t, (1,)), jnp.zeros(1), jnp.zeros(()), jnp.zeros(()))  # noqa: E731
    seen = events.look(state, at, jnp.zeros(()), jnp.asarray(t1), at(jnp.asarray(t1)))
    return float(seen.landing), bool(seen.hit)


def test_the_first_root_is_where_to_land():
    landing, hit = look(lambda x: 0.3 - x, 1.0)
    assert abs(landing - 0.3) < 1e-7 and landing > 0.3 and not hit


def test_a_root_at_the_end_is_a_hit():
    assert look(lambda x: 0.3 - x, 1.0, t1=0.3 + 1e-10) == (0.0, True)


def test_nothing_before_the_root():
    assert look(lambda x: 0.3 - x, 1.0, t1=0.2) == (0.0, False)


def test_directions():
    falling, rising = (-1,), (1,)
    assert look(lambda x: 0.3 - x, 1.0, rising) == (0.0, False)
    assert look(lambda x: 0.3 - x, 1.0, falling)[0] > 0
    assert look(lambda x: x - 0.3, -1.0, rising)[0] > 0


def test_two_roots_in_a_step_and_a_jump():
    landing, _ = look(lambda x: (x - 0.41) * (x - 0.55), 1.0)
    np.testing.assert_allclose(landing, 0.41, atol=1e-7)
    assert look(lambda x: jnp.where(x < 0.4, 1.0, -1.0), 1.0) == (0.0, False)


def test_rounding_in_a_very_short_step_is_no_jump():
    """Values of 1e-13 with noise of 1e-15 around the root."""
    landing, hit = look(lambda x: 1e-13 * (0.3 - x) + jnp.where(x < 0.3, 1e-15, -1e-15), 1.0)
    assert landing > 0.29 or hit
