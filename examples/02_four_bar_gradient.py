"""A length identified by the gradient of a whole simulation.

A spatial four-bar, redundant by three rows, is measured once; from a wrong coupler length Newton's method on the gradient finds
the right one in a few steps, because the derivative is that of the run and not a difference of runs.
"""

import jax
import jax.numpy as jnp
import numpy as np

import jaxmb as mb

TIMES = jnp.linspace(0.0, 0.6, 7)


def four_bar(coupler):
    lengths = {"crank": 1.0, "coupler": coupler, "rocker": 1.2}
    system = mb.System(
        bodies={name: mb.rod(length=length, mass=1.0) for name, length in lengths.items()},
        joints={
            "A": mb.Revolute("ground", "crank", at=(0, 0, 0), to="start"),
            "B": mb.Revolute("crank", "coupler", at="end", to="start"),
            "C": mb.Revolute("coupler", "rocker", at="end", to="end"),
            "D": mb.Revolute("ground", "rocker", at=(1.6, 0, 0), to="start"),
        },
        forces={"gravity": mb.Gravity((0, -9.81, 0))},
    )
    return system, mb.assemble_state(system, hold={"A": 1.2})


@jax.jit
def path(coupler):
    """Where the middle of the coupler is, and how that changes with its length; forward mode is cheap for one parameter."""

    def run(length):
        system, state = four_bar(length)
        return mb.simulate(system, state, t1=0.6, ts=TIMES, gradient="forward").point("coupler", "middle")

    return jax.jvp(run, (coupler,), (1.0,))


measured, _ = path(1.5)
coupler = 1.45
for step in range(6):
    found, slope = path(coupler)
    residual = (found - measured).ravel()
    coupler = float(coupler - slope.ravel() @ residual / (slope.ravel() @ slope.ravel()))
    print(f"step {step + 1}: coupler {coupler:.9f} m, misfit {np.linalg.norm(residual):.1e} m")

assert abs(coupler - 1.5) < 1e-7
