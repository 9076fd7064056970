"""A pendulum against its closed form: from a builder to named outputs.

The period of a rod that swings from rest at 90 degrees is known by an elliptic integral. A redundant second hinge changes nothing
of the motion, and the run does not have to be told.
"""

import numpy as np
from scipy.special import ellipk

import jaxmb as mb

LENGTH, GRAVITY = 1.2, 9.81


def pendulum(hinges):
    return mb.System(
        bodies={"rod": mb.rod((0, 0, 0), (LENGTH, 0, 0), mass=2.0)},
        joints={
            f"hinge{k}": mb.Revolute("ground", "rod", point=(0, 0, z), axis="z")
            for k, z in enumerate(np.linspace(-0.05, 0.05, hinges) if hinges > 1 else [0.0])
        },
        forces={"gravity": mb.Gravity((0, -GRAVITY, 0))},
    )


# A rod swings as a point at two thirds of its length; the amplitude is 90 degrees.
period = 4 * ellipk(np.sin(np.pi / 4) ** 2) * np.sqrt(2 * LENGTH / 3 / GRAVITY)

for hinges in (1, 2):
    system = pendulum(hinges)
    sol = mb.simulate(system, system.state(), t1=period, dt_save=period / 40, rtol=1e-10, atol=1e-10)
    tip = np.asarray(sol.point("rod", "end"))
    support = sol.reaction("hinge0")
    print(f"{hinges} hinge(s): back after a period within {abs(tip[-1] - tip[0]).max():.1e} m,", end=" ")
    print(
        f"largest support force {np.linalg.norm(support.force, axis=1).max():.3f} N, unique: {bool(support.unique[0])}"
    )
    assert abs(tip[-1] - tip[0]).max() < 1e-8
    assert bool(support.unique[0]) == (hinges == 1)
