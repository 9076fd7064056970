"""A crank that hits an end stop and bounces, and how far it depends on the stop: gradients go through the impacts.

The loop is redundant (20 rows of rank 17), so the hinges share each impulse in many ways; the motion does not care. Times of the
impacts are located to rounding, and their dependence on the parameters is part of the derivative.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

import jaxmb as mb


def four_bar():
    lengths = {"crank": 1.0, "coupler": 1.5, "rocker": 1.2}
    bodies = {name: mb.rod(length=length, mass=length) for name, length in lengths.items()}
    joints = {
        "A": mb.Revolute("ground", "crank", at=(0, 0, 0), to="start"),
        "B": mb.Revolute("crank", "coupler", at="end", to="start"),
        "C": mb.Revolute("coupler", "rocker", at="end", to="end"),
        "D": mb.Revolute("ground", "rocker", at=(1.6, 0, 0), to="start"),
    }
    system = mb.System(bodies, joints, {"gravity": mb.Gravity((0, -9.81, 0))})
    return system, mb.assemble_state(system, hold={"A": 1.2})


system, state = four_bar()


def run(stop, restitution, **options):
    """The crank falls onto a stop at the angle `stop` (rad)."""
    events = {"stop": mb.Event(mb.LowerLimit("A", stop), mb.Impact(restitution))}
    return mb.simulate(system, state, t1=1.0, events=events, rtol=1e-9, atol=1e-9, **options)


sol = run(0.6, 0.5, dt_save=0.01)
print(f"impacts at {sol.events}")
energy, lowest = sol.energy.total, sol.joint("A").angle.min()
print(f"energy {energy[0]:.3f} J before, {energy[-1]:.3f} J after; lowest angle {lowest:.6f} rad")
assert int(sol.events.count) >= 1 and lowest > 0.6 - 1e-8


@eqx.filter_jit
def height(parameters):
    stop, restitution = parameters
    return run(stop, restitution, gradient="forward").final.point("coupler", "middle")[1]


p, h = jnp.array([0.6, 0.5]), 1e-5
slopes = jax.jacfwd(height)(p)
differences = np.array([(height(p + h * e) - height(p - h * e)) / (2 * h) for e in np.eye(2)])
print(f"height of the coupler by the place of the stop and by its restitution: {slopes} (differences {differences})")
np.testing.assert_allclose(slopes, differences, rtol=1e-4, atol=1e-6)
