"""What stiffness costs an explicit solver and what an implicit one, and a quantity that no force of the mechanism can change.

The springs and dampers of the governor (8e5 N/m, 4e4 N s/m) bring eigenvalues to -8100 1/s. A loose tolerance then
buys nothing: 1e-3 takes as many steps as 1e-4, because stability decides, and springs and dampers of a tenth take a
ninth of them. All forces are internal or vertical and the shaft turns freely, so the angular momentum about z stays
what it was. `Radau` takes steps as long as the motion allows. (Without a solver given, `simulate` would find out, warn and take
Radau by itself.)
"""

import diffrax
import jax.numpy as jnp
import numpy as np

import jaxmb as mb
from jaxmb.mechanisms import get_mechanism

mechanism = get_mechanism("flyball-governor")
reference = mechanism.read_reference()
TIMES = jnp.asarray(reference["t"][:3])  # to 0.2 s, a fifth of a turn


def run(tolerance, scale=1.0, solver=None, ts=TIMES):
    system, state = mechanism.build(stiffness=scale * 8e5, damping=scale * 4e4)
    solver = diffrax.Dopri8() if solver is None else solver
    return mb.simulate(system, state, t1=ts[-1], ts=ts, solver=solver, rtol=tolerance, atol=tolerance)


def momentum(sol):
    """Angular momentum about z (N m s), body by body."""
    total = np.zeros(len(TIMES))
    for name, body in sol.system.bodies.items():
        motion = sol.body(name)
        spin = np.einsum("tij,jk,tlk,tl->ti", motion.rotation, body.inertia, motion.rotation, motion.omega)
        total += (spin + body.mass * np.cross(motion.position, motion.velocity))[:, 2]
    return total


runs = {tolerance: run(tolerance) for tolerance in (1e-3, 1e-4, 1e-8)}
for tolerance, sol in runs.items():
    slider, L = sol.body("slider").position[:, 2], momentum(sol)
    error, drift = np.max(np.abs(slider - reference["s"][:3])), np.ptp(L)
    steps = int(sol.stats.steps)
    print(f"tolerance {tolerance:.0e}: {steps} steps of {200 / steps:.2f} ms, {int(sol.stats.rejected)} rejected")
    print(f"  slider at {slider[-1]:.6f} m, off by {error:.1e} m; momentum kept within {drift:.1e} N m s")
    assert error < 1e-3 * tolerance and drift < 1e-2 * tolerance

rate = sol.joint("shaft_hinge").angle_rate
print(f"the shaft slows down from {rate[0]:.3f} to {rate[-1]:.3f} rad/s, at {L[-1]:.6f} N m s all the time")
soft = run(1e-3, scale=0.1)
print(f"springs and dampers of a tenth, tolerance 1e-03: {int(soft.stats.steps)} steps")
assert runs[1e-4].stats.steps < 1.1 * runs[1e-3].stats.steps
assert soft.stats.steps < 0.2 * runs[1e-3].stats.steps

whole = run(1e-6, solver=mb.Radau(), ts=jnp.asarray(reference["t"]))
error = np.max(np.abs(whole.body("slider").position[:, 2] - reference["s"]))
print(
    f"Radau, 10 s: {int(whole.stats.steps)} steps, {int(whole.stats.right_hand_sides)} evaluations, off by {error:.1e} m"
)
assert error < 2e-6 and whole.stats.steps < 500
