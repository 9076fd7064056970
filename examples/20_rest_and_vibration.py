"""Where a mechanism rests, how it vibrates there, and how its frequency follows from a parameter.

A four-bar with spatial hinges (20 rows, rank 17) hangs on a spring. Its natural frequency agrees with a simulated small
oscillation, and its derivative with respect to the stiffness with central differences.
"""

import jax
import numpy as np

import jaxmb as mb


def four_bar(stiffness):
    lengths = {"crank": 1.0, "coupler": 1.5, "rocker": 1.2}
    bodies = {name: mb.rod(length=length, mass=length) for name, length in lengths.items()}
    joints = {
        "A": mb.Revolute("ground", "crank", at=(0, 0, 0), to="start"),
        "B": mb.Revolute("crank", "coupler", at="end", to="start"),
        "C": mb.Revolute("coupler", "rocker", at="end", to="end"),
        "D": mb.Revolute("ground", "rocker", at=(1.6, 0, 0), to="start"),
    }
    spring = mb.spring("ground", "coupler", stiffness=stiffness, free_length=0.5, at=(0.8, 2.5, 0), to="middle")
    return mb.System(bodies, joints, {"gravity": mb.Gravity((0, -9.81, 0)), "spring": spring})


system = four_bar(40.0)
rest = mb.equilibrium(system, mb.assemble_state(system, hold={"A": 1.2}))
small = mb.linearize(system, rest)
modes = small.modes()
frequency = float(modes.natural_frequency[0])
print(f"rest with the crank at {rest.motion.joint('A').angle[0]:.4f} rad, stable: {bool(rest.stable)}")
print(modes)
assert bool(rest.stable) and small.dof == 1

# A simulated oscillation of small amplitude, started with a push; its zeros are half periods apart.
push = mb.State(rest.t, rest.q, rest.v + 1e-4 * np.real(modes.shape[0]))
sol = mb.simulate(system, push, t1=3.2 / frequency, dt_save=0.002 / frequency, rtol=1e-11, atol=1e-11)
swing = np.asarray(sol.joint("A").angle - rest.motion.joint("A").angle[0])
k = np.flatnonzero(swing[1:-1] * swing[2:] < 0) + 1
zeros = sol.t[k] - swing[k] * (sol.t[k + 1] - sol.t[k]) / (swing[k + 1] - swing[k])
simulated = 0.5 * (len(k) - 1) / float(zeros[-1] - zeros[0])
print(f"natural frequency {frequency:.6f} Hz, simulated {simulated:.6f} Hz")
assert abs(simulated - frequency) < 1e-5 * frequency


def natural_frequency(stiffness):
    system = four_bar(stiffness)
    at = mb.equilibrium(system, rest)
    return mb.linearize(system, at, dof=1).modes(count=1).natural_frequency[0]


h = 1e-3
slope = float(jax.grad(natural_frequency)(40.0))
central = float(natural_frequency(40.0 + h) - natural_frequency(40.0 - h)) / (2 * h)
print(f"d frequency / d stiffness = {slope:.8f} Hz m/N, by central differences {central:.8f}")
assert abs(slope - central) < 1e-6 * abs(slope)
