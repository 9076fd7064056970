"""Stiff flyball governor."""

# pyright: reportCallIssue=false
# (of a class made by a metaclass it does not see the inherited __init__)

import jax.numpy as jnp
from jaxtyping import Array

from ..body import Body, box
from ..coordinates import EulerParameters
from ..forces import Force, Gravity, Linear, PointToPoint
from ..joints import Prismatic, Revolute
from ..solution import Solution
from ..state import State
from ..system import System
from .mechanism import Mechanism, Number

#: Angular velocity (rad/s) of everything about z at the start.
SPIN = 2 * jnp.pi
#: Distance (m) of the hinges of the rods, and of the feet of the springs, from the shaft's axis.
OFFSET = 0.05


def _loaded_rod(hinge, out, length, side, density, ball) -> Body:
    """A rod from the hinge in the direction `out` with a point mass on its end."""
    plain = box(hinge, hinge + length * out, width=side, height=side, density=density)
    R = plain.pose.R
    mass = plain.mass + ball
    # The centre of mass is `arm` from the middle of the rod towards the ball.
    arm = ball / mass * length / 2
    across = plain.mass * arm**2 + ball * (length / 2 - arm) ** 2
    J = jnp.diagonal(plain.inertia) + across * jnp.array([0.0, 1.0, 1.0])
    places = {"hinge": -length / 2 - arm, "middle": -arm, "ball": length / 2 - arm}
    points = {name: (x, 0.0, 0.0) for name, x in places.items()}
    return Body(mass, J, position=plain.pose.p + arm * out, rotation=R, points=points)


def flyball_governor(
    *,
    alpha: Number = jnp.pi / 6,
    height: Number = 1.0,
    rod_length: Number = 1.0,
    side: Number = 0.01,
    cube: Number = 0.1,
    density: Number = 3000.0,
    ball: Number = 5.0,
    slider: Number = 0.5,
    stiffness: Number = 8e5,
    damping: Number = 4e4,
    free_length: Number = 0.5,
    gravity: Number = 9.81,
) -> System:
    """A shaft on z with two rods hinged to its top, a ball (`ball`, kg) on the end of each, and a sliding cube that
    stiff springs and dampers (N/m, N s/m) connect with the middle of the rods: 24 speeds, 20 rows, 4 degrees of
    freedom.

    `alpha` (rad) is the angle of the rods below the horizontal at the start, `slider` (m) the height of the cube,
    `side` and `cube` (m) the sections, `density` (kg/m3) that of shaft, rods and cube; lengths in m, `gravity` in m/s2.

    Picture::

                       hinge2 o-+-o hinge1                          z
                          . -   |   - .                             ^
               rod2   . '       |       ' .   rod1                  |
                  * '           |           ' *                     o--> x     y away from the reader
              . '   ' .         |         . '   ' .
          . '           ' .     |     . '           ' .             ball at the end of each rod
        (ball) spring2      +[slider]+     spring1 (ball)           spring1, spring2: to the middles *
                                |                                   alpha: rods below the horizontal
                                | shaft                             guide: slider on the shaft, along z
                                |                                   hinge1, hinge2: axis y
                                o shaft_hinge, axis z               gravity along -z
                               ////

    Source: IFToMM benchmark A05. Assumed: balls that are point masses, and the motor off, so that the shaft turns
    freely.

    Exercises: stiffness (eigenvalues to -8100 1/s, so that explicit solvers are bound by stability), angular momentum.
    """
    c, s = jnp.cos(jnp.asarray(alpha, float)), jnp.sin(jnp.asarray(alpha, float))
    top = jnp.asarray(height, float)
    zero = jnp.zeros(())
    shaft = box((0.0, 0.0, 0.0), jnp.stack([zero, zero, top]), width=side, height=side, density=density)
    edge = jnp.asarray(cube, float)
    collar = Body(density * edge**3, density * edge**5 / 6 * jnp.ones(3), position=(0.0, 0.0, slider))
    bodies = {"shaft": shaft, "slider": collar}
    joints = {
        "shaft_hinge": Revolute("ground", "shaft", point=(0.0, 0.0, 0.0), axis="z"),
        "guide": Prismatic("shaft", "slider", point=(0.0, 0.0, slider), axis="z"),
    }
    forces: dict[str, Force | Gravity] = {"gravity": Gravity((0.0, 0.0, -gravity))}
    for name, sign in (("1", 1.0), ("2", -1.0)):
        hinge = jnp.stack([sign * OFFSET * jnp.ones(()), zero, top])
        bodies[f"rod{name}"] = _loaded_rod(hinge, jnp.stack([sign * c, zero, -s]), rod_length, side, density, ball)
        joints[f"hinge{name}"] = Revolute("shaft", f"rod{name}", point=hinge, axis="y")
        law = Linear(stiffness, damping, free_length)
        forces[f"spring{name}"] = PointToPoint("slider", f"rod{name}", law, at=(sign * OFFSET, 0.0, 0.0), to="middle")
    return System(bodies, joints, forces)


def flyball_governor_start(system: System, spin: Number = SPIN) -> State:
    """As built, everything turning about z at `spin` (rad/s)."""
    omega = jnp.stack([jnp.zeros(()), jnp.zeros(()), jnp.asarray(spin, float)])
    centres = {name: body.pose.p + body.pose.R @ body.com for name, body in system.bodies.items()}
    velocity = {name: jnp.cross(omega, p) for name, p in centres.items()}
    return system.state(velocity=velocity, omega=dict.fromkeys(system.bodies, omega))


def _outputs(sol: Solution) -> dict[str, Array]:
    slider, shaft, rod = sol.body("slider"), sol.joint("shaft_hinge"), sol.body("rod1")
    # The x axis of rod 1 points from its hinge outward.
    along = rod.rotation[:, :, 0]
    sine = -along[:, 2]
    phi, phidot = shaft.angle, shaft.angle_rate
    cosine = along[:, 0] * jnp.cos(phi) + along[:, 1] * jnp.sin(phi)
    return {
        "s": slider.position[:, 2],
        "sdot": slider.velocity[:, 2],
        "alpha": jnp.arctan2(sine, cosine),
        "alphadot": -rod.omega[:, 0] * jnp.sin(phi) + rod.omega[:, 1] * jnp.cos(phi),
        "phi": phi,
        "phidot": phidot,
    }


MECHANISMS = (
    Mechanism(
        name="flyball-governor",
        summary="stiff flyball governor, 4 degrees of freedom [IFToMM A05]",
        builder=flyball_governor,
        start=flyball_governor_start,
        t1=10.0,
        outputs=_outputs,
        reference="A05.csv",
        published=EulerParameters(),
    ),
)
