"""A Monte Carlo study of tolerances as one vmap.

Two hundred sprung arms whose lengths and stiffnesses scatter: all runs are one compiled program.
"""

import jax
import jax.numpy as jnp
import numpy as np

import jaxmb as mb

COUNT = 200


def swing(length, spring):
    """Angle of a sprung pendulum after one second."""
    system = mb.System(
        bodies={"arm": mb.rod((0, 0, 0), jnp.stack([length, 0.0, 0.0]), mass=1.0)},
        joints={"hinge": mb.Revolute("ground", "arm", point=(0, 0, 0), axis="z")},
        forces={"gravity": mb.Gravity((0, -9.81, 0)), "spring": mb.joint_spring("hinge", stiffness=spring)},
    )
    return mb.simulate(system, system.state(), t1=1.0).joint("hinge").angle[-1]


rng = np.random.default_rng(1)
lengths = jnp.asarray(rng.normal(0.8, 0.004, COUNT))
springs = jnp.asarray(rng.normal(3.0, 0.06, COUNT))
angles = np.asarray(jax.jit(jax.vmap(swing))(lengths, springs))

slopes = [(swing(0.8 + h, 3.0 + k) - swing(0.8 - h, 3.0 - k)) / (2 * (h + k)) for h, k in ((1e-4, 0.0), (0.0, 1e-3))]
expected = np.hypot(float(slopes[0]) * 0.004, float(slopes[1]) * 0.06)
print(f"angle after 1 s: {angles.mean():.4f} rad +- {angles.std():.4f}; from the slopes: +- {expected:.4f}")
assert abs(angles.std() / expected - 1) < 0.2
