"""What a ball joint carries: reactions in space against a trusted trajectory and against Newton's law.

In the R-U-S-R four-bar a wheel drives a rocker in another plane through a coupler of 12.2 m; a spring and a damper
sit on the wheel. The force of the rocker on the coupler at the ball joint C is compared with that of another program,
and with what the coupler needs besides its weight and the force of the cross joint B to accelerate as it does.
"""

import jax.numpy as jnp
import numpy as np

import jaxmb as mb
from jaxmb.mechanisms import get_mechanism

mechanism = get_mechanism("spatial-four-bar")
reference = mechanism.read_reference()
system, state = mechanism.build()
sol = mb.simulate(system, state, t1=10.0, ts=jnp.asarray(reference["t"]), rtol=1e-11, atol=1e-11)

ball, cross, coupler = sol.reaction("C"), sol.reaction("B"), sol.body("coupler")
error = max(np.max(np.abs(ball.force[:, k] - reference[f"N2{axis}"])) for k, axis in enumerate("xyz"))
sideways = np.asarray(ball.force[:, 1])
print(f"force on the coupler at C along y: {sideways.min():.4f} N to {sideways.max():.4f} N in 10 s,", end=" ")
print(f"of all components at most {np.max(np.abs(ball.force)):.4f} N")
print(f"off the reference by {error:.1e} N; torque at most {np.max(np.abs(ball.torque)):.1e} N m")
assert error < 1e-7
assert np.max(np.abs(ball.torque)) < 1e-12

weight = system.bodies["coupler"].mass * jnp.array([[0.0, 0.0, -9.81]])
needed = system.bodies["coupler"].mass * coupler.acceleration
left = np.max(np.abs(ball.force + cross.force + weight - needed))
print(f"forces of C, B and weight against mass times acceleration: {left:.1e} N")
assert left < 1e-10
assert bool(jnp.all(ball.unique & cross.unique))

# Only the damper takes energy out.
balance = np.max(np.abs(sol.energy.total - sol.energy.work - sol.energy.total[0]))
print(f"the damper has taken {-sol.energy.work[-1]:.4f} J; energy and work balance within {balance:.1e} J")
assert balance < 1e-7 and np.all(np.diff(sol.energy.work) <= 0)
