"""Where the energy of two driven bars comes from, and how their last angle depends on a mass.

A constant moment and a constant force push a double pendulum without gravity. The work that the run counts is the
moment times the turn plus the force times the way of its point, and all of it is kinetic energy. The derivative of
the last angle by the mass of the outer bar is that of the whole run, and agrees with the difference of two runs.
"""

import jax
import jax.numpy as jnp
import numpy as np

import jaxmb as mb
from jaxmb.mechanisms import get_mechanism

MOMENT, FORCE = 10.0, (8.0, 7.0)
TIMES = jnp.linspace(0.0, 5.0, 11)
mechanism = get_mechanism("double-pendulum")


@jax.jit
def run(mass):
    """Motion and energies, and how they change with the mass of the outer bar (kg)."""

    def outputs(mass):
        system, state = mechanism.build(masses=(5.0, mass), moment=MOMENT, force=FORCE)
        sol = mb.simulate(system, state, t1=5.0, ts=TIMES, rtol=1e-11, atol=1e-11, gradient="forward")
        angle = sol.joint("O").angle
        return {
            "angle1": angle,
            "angle2": angle + sol.joint("A").angle,
            "tip": sol.point("bar2", "end"),
            "kinetic": sol.energy.kinetic,
            "work": sol.energy.work,
        }

    return jax.jvp(outputs, (mass,), (1.0,))


out, slope = jax.tree.map(np.asarray, run(7.0))
by_moment = MOMENT * (out["angle1"] - out["angle1"][0])
by_force = (out["tip"] - out["tip"][0])[:, :2] @ np.array(FORCE)
errors = [np.max(np.abs(out[name] - by_moment - by_force)) for name in ("work", "kinetic")]
print(f"after 5 s the moment has done {by_moment[-1]:.4f} J and the force {by_force[-1]:.4f} J;", end=" ")
print(f"kinetic energy {out['kinetic'][-1]:.4f} J")
print(f"their sum against the counted work: {errors[0]:.1e} J, against the kinetic energy: {errors[1]:.1e} J")
assert max(errors) < 1e-7

reference = mechanism.read_reference()
error = np.max(np.abs(out["angle2"] - reference["theta2"][:11]))
print(f"angle of the outer bar after 5 s: {out['angle2'][-1]:.9f} rad, off the reference by at most {error:.1e} rad")
assert np.allclose(reference["t"][:11], TIMES) and error < 1e-8

h = 1e-3
difference = (run(7.0 + h)[0]["angle2"][-1] - run(7.0 - h)[0]["angle2"][-1]) / (2 * h)
print(f"its slope by the mass: {slope['angle2'][-1]:.9f} rad/kg, by differences {difference:.9f} rad/kg,", end=" ")
print(f"{abs(slope['angle2'][-1] - difference):.1e} apart")
assert abs(slope["angle2"][-1] - difference) < 1e-8
