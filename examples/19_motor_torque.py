"""The torque a motor needs: driven kinematics, then inverse dynamics, on a loop with redundant hinges.

The crank of a four-bar turns at constant speed. The torque follows from the motion; since gravity gives back what it takes, the
motor's work over a whole turn is zero.
"""

import jax
import jax.numpy as jnp
import numpy as np

import jaxmb as mb


def four_bar(coupler_mass):
    lengths = {"crank": 1.0, "coupler": 1.5, "rocker": 1.2}
    masses = {"crank": 1.0, "coupler": coupler_mass, "rocker": 1.2}
    bodies = {name: mb.rod(length=length, mass=masses[name]) for name, length in lengths.items()}
    joints = {
        "A": mb.Revolute("ground", "crank", at=(0, 0, 0), to="start"),
        "B": mb.Revolute("crank", "coupler", at="end", to="start"),
        "C": mb.Revolute("coupler", "rocker", at="end", to="end"),
        "D": mb.Revolute("ground", "rocker", at=(1.6, 0, 0), to="start"),
        "motor": mb.Driver("A", lambda t: 1.2 + 2 * jnp.pi * t),
    }
    return mb.System(bodies, joints, {"gravity": mb.Gravity((0, -9.81, 0))})


def torque(coupler_mass):
    system = four_bar(coupler_mass)
    motion = mb.kinematics(system, ts=jnp.linspace(0.0, 1.0, 181), guess=start, throw=False)
    return motion, mb.inverse_dynamics(system, motion, throw=False)


start = mb.assemble_state(four_bar(1.5))
motion, loads = torque(1.5)
motor = loads.driver("motor")
work = 2 * np.pi * np.trapezoid(np.asarray(motor), np.asarray(motion.t))
print(f"torque from {jnp.min(motor):.3f} to {jnp.max(motor):.3f} N m; work over a turn {work:.1e} J")
unique = {name: bool(jnp.all(loads.reaction(name).unique)) for name in loads.system.joints}
print(f"unique: {', '.join(name for name in unique if unique[name])} of {', '.join(unique)}")
assert bool(motion.ok) and bool(loads.ok)
assert abs(work) < 1e-8, "the trapezoidal rule is exact to rounding for a smooth period"
assert [name for name in unique if unique[name]] == ["motor"]


def peak(coupler_mass):
    return jnp.max(torque(coupler_mass)[1].driver("motor"))


# The torque is linear in the masses, so the derivative is the difference.
slope = jax.grad(peak)(1.5)
k = int(jnp.argmax(motor))
difference = torque(2.5)[1].driver("motor")[k] - motor[k]
print(f"each kilogram more of the coupler asks for {slope:.4f} N m more")
assert abs(slope - difference) < 1e-8
