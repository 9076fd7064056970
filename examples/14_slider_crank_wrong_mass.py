"""A wrong mass matrix is found by the energy, not by the constraints.

In a thesis the slider-crank has a diagonal mass matrix, although its second angle is counted from the first, which
couples the two; the inertia forces on the right-hand side have that coupling. The run looks healthy: its joints stay
closed, and another program that was given the same matrix finds the same. What gives it away is the energy of the
rods, which only gravity acts on: it may not change.
"""

import jax.numpy as jnp
import numpy as np

import jaxmb as mb
from jaxmb.mechanisms import get_mechanism

GRAVITY = 9.81
TIMES = jnp.linspace(0.0, 1.5, 101)  # both rods are on one line at 1.7325 s, where the run would stop


def energy(sol):
    """Of two rods of 2 m and 1 kg and a slider of 1 kg, by the crank angle alone: the second rod mirrors the first."""
    angle, rate = np.asarray(sol.coordinate("theta1")), np.asarray(sol.v[:, 0])
    inertia = 8 / 3 + 24 * np.cos(angle) ** 2
    return 0.5 * inertia * rate**2 - 2 * GRAVITY * np.cos(angle)


changes = {}
for name in ("slider-crank-relative", "slider-crank-relative-printed"):
    mechanism = get_mechanism(name)
    system, state = mechanism.build(gravity=GRAVITY)
    sol = mb.simulate(system, state, t1=1.5, ts=TIMES, rtol=1e-10, atol=1e-10)
    angle, closed = sol.coordinate("theta1"), np.max(sol.violation.position)
    error = np.max(np.abs(angle - mechanism.read_reference()["theta1"][: len(TIMES)]))
    changes[name] = np.ptp(energy(sol))
    print(f"{name}: mass matrix at the start {np.round(system.terms(state.t, state.q, state.v).M, 3).tolist()}")
    print(f"  joints closed within {closed:.1e} m, crank at {angle[-1]:.6f} rad after 1.5 s,", end=" ")
    print(f"off the reference by {error:.1e} rad")
    print(f"  energy changes by {changes[name]:.2e} J")
    assert closed < 1e-13 and error < 1e-8

right, printed = changes.values()
assert right < 1e-6
assert printed > 1.0
