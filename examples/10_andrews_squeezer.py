"""Light links, short times: numbers that are far from one in SI units.

Andrews' squeezer makes five turns in 50 ms, with links of a few grams and inertias around 1e-6 kg m2. Nothing is
scaled by hand, and nothing but the end and the saving times is told to the run; it picks its own steps of some 0.2
ms. Torque and spring put energy in, and the balance, counted by hand in millijoules, closes.
"""

import jax.numpy as jnp
import numpy as np

import jaxmb as mb
from jaxmb.mechanisms import get_mechanism

TORQUE, STIFFNESS, FREE_LENGTH, C = 0.033, 4530.0, 0.07785, np.array([[0.014, 0.072, 0.0]])
mechanism = get_mechanism("andrews-squeezer")
reference = mechanism.read_reference()
system, state = mechanism.build()
sol = mb.simulate(system, state, t1=0.05, ts=jnp.asarray(reference["t"]), rtol=1e-10, atol=1e-10)

crank, F, steps = sol.joint("O"), sol.point("K1", "F"), int(sol.stats.steps)
turns = (crank.angle[-1] - crank.angle[0]) / (2 * np.pi)
print(f"{turns:.2f} turns in 50 ms, up to {np.max(np.abs(crank.angle_rate)):.0f} rad/s;", end=" ")
print(f"{steps} steps of {50 / steps:.2f} ms on average")

error = max(np.max(np.abs(F[:, k] - reference[name])) for k, name in enumerate(("Fx", "Fy")))
angle_error = np.max(np.abs(crank.angle - reference["beta"]))
print(f"pin F is off the reference by {1e12 * error:.1f} pm, the crank by {angle_error:.1e} rad")
assert error < 1e-10 and angle_error < 1e-8

# Torque times turn, and what the spring stores by its length.
given = TORQUE * (crank.angle - crank.angle[0])
length = np.linalg.norm(sol.point("K3", "D") - C, axis=1)
stored = 0.5 * STIFFNESS * (length - FREE_LENGTH) ** 2
balance = np.max(np.abs(sol.energy.kinetic - given - (stored[0] - stored)))
print(f"torque gave {1e3 * given[-1]:.3f} mJ, spring {1e3 * (stored[0] - stored[-1]):.3f} mJ;", end=" ")
print(f"kinetic energy {1e3 * sol.energy.kinetic[-1]:.3f} mJ, balance within {1e3 * balance:.1e} mJ")
assert balance < 1e-7
