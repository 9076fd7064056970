"""Small mechanisms that several tests share."""

import functools

import jax.numpy as jnp

import jaxmb as mb


def spatial_loop(mass=1.0, length=1.5, stiffness=20.0, angle=1.2):
    """A planar four-bar with spatial hinges: 20 rows of rank 17, with a spring across; start found by assembly."""
    lengths = {"crank": 1.0, "coupler": length, "rocker": 1.2}
    system = mb.System(
        bodies={name: mb.rod(length=l, mass=mass * l) for name, l in lengths.items()},
        joints={
            "A": mb.Revolute("ground", "crank", at=(0, 0, 0), to="start"),
            "B": mb.Revolute("crank", "coupler", at="end", to="start"),
            "C": mb.Revolute("coupler", "rocker", at="end", to="end"),
            "D": mb.Revolute("ground", "rocker", at=(1.6, 0, 0), to="start"),
        },
        forces={
            "gravity": mb.Gravity((0, -9.81, 0)),
            "spring": mb.spring(
                "ground", "coupler", stiffness=stiffness, free_length=0.3, at=(0.8, -1.0, 0), to="middle"
            ),
        },
    )
    return system, mb.assemble_state(system, hold={"A": angle})


def parallelogram(mass=1.0, length=1.0, stiffness=20.0, angle=0.9, cranks=(0.0, 1.0, 2.0), planar=False):
    """Three equal cranks on one coupler, all hinges spatial: symmetric, so singular values repeat, and doubly redundant. With two
    cranks and `planar` bodies it is as symmetric, and its rows are independent."""
    c, s = jnp.cos(angle), jnp.sin(angle)
    tip = length * jnp.stack([c, s, jnp.zeros(())])
    bodies, joints = {}, {}
    feet = [jnp.array([x, 0.0, 0.0]) for x in cranks]
    hinge = mb.PlanarRevolute if planar else mb.Revolute
    bodies["coupler"] = mb.rod(feet[0] + tip, feet[-1] + tip, mass=mass)
    for k, foot in enumerate(feet):
        bodies[f"crank{k}"] = mb.rod(foot, foot + tip, mass=mass)
        joints[f"foot{k}"] = hinge("ground", f"crank{k}", point=foot)
        joints[f"head{k}"] = hinge(f"crank{k}", "coupler", point=foot + tip)
    forces = {
        "gravity": mb.Gravity((0, -9.81, 0)),
        "spring": mb.spring("ground", "coupler", stiffness=stiffness, free_length=0.5, at=(1.0, -0.5, 0), to="middle"),
    }
    system = mb.System(bodies, joints, forces, coordinates=mb.Planar() if planar else mb.Quaternion())
    return system, system.state()


def pendulum(length=1.0, mass=1.0, gravity=9.81, **options):
    """A rod on a hinge, hanging sideways: period and motion are known in closed form."""
    return mb.System(
        {"rod": mb.rod((0, 0, 0), (length, 0, 0), mass=mass)},
        {"hinge": mb.Revolute("ground", "rod", point=(0, 0, 0), axis="z")},
        {"gravity": mb.Gravity((0, -gravity, 0))},
        **options,
    )


def door(hinges=2):
    """A door on two hinges: 10 rows of rank 5."""
    heights = [0.4 + 1.2 * k / max(hinges - 1, 1) for k in range(hinges)]
    return mb.System(
        {"door": mb.box((0, 0, 1.0), (0.9, 0, 1.0), width=0.04, height=2.0, mass=30.0)},
        {f"hinge{k}": mb.Revolute("ground", "door", point=(0, 0, z), axis="z") for k, z in enumerate(heights)},
        {"gravity": mb.Gravity((0, 0, -9.81))},
    )


def chain(n, *, forces=None):
    """Rods in a row on hinges whose axes differ."""
    bodies = {f"b{k}": mb.rod((k, 0, 0), (k + 1, 0, 0), mass=1.0 + k) for k in range(n)}
    joints = {
        f"J{k}": mb.Revolute("ground" if k == 0 else f"b{k - 1}", f"b{k}", point=(k, 0, 0), axis=(0, 1.0, 0.1 * k))
        for k in range(n)
    }
    return mb.System(bodies, joints, forces or {"g": mb.Gravity()})


@functools.cache
def loop_run():
    """One second of the redundant loop; tests of one process share it."""
    system, state = spatial_loop()
    return mb.simulate(system, state, t1=1.0, dt_save=0.1, rtol=1e-9, atol=1e-9)
