"""McPherson strut of a car, with one or two hinges on its lower arm."""

# pyright: reportCallIssue=false
# (of a class made by a metaclass it does not see the inherited __init__)

from collections.abc import Mapping

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..body import Body
from ..coordinates import EulerAngles
from ..forces import Applied, Gravity
from ..joints import Cylindrical, Prismatic, Revolute, Spherical
from ..solution import Solution
from ..system import System
from .mechanism import Mechanism, Number, at_rest
from .plane import heading

#: Hard points (m, world axes: x along the car, y outward, z up, origin at P1).
POINTS = {
    "P1A": (0.025, 0.0, 0.0),
    "P1B": (-0.025, 0.0, 0.0),
    "P1": (0.0, 0.0, 0.0),
    "P2": (0.0, 0.3, 0.0),
    "P3": (0.0, 0.35, 0.0),
    "P4": (0.0, 0.35, 0.45),
    "P8": (0.0, 0.5, 0.1),
    "P9": (0.1, 0.3, 0.25),
    "P10": (0.0, 0.35, 0.75),
    "P11": (0.0, 0.35, 0.775),
    "P12": (0.1, -0.2, 0.25),
    "P13": (0.1, -0.4, 0.25),
}

#: The ends of each body, between which its centre of mass is.
ENDS = {
    "arm": ("P1", "P2"),
    "knuckle": ("P3", "P4"),
    "top": ("P10", "P11"),
    "tie_rod": ("P9", "P12"),
    "rack": ("P12", "P13"),
}

#: R_WB of every body: x_B = y, y_B = z, z_B = x. World axes would be the singular point of zxz angles.
FRAME = ((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0))


class _RackForce(eqx.Module):
    mean: Float[Array, ""]
    amplitude: Float[Array, ""]

    def __call__(self, t):
        return jnp.stack([jnp.zeros(()), self.mean + self.amplitude * jnp.sin(t), jnp.zeros(())])


def mcpherson(
    *,
    overconstrained: bool = True,
    points: Mapping[str, object] | None = None,
    mass: Number = 1.0,
    inertia: Number = 0.1,
    lift: Number = 38.0,
    steering: Number = 2.0,
    steering_amplitude: Number = 0.01,
    gravity: Number = 9.80665,
) -> System:
    """Lower arm, knuckle with damper tube, damper rod with top mount, tie rod and rack: R-S-C-S-S-S-T, 4 degrees of
    freedom, two of which are the spins of the damper rod and of the tie rod.

    `overconstrained` doubles the hinge of the arm: 31 rows of rank 26 instead of 26. `points` replaces some of
    `POINTS`; `mass` (kg) and `inertia` (kg m2, the same about all axes) are those of each of the five bodies; `lift`
    (N) pushes the arm up, `steering` + `steering_amplitude` sin t (N) pushes the rack along y, `gravity` (m/s2) acts
    along -z.

    Picture::

        z                                 //o// P11: ball joint on the ground
        ^                                   |
        |                                   |  top, with P10 just below P11
        o--> y    x to the reader           |
                                          [ | ] strut: top slides and turns in the knuckle, along P3 P4
            guide: along y                  | P4
            ////////                        |
        P13 ========o---------------------o-| knuckle, P3 to P4
        push -->   P12      tie_rod      P9 |            P9, P12 and P13 are 0.1 m nearer to the reader
             rack                           +-----+ P8, wheel centre
                    P1A, P1B: axis x   P2   |
                         //o===== arm ====o-+ P3         lift: upwards at the middle of the arm

    Source: Pekal and Fraczek 2016, section 4.1, who give the lengths, masses and loads. Assumed: the directions of
    the links, the kinds of the joints (the only ones with 4 degrees of freedom and 5 redundant rows), Jz = Jx, |P4
    P10| = 0.3 m for the length that is lost in print, and a start at rest. All printed lengths hold. The paper shows
    no motion, so only ratios of its evaluation counts can be compared.

    Exercises: redundant constraints in every configuration, a unique resultant of reactions that are not unique, large
    rotations, a load that depends on time, and coordinates (its body frames suit zxz angles for the whole run).
    """
    p = {name: jnp.asarray(point, float) for name, point in {**POINTS, **(points or {})}.items()}
    J = jnp.broadcast_to(jnp.asarray(inertia, float), (3,))
    R = jnp.array(FRAME)
    bodies = {}
    for name, (start, end) in ENDS.items():
        centre = 0.5 * (p[start] + p[end])
        named = [start, end, *{"arm": ["P1A", "P1B"], "knuckle": ["P2", "P8", "P9"]}.get(name, [])]
        bodies[name] = Body(mass, J, position=centre, rotation=R, points={k: R.T @ (p[k] - centre) for k in named})
    hinge = p["P1A"] - p["P1B"]
    joints = {"P1A": Revolute("ground", "arm", point=p["P1A"], axis=hinge)}
    if overconstrained:
        joints["P1B"] = Revolute("ground", "arm", point=p["P1B"], axis=hinge)
    joints |= {
        "P2": Spherical("arm", "knuckle", point=p["P2"]),
        "strut": Cylindrical("knuckle", "top", point=p["P4"], axis=p["P4"] - p["P3"]),
        "P11": Spherical("ground", "top", point=p["P11"]),
        "P9": Spherical("knuckle", "tie_rod", point=p["P9"]),
        "P12": Spherical("tie_rod", "rack", point=p["P12"]),
        "guide": Prismatic("ground", "rack", point=p["P12"], axis=p["P12"] - p["P13"]),
    }
    push = _RackForce(jnp.asarray(steering, float), jnp.asarray(steering_amplitude, float))
    forces = {
        "gravity": Gravity((0.0, 0.0, -gravity)),
        "lift": Applied("arm", (0.0, 0.0, lift)),
        "push": Applied("rack", push),
    }
    return System(bodies, joints, forces)


