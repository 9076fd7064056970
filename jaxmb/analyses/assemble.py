"""From a rough guess to a state that closes every joint."""

from collections.abc import Mapping

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optimistix as optx

from ..errors import ModelError, is_concrete
from ..formulations.deflated import Deflated, null_space
from ..joints import Driver, Joint
from ..ports import GROUND
from ..spatial import Pose, rotation_about
from ..state import State
from ..system import System

#: Angle (rad) at which joints are put before the loops are closed, so that no links are aligned by accident.
BEND = 0.5
CLOSED = 1e-9


def assemble_state(
    system: System,
    guess: State | None = None,
    *,
    hold: Mapping[str, object] | None = None,
    rates: Mapping[str, object] | None = None,
) -> State:
    """A state near `guess` that satisfies the constraints on positions and speeds.

    `hold` fixes joint coordinates by joint name (rad, m), `rates` the rates of joint coordinates (rad/s, m/s). Without a guess,
    bodies that have no place are lined up joint by joint from the ground; which of several closures is found depends on the
    guess. Differentiable with respect to every number of the system, `hold` and `rates`; where freedom is left, the
    derivative is the motion of least kinetic energy. When the joints cannot be closed, an error says which stays open by how
    much (inside jit: a state of NaN).
    """
    hold, rates = dict(hold or {}), dict(rates or {})
    for name in [*hold, *rates]:
        if not system.joint(name).coordinates:
            raise ModelError(
                f"assemble_state was told to hold joint '{name}', a {type(system.joint(name)).__name__} without coordinates."
            )
    start = _line_up(system, hold) if guess is None else guess
    positions = _with_drivers(system, hold)
    q, residual = _close(positions, start.t, start.q, start.v)
    if is_concrete(residual) and not np.max(np.abs(np.asarray(residual)), initial=0.0) <= CLOSED:
        raise ModelError(_open_joint(positions, np.asarray(residual), hold))
    moving = _with_drivers(system, dict.fromkeys(rates))
    return State(
        start.t, q, _move(moving, start.t, q, start.v, {name: jnp.asarray(x, float) for name, x in rates.items()})
    )


def _with_drivers(system: System, values: Mapping[str, object]) -> System:
    drivers = {
        _held(name): Driver(name, 0.0 if value is None else jnp.asarray(value, float)) for name, value in values.items()
    }
    return system.with_joints(**drivers)


def _held(name: str) -> str:
    return f"hold {name}"


@eqx.filter_jit
def _close(system: System, t, q, v):
    """Positions by Levenberg-Marquardt, then Newton; the derivative is that of the last Newton steps, which is the implicit
    function theorem."""
    equations = system.equations()

    def residual(displacement, q):
        return frozen.terms(t, frozen.retract(q, displacement), v).Phi

    def newton(equations, q):
        terms = equations.terms(t, q, jnp.zeros_like(v))
        null = null_space(terms.J)
        return equations.retract(q, Deflated().particular(terms.mass, terms.J, jnp.zeros_like(v), -terms.Phi, null).a)

    frozen, rough = jax.lax.stop_gradient((equations, q))
    solver = optx.LevenbergMarquardt(rtol=1e-10, atol=1e-10)
    found = optx.least_squares(residual, solver, jnp.zeros_like(v), args=rough, max_steps=256, throw=False)
    near = frozen.retract(rough, found.value)
    for _ in range(2):
        near = newton(frozen, near)
    # What freedom is left follows the guess, so its derivative enters here.
    near = jax.lax.stop_gradient(near) + (q - rough)
    for _ in range(2):
        near = newton(equations, near)
    Phi = equations.terms(t, near, v).Phi
    closed = jnp.max(jnp.abs(Phi), initial=0.0) <= CLOSED
    return jnp.where(closed, near, jnp.nan), jax.lax.stop_gradient(Phi)


@eqx.filter_jit
def _move(system: System, t, q, v, rates):
    """The speeds nearest to v (in kinetic energy) that satisfy the constraints, with given rates of joint coordinates."""
    equations = system.equations()
    terms = equations.terms(t, q, v)
    wanted = jnp.zeros_like(terms.Phi)
    for name, rate in rates.items():
        wanted = wanted.at[equations.row_names.index(f"{_held(name)}.drive")].set(rate)
    null = null_space(terms.J)
    return v + Deflated().particular(terms.mass, terms.J, jnp.zeros_like(v), wanted - terms.Phi_dot, null).a


def _line_up(system: System, hold: Mapping[str, object]) -> State:
    """The reference state, with bodies that have no place put where a joint to a placed body puts them."""
    placed = {name: body.pose for name, body in system.bodies.items() if body.placed}
    placed[GROUND] = Pose(jnp.zeros(3), jnp.eye(3))
    left = [joint for joint in system.joints.items() if len(joint[1].ports) == 2 and not isinstance(joint[1], Driver)]
    while True:
        ready = next(((n, j) for n, j in left if (j.bodies[0] in placed) != (j.bodies[1] in placed)), None)
        if ready is None:
            break
        name, joint = ready
        first, second = joint.bodies
        F, G = (port.frame for port in joint.ports)  # pyright: ignore[reportAttributeAccessIssue]
        between = _between(joint, hold.get(name))
        if first in placed:
            placed[second] = placed[first] @ F @ between @ G.inverse()
        else:
            placed[first] = placed[second] @ G @ between.inverse() @ F.inverse()
    bodies = {
        name: eqx.tree_at(lambda b: b.pose, body, placed.get(name, body.pose)) for name, body in system.bodies.items()
    }
    return System(bodies, system.joints, system.forces, coordinates=system.coordinates).state()


def _between(joint: Joint, held) -> Pose:
    """Pose of the second frame in the first with the held coordinate, or bent."""
    value = jnp.asarray(BEND if held is None else held, float)
    if "angle" in joint.coordinates or not joint.coordinates:
        return Pose(jnp.zeros(3), rotation_about(2, value))
    return Pose(jnp.stack([jnp.zeros(()), jnp.zeros(()), value]), jnp.eye(3))


def _open_joint(system: System, residual: np.ndarray, hold: Mapping[str, object]) -> str:
    worst = int(np.argmax(np.abs(residual)))
    joint, _, row = system.equations().row_names[worst].rpartition(".")
    held = ", ".join(hold) if hold else "nothing"
    return (
        f"assemble_state could not close joint '{joint}': row {row} stays open by {abs(residual[worst]):.2e} (held: {held}). "
        "Check that the lengths allow it, hold other values, or give a guess nearer to the closed mechanism."
    )
