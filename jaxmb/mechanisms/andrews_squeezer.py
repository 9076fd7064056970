"""Andrews' squeezing mechanism."""

import jax.numpy as jnp
from jaxtyping import Array

from ..coordinates import Planar
from ..forces import Applied, Linear, PointToPoint
from ..joints import PlanarRevolute
from ..solution import Solution
from ..system import System
from .mechanism import Mechanism, Number, Numbers, at_rest
from .plane import direction, heading, plate, polar, third_point


def andrews_squeezer(
    *,
    beta: Number = -0.0617138900142764496358948458001,
    torque: Number = 0.033,
    stiffness: Number = 4530.0,
    free_length: Number = 0.07785,
    A: Numbers = (-0.06934, -0.00227),
    B: Numbers = (-0.03635, 0.03273),
    C: Numbers = (0.014, 0.072),
) -> System:
    r"""Seven bodies K1 to K7 in the plane, hinged at O = (0, 0), `A` and `B`, driven by a constant `torque` (N m) on
    K1 against a spring from the ground at `C` to K3: 21 coordinates, 20 rows, 1 degree of freedom. Four bodies share
    the pin E. No gravity.

    `beta` (rad) is the angle of the crank K1 at the start; the other angles follow. The default is the start of the
    IVP test set (crank and K2 aligned); the IFToMM library prints -0.0620. `A`, `B`, `C` and `free_length` are in m,
    `stiffness` in N/m, masses in kg and inertias in kg m2.

    Picture::

                                                      o C, ground
        y                                          z
        ^                                       z    spring
        |                                     z
        +--> x                             z
                     ground, B o .      z                         K3: the triangle B D E
                                \  ' - o D                        E2, E4, E6: K2, K4, K6 on K3, at E
                        K5 . o G \    /                           A5, A7: K5, K7 on the ground, at A
                   . - '      '.  \  /
         A o '            K4    '. o - - - K2 - - - o===o F       beta: K1 from x
        ground  ' - . _  K7      ' E         ground, O K1         torque on K1, about z
                           ' - o H K6

    Source: IFToMM benchmark A03 and the Bari/CWI test set for IVP solvers; dimensions of Andrews, Giles and Schiehlen.
    Assumed: the start of the IVP test set (from the other one F is up to 8.3e-5 m elsewhere within 0.05 s).

    Exercises: fast motion of light links (up to 1265 rad/s within 0.05 s), units far from one.
    """
    A, B = jnp.asarray(A, float), jnp.asarray(B, float)
    d, e, rr, ss, u, zf, zt = 0.028, 0.02, 0.007, 0.035, 0.04, 0.02, 0.04
    F = polar(rr, beta)
    E = third_point(F, B, d, ss)
    G = third_point(A, E, zt, e)
    H = third_point(E, A, zf, u)
    up = jnp.pi / 2
    bodies = {
        "K1": plate(0.04325, 2.194e-6, jnp.zeros(2), beta, com=(0.00092, 0.0), points={"F": (rr, 0.0)}),
        "K2": plate(0.00365, 4.410e-7, E, direction(E, F), com=(0.0165, 0.0), points={"F": (d, 0.0)}),
        "K3": plate(
            0.02373,
            5.255e-6,
            B,
            direction(B, E) + up,
            com=(0.01043, -0.01874),
            points={"E": (0.0, -ss), "D": (0.02, -0.018)},
        ),
        "K4": plate(0.00706, 5.667e-7, G, direction(G, E) + up, com=(0.0, -0.00579), points={"E": (0.0, -e)}),
        "K5": plate(0.0705, 1.169e-5, A, direction(A, G), com=(0.02308, 0.00916), points={"G": (zt, 0.0)}),
        "K6": plate(0.00706, 5.667e-7, H, direction(H, E), com=(0.00579, 0.0), points={"E": (zf, 0.0)}),
        "K7": plate(0.05498, 1.912e-5, A, direction(A, H), com=(0.01228, -0.00449), points={"H": (u, 0.0)}),
    }
    origin = (0.0, 0.0, 0.0)
    ground_A, ground_B, ground_C = ((*point, 0.0) for point in (A, B, jnp.asarray(C, float)))
    joints = {
        "O": PlanarRevolute("ground", "K1", at=origin, to=origin),
        "F": PlanarRevolute("K1", "K2", at="F", to="F"),
        "B": PlanarRevolute("ground", "K3", at=ground_B, to=origin),
        "E2": PlanarRevolute("K3", "K2", at="E", to=origin),
        "E4": PlanarRevolute("K3", "K4", at="E", to="E"),
        "E6": PlanarRevolute("K3", "K6", at="E", to="E"),
        "G": PlanarRevolute("K4", "K5", at=origin, to="G"),
        "A5": PlanarRevolute("ground", "K5", at=ground_A, to=origin),
        "H": PlanarRevolute("K6", "K7", at=origin, to="H"),
        "A7": PlanarRevolute("ground", "K7", at=ground_A, to=origin),
    }
    forces = {
        "torque": Applied("K1", torque=(0.0, 0.0, torque)),
        "spring": PointToPoint("ground", "K3", Linear(stiffness, free=free_length), at=ground_C, to="D"),
    }
    return System(bodies, joints, forces, coordinates=Planar())


def _outputs(sol: Solution) -> dict[str, Array]:
    F = sol.point_motion("K1", "F")
    turn = {k: heading(sol.body(f"K{k}").rotation) for k in range(1, 8)}
    rate = {k: sol.body(f"K{k}").omega[:, 2] for k in range(1, 8)}
    turn[7] = turn[7] + jnp.pi / 2
    out = {"Fx": F.position[:, 0], "Fy": F.position[:, 1], "Fvx": F.velocity[:, 0], "Fvy": F.velocity[:, 1]}
    for prefix, x in (("", turn), ("d", rate)):
        angles = {
            "beta": x[1],
            "theta": x[2] - x[1],
            "gamma": x[3],
            "phi": x[4] - x[5],
            "delta": x[5],
            "omega": x[6] - x[7],
            "epsilon": x[7],
        }
        out |= {prefix + name: value for name, value in angles.items()}
    return out


MECHANISMS = (
    Mechanism(
        name="andrews-squeezer",
        summary="seven light bodies in fast motion, the IVP test set's start [IFToMM A03]",
        builder=andrews_squeezer,
        start=at_rest,
        t1=0.05,
        outputs=_outputs,
        reference="A03.csv",
    ),
)
