"""A point of mass 1 on a rod of length 1, swinging down from the horizontal: truth for the stiff rate formulations."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import scipy.integrate

GRAVITY = jnp.array([0.0, -9.81])
STEPS, DT = 5000, 1e-4


def constraint(q, v):
    """Phi, J, Phi_dot, gamma."""
    return jnp.array([q @ q - 1]) / 2, q[None, :], jnp.array([q @ v]), -jnp.array([v @ v])


@functools.cache
def truth():
    """Position after STEPS * DT seconds by the minimal equation theta'' = -g cos(theta)."""
    end = scipy.integrate.solve_ivp(
        lambda t, y: [y[1], -9.81 * np.cos(y[0])], (0, STEPS * DT), [0.0, 0.0], "DOP853", rtol=1e-12, atol=1e-12
    ).y[0, -1]
    return np.array([np.cos(end), np.sin(end)])


@jax.jit
def swing(formulation):
    """Position and violation after STEPS steps of the classical Runge-Kutta method."""

    def rate(y):
        q, v = y
        Phi, J, Phi_dot, gamma = constraint(q, v)
        out = formulation.rates(jnp.eye(2), J, GRAVITY, gamma, Phi, Phi_dot)
        return v + out.dv, out.a

    def step(y, _):
        def shifted(k, h):
            return jax.tree.map(lambda x, dx: x + h * dx, y, k)

        k1 = rate(y)
        k2 = rate(shifted(k1, DT / 2))
        k3 = rate(shifted(k2, DT / 2))
        k4 = rate(shifted(k3, DT))
        mean = jax.tree.map(lambda a, b, c, d: (a + 2 * b + 2 * c + d) / 6, k1, k2, k3, k4)
        return shifted(mean, DT), None

    (q, v), _ = jax.lax.scan(step, (jnp.array([1.0, 0.0]), jnp.zeros(2)), length=STEPS)
    return q, constraint(q, v)[0]


def slopes(formulations, mus):
    """Exponents of mu in the errors of position and constraint."""
    ends = [swing(formulation) for formulation in formulations]
    errors = [np.linalg.norm(q - truth()) for q, _ in ends], [abs(Phi[0]) for _, Phi in ends]
    return [np.polyfit(np.log(mus), np.log(error), 1)[0] for error in errors]
