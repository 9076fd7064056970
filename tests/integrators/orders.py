"""Convergence measured by halving fixed steps, against a tight explicit run; and steps taken one by one."""

import functools

import diffrax
import jax
import jax.numpy as jnp
import numpy as np

import jaxmb as mb
from jaxmb.formulations.deflated import null_space
from jaxmb.integrators.field import Carried, Field, FieldTerm
from jaxmb.mechanisms import get_mechanism

from ..models import pendulum, spatial_loop

TIMES = np.array([0.0, 0.4, 0.8])


def euler_pendulum():
    system = pendulum(coordinates=mb.EulerParameters())
    return system, system.state()


def quaternion_pendulum():
    system = pendulum()
    return system, system.state()


def damped_and_driven():
    """A redundant loop whose forces depend on speeds and time."""
    system, state = spatial_loop()
    wind = mb.Applied("coupler", lambda t: jnp.stack([20.0 * jnp.sin(5.0 * t), 0.0 * t, 0.0 * t]))
    damper = mb.spring("ground", "coupler", stiffness=0.0, damping=3.0, free_length=0.3, at=(0.8, -1.0, 0), to="middle")
    return system.with_forces(wind=wind, damper=damper), state


MECHANISMS = {
    "pendulum": quaternion_pendulum,
    "Euler parameters": euler_pendulum,
    "loop": spatial_loop,
    "bricard": lambda: get_mechanism("bricard").build(),
    "damped and driven": damped_and_driven,
}


@functools.cache
def build(name):
    return MECHANISMS[name]()


@functools.cache
def truth(name):
    system, state = build(name)
    return mb.simulate(system, state, t1=TIMES[-1], ts=TIMES, rtol=1e-12, atol=1e-12)


def run(name, solver, dt, **options):
    system, state = build(name)
    return mb.simulate(system, state, t1=TIMES[-1], ts=TIMES, solver=solver, dt=dt, **options)


def errors(name, sol):
    """Of positions, speeds and multipliers, the largest ones."""
    exact = truth(name)
    return np.array([np.max(np.abs(a - b)) for a, b in ((sol.q, exact.q), (sol.v, exact.v), (sol.lam, exact.lam))])


def walk(solver, system, state, dt, count):
    """States and solver states after each of `count` steps of the solver alone."""
    equations = system.equations()
    field = Field(equations, mb.Deflated(), mb.NoStabilization())
    terms = FieldTerm(field)
    carried = Carried(null_space(equations.terms(state.t, state.q, state.v).J), ())
    y = (state.q, state.v, jnp.zeros(()), jnp.zeros(()))

    def step(carry, k):
        y, s = carry
        t = state.t + k * dt
        y, _, _, s, _ = solver.step(terms, t, t + dt, y, carried, s, jnp.zeros((), bool))
        return (y, s), (y, s)

    @jax.jit
    def go():
        start = solver.init(terms, state.t, state.t + dt, y, carried)
        return jax.lax.scan(step, (y, start), jnp.arange(count))[1]

    return go()


def explicit(name, dt):
    """What an explicit method makes of the same steps."""
    system, state = build(name)
    return mb.simulate(system, state, t1=TIMES[-1], ts=TIMES, solver=diffrax.Tsit5(), dt=dt, throw=False)