def _outputs(sol: Solution) -> dict[str, Array]:
    arm, knuckle, rack = sol.joint("P1A"), sol.body("knuckle"), sol.body("rack")
    hinges = [name for name in ("P1A", "P1B") if name in sol.system.joints]
    force, moment = jnp.zeros_like(knuckle.position), jnp.zeros_like(knuckle.position)
    for name in hinges:
        reaction = sol.reaction(name)
        lever = sol.point("arm", name) - sol.point("arm", "P1")
        force, moment = force + reaction.force, moment + reaction.torque + jnp.cross(lever, reaction.force)
    out = {
        "theta_arm": arm.angle,
        "y5_rack": rack.position[:, 1],
        "steer": heading(knuckle.rotation, axis=2),
        "omega_arm": arm.angle_rate,
        "ydot5": rack.velocity[:, 1],
        "M1y_P1": moment[:, 1],
        "M1z_P1": moment[:, 2],
        "E_minus_W": sol.energy.total - sol.energy.work,
    }
    vectors = {
        "strut_u": knuckle.rotation[:, :, 1],
        "P8": sol.point("knuckle", "P8"),
        "c2": knuckle.position,
        "R11": sol.reaction("P11").force,
        "R1": force,
    }
    return out | {f"{name}{axis}": x[:, k] for name, x in vectors.items() for k, axis in enumerate("xyz")}


MECHANISMS = (
    Mechanism(
        name="mcpherson-simplified",
        summary="McPherson strut, 4 degrees of freedom, independent constraints [Pekal and Fraczek 2016]",
        builder=mcpherson,
        parameters={"overconstrained": False},
        start=at_rest,
        t1=10.0,
        outputs=_outputs,
        reference="mcpherson_simplified.csv",
        published=EulerAngles("zxz"),
    ),
    Mechanism(
        name="mcpherson-overconstrained",
        summary="McPherson strut with a second arm hinge, 5 redundant rows [Pekal and Fraczek 2016]",
        builder=mcpherson,
        start=at_rest,
        t1=10.0,
        outputs=_outputs,
        reference="mcpherson_overconstrained.csv",
        published=EulerAngles("zxz"),
    ),
)
