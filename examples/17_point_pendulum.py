"""A point mass on a rod against elliptic functions, and what a penalty makes of it.

The catalog has the pendulum in the plane (one row) and in space (two rows). The exact formulations follow the closed form to
the tolerance; a penalty of the accelerations leaves an error proportional to 1/mu.
"""

import jax.numpy as jnp
import numpy as np

import jaxmb as mb
from jaxmb.mechanisms import get_mechanism

for name in ("simple-pendulum", "simple-pendulum-spatial"):
    mechanism = get_mechanism(name)
    system, state = mechanism.build()
    exact = mechanism.read_reference()
    sol = mb.simulate(system, state, t1=exact["t"][-1], ts=exact["t"], rtol=1e-10, atol=1e-10)
    error = np.max(np.hypot(sol.q[:, 0] - exact["x"], sol.q[:, 1] - exact["y"]))
    print(f"{name}: off by {error:.1e} m after {exact['t'][-1]:g} s in {int(sol.stats.steps)} steps")
    assert error < 1e-7

products = []
for mu in (1e4, 1e5, 1e6):
    penalty = mb.StaticPenalty(jnp.asarray(mu))  # as an array, mu changes without compiling again
    sol = mb.simulate(
        system,
        state,
        t1=5.0,
        ts=exact["t"],
        formulation=penalty,
        stabilization=mb.NoStabilization(),
        rtol=1e-10,
        atol=1e-10,
    )
    error = np.max(np.hypot(sol.q[:, 0] - exact["x"], sol.q[:, 1] - exact["y"]))
    products.append(mu * error)
    print(f"penalty {mu:.0e} kg: off by {error:.1e} m = {mu * error:.0f} m kg / mu")
assert np.ptp(products) < 0.05 * np.mean(products)
