"""A row of parallelograms."""

import jax.numpy as jnp
from jaxtyping import Array

from ..body import rod
from ..coordinates import Planar
from ..forces import Gravity
from ..joints import PlanarRevolute
from ..solution import Solution
from ..state import State
from ..system import System
from .mechanism import Mechanism, Number

#: Speed (m/s) of the top pins at the start.
SPEED = 1.0


def n_four_bar(*, windows: int = 2, length: Number = 1.0, mass: Number = 1.0, gravity: Number = 9.81) -> System:
    """`windows` equal squares side by side: uprights from A_i = (i, 0) to B_i = (i, 1), couplers from B_i to B_i+1,
    all thin rods of one `length` (m) and `mass` (kg). `gravity` in m/s2. 3 (2 N + 1) coordinates, 6 N + 2 rows, 1
    degree of freedom.

    Picture::

        B0        C0   B1          C1                windows = 2; C0 and B1 are at the same point
         o===========o===========o ---> speed
         | coupler0  | coupler1  |
         |           |           |                   y
         | upright0  | upright1  | upright2          ^
         o           o           o                   +--> x     gravity along -y
        A0          A1          A2
        ////        ////        ////

    Source: IFToMM benchmark A02, N-four-bar; N = 2 is the case of Bayo and Avello, N = 40 the size of the library.
    Assumed: rods without thickness (J = m l^2 / 12).

    Exercises: singular configurations. The mechanism makes full turns, and each time its rods lie on the x axis the
    Jacobian loses rank N and 2^N motions meet. A run stops there; one that goes on has chosen a branch without saying
    so. Also large N.
    """
    tall = jnp.asarray(length, float)
    zero = jnp.zeros(())
    A = [jnp.stack([i * tall, zero, zero]) for i in range(windows + 1)]
    B = [jnp.stack([i * tall, tall, zero]) for i in range(windows + 1)]
    bodies = {f"upright{i}": rod(A[i], B[i], mass=mass) for i in range(windows + 1)}
    bodies |= {f"coupler{i}": rod(B[i], B[i + 1], mass=mass) for i in range(windows)}
    joints = {f"A{i}": PlanarRevolute("ground", f"upright{i}", point=A[i]) for i in range(windows + 1)}
    for i in range(windows):
        joints[f"B{i}"] = PlanarRevolute(f"upright{i}", f"coupler{i}", point=B[i])
        joints[f"C{i}"] = PlanarRevolute(f"coupler{i}", f"upright{i + 1}", point=B[i + 1])
    return System(bodies, joints, {"gravity": Gravity((0.0, -gravity, 0.0))}, coordinates=Planar())


def n_four_bar_start(system: System, speed: Number = SPEED) -> State:
    """As built, with the velocity (`speed`, 0) m/s of every top pin."""
    v = jnp.asarray(speed, float)
    uprights = {name: body for name, body in system.bodies.items() if name.startswith("upright")}
    ahead = jnp.stack([v, jnp.zeros(()), jnp.zeros(())])
    # The centre of an upright moves at half the speed of its top, which is twice its half length away from the ground.
    omega = {name: (0.0, 0.0, -v / (2 * body.points["end"][0])) for name, body in uprights.items()}
    velocity = {name: 0.5 * ahead if name in uprights else ahead for name in system.bodies}
    return system.state(velocity=velocity, omega=omega)


def _outputs(sol: Solution) -> dict[str, Array]:
    top = sol.point_motion("upright0", "end")
    return {
        "B0x": top.position[:, 0],
        "B0y": top.position[:, 1],
        "B0vx": top.velocity[:, 0],
        "B0vy": top.velocity[:, 1],
        "psidot": -sol.body("upright0").omega[:, 2],
    }


def _size(windows: int, singular_at: float) -> Mechanism:
    return Mechanism(
        name=f"n-four-bar-{windows}",
        summary=f"{windows} square(s) of rods in a row, singular twice a turn [IFToMM A02]",
        builder=n_four_bar,
        parameters={"windows": windows},
        start=n_four_bar_start,
        t1=10.0,
        outputs=_outputs,
        reference=f"A02_N{windows}.csv",
        singular_at=singular_at,
    )


MECHANISMS = (_size(1, 0.7085), _size(2, 0.7144), _size(10, 0.7203), _size(40, 0.7216))
