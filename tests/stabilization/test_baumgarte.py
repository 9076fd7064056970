import numpy as np

import jaxmb as mb
from jaxmb.terms import Terms

from ..models import pendulum


def test_bias_is_the_formula():
    rng = np.random.default_rng(1)
    Phi, Phi_dot, gamma = (np.asarray(rng.normal(size=3)) for _ in range(3))
    J, M = rng.normal(size=(3, 4)), np.eye(4)
    import jax.numpy as jnp

    terms = Terms(*(jnp.asarray(x) for x in (M, Phi, J, Phi_dot, gamma, np.zeros(4), np.zeros(()))))
    assert np.allclose(mb.Baumgarte(3.0, 5.0).bias(terms), gamma - 6.0 * Phi_dot - 25.0 * Phi)


def test_a_violation_decays_at_the_given_rate():
    """A start that is off by 1e-7 m (within what counts as assembled): Phi follows the critically damped law."""
    system = pendulum(gravity=0.0)
    state = system.state()
    start = mb.State(state.t, state.q.at[2].add(5e-7), state.v)
    alpha = 8.0
    sol = mb.simulate(
        system, start, t1=0.5, dt_save=0.1, stabilization=mb.Baumgarte(alpha, alpha), rtol=1e-12, atol=1e-14
    )
    t = np.asarray(sol.t)
    expected = np.asarray(sol.violation.position)[0] * (1 + alpha * t) * np.exp(-alpha * t)
    assert np.allclose(sol.violation.position, expected, rtol=1e-5)
