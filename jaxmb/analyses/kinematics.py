"""Driven motions: positions, speeds and accelerations from the constraints alone."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from ..errors import ModelError, SimulationError, did_you_mean, is_concrete
from ..formulations.base import all_finite, first_failure
from ..formulations.deflated import null_space
from ..scaling import Scaling, scaling_of
from ..state import State
from ..status import Status
from ..system import System
from ..terms import Equations, Terms
from ..trajectory import Trajectory, joints_of
from .closing import CLOSED
from .dependence import decompose
from .follow import SOLVERS, Follower, Place, closing, kinematic_solve, rates, rates_exist

START_ITERATIONS = 256
#: A speed takes part in a free motion if it is larger than this part of it.
MOVES = 1e-6
#: Drivers push against a dependency of rows if it has more than this part of what they ask for; where branches meet it has none.
PUSHES = 0.02


class DrivenMotion(Trajectory):
    """A motion that follows from its drivers: times `t` (s), positions `q`, speeds `v` and accelerations `a` at them.

    Rows after the time `reached` are NaN when the path ended before; `status` says why.
    """

    t: Float[Array, "*batch times"]
    q: Float[Array, "*batch times nq"]
    v: Float[Array, "*batch times nv"]
    a: Float[Array, "*batch times nv"]
    status: Status
    reached: Float[Array, "*batch"]
    trials: Int[Array, "*batch times"]
    """Steps that were tried to get to each time from the one before."""
    weakest: Float[Array, "*batch m"]
    """How much each constraint row takes part in the combinations of rows that were nearest to dependence at the end."""
    open: Float[Array, "*batch m"]
    """What the last pose leaves open (m, rad) of the first time that was not reached."""
    system: Any

    @property
    def ok(self) -> Bool[Array, "*batch"]:
        """Whether the path reached its end."""
        return self.status == Status.successful

    @property
    def message(self) -> str:
        """How the path ended, in a sentence."""
        if bool(self.ok):
            return "Reached the end."
        more = ""
        if bool(self.status == Status.singular_configuration):
            more = f" Joints that lose their independence: {', '.join(self.weakest_joints)}."
        if bool(self.status == Status.unreachable):
            more = f" {self._open_joint}"
        return f"Stopped at t = {float(self.reached):.6g} s. {Status[self.status]}{more}"

    @property
    def weakest_joints(self) -> tuple[str, ...]:
        """The joints of the rows that were nearest to dependence at the end (see `weakest`)."""
        return joints_of(self.system, self.weakest)

    @property
    def _open_joint(self) -> str:
        missed = self.t[np.argmax(np.isnan(np.asarray(self.q[:, 0])))]
        Phi = np.abs(np.asarray(self.open))
        worst = int(np.argmax(Phi))
        joint, _, row = self.system.equations().row_names[worst].rpartition(".")
        return f"At t = {float(missed):.6g} s joint '{joint}' stays open: row {row} by {Phi[worst]:.3g} (m or rad)."


def kinematics(
    system,
    *,
    ts,
    guess: State,
    solver: str = "newton",
    max_steps: int = 10_000,
    throw: bool = True,
) -> DrivenMotion:
    """Positions, speeds and accelerations at the times `ts` (s) of a system whose every degree of freedom is driven.

    Drivers (`Driver`, `BodyDriver`) may be any functions of time; forces and masses play no part. The joints are closed at the
    first time from the positions of `guess`, which need not be closed, by Levenberg-Marquardt. From there the path is followed:
    each pose is predicted from the one before and closed by `solver`, one of "newton", "levenberg-marquardt" and "dogleg". Steps
    between the times are as short as it takes to stay on the path, at most `max_steps` of them between two times.

    Where the path ends (a singular configuration, a pose the joints cannot reach, a jump to another pose) there is a
    status and NaN after the time reached; with `throw=True` and outside of jit an error says what to do. Works under jit,
    vmap and grad; the derivative, with respect to every number of the system and the times, is that of the closed joints
    (implicit function theorem).
    """
    times = _check(system, ts, guess, solver, max_steps)
    raw = _run(system, times, guess.q, solver, max_steps)
    motion = DrivenMotion(t=times, system=system, **raw["motion"])
    if throw and is_concrete(motion.status, raw) and not bool(motion.ok):
        if bool(motion.status == Status.not_driven):
            raise ModelError(_not_driven(system, float(times[0]), raw["start"]))
        raise SimulationError(motion.message)
    return motion


@eqx.filter_jit
def _run(system, ts, guess, solver: str, max_steps: int) -> dict[str, Any]:
    equations = system.equations()
    frozen, times, guess = jax.lax.stop_gradient((equations, ts, guess))
    n = len(equations.speed_names)
    redundant = len(equations.row_names) - n
    q = _close(frozen, times[0], guess)
    terms, scaling, row_units = _scaled(frozen, times[0], q)
    # Written so that NaN counts as open.
    closed = jnp.max(jnp.abs(terms.Phi / row_units)) <= CLOSED
    started = first_failure(
        (rates_exist(terms), Status.not_finite),
        (closed, Status.unreachable),
        (null_space(terms.J * scaling.columns[None, :]).deficiency == redundant, Status.not_driven),
    )
    path = Follower(frozen, scaling, row_units, solver, max_steps)(times, q, started)

    good, end = path.good, path.end
    # A shift and a factor, because `where` would make the derivatives of what was not reached zero.
    there = ts + jnp.where(good, 0.0, end.t - times)
    poses = jax.vmap(lambda t, q: _pose(equations, scaling, t, q))(there, path.q)
    q, v, a = (x * jnp.where(good, 1.0, jnp.nan)[:, None] for x in poses)
    missed = times[jnp.where(jnp.all(good), times.size - 1, jnp.argmin(good))]
    ended = {
        "status": _verdict(end, scaling, redundant),
        "reached": end.t,
        "weakest": end.null.weakest(jnp.asarray(redundant)),
        "open": frozen.terms(missed, end.q, jnp.zeros(n)).Phi,
    }
    return {"motion": {"q": q, "v": v, "a": a, "trials": path.trials, **ended}, "start": path.q[0]}


def _scaled(equations: Equations, t, q) -> tuple[Terms, Scaling, Float[Array, " m"]]:
    """The terms at rest, the units of the speeds, and those of the rows."""
    terms = equations.terms(t, q, jnp.zeros(len(equations.speed_names)))
    scaling = scaling_of(equations, q, terms.J)
    return terms, scaling, jnp.where(scaling.lengths(terms.J), scaling.length, 1.0)


def _close(equations: Equations, t, guess) -> Float[Array, " nq"]:
    """The guess with its joints closed, or as nearly as can be, from afar; unchanged where they cannot be evaluated."""
    _, scaling, row_units = _scaled(equations, t, guess)
    y = closing(equations, scaling, row_units, t, guess, "levenberg-marquardt", START_ITERATIONS)
    return jnp.where(all_finite(y), equations.retract(guess, scaling.columns * y), guess)


def _verdict(end: Place, scaling: Scaling, redundant: int) -> Status:
    """What ended the path. A singular configuration in which a driver pushes is a dead centre: it leads no further."""
    singular = end.status == Status.singular_configuration
    # Parts of U' D Phi_t = -U' D J v.
    pushes = end.null.sigma * (end.null.Y.T @ (end.v / scaling.columns))
    dead_centre = jnp.abs(pushes[redundant]) > PUSHES * jnp.sqrt(jnp.sum(pushes**2))
    return Status.where(singular & dead_centre, Status.unreachable, end.status)


def _pose(equations: Equations, scaling: Scaling, t, q):
    """A pose found nearby closed by Newton, with its rates. The pose found has no derivative: that of Newton's steps is the
    implicit function theorem (one step gives the first derivative, two the second as well)."""
    still = jnp.zeros_like(scaling.columns)
    for _ in range(2):
        terms = equations.terms(t, q, still)
        q = equations.retract(q, -kinematic_solve(terms.J, scaling)(terms.Phi))
    return q, *rates(equations, scaling, t, q, equations.terms(t, q, still))


def _check(system, ts, guess: State, solver: str, max_steps: int) -> Float[Array, " times"]:
    """The times, when everything asked for makes sense."""
    if solver not in SOLVERS:
        raise ModelError(
            f"kinematics was given solver='{solver}'. There are: {', '.join(SOLVERS)}.{did_you_mean(solver, SOLVERS)}"
        )
    if max_steps < 1:
        raise ModelError(f"kinematics was given max_steps={max_steps}; at least 1 is needed.")
    times = jnp.asarray(ts, float)
    if times.ndim != 1 or times.size == 0:
        raise ModelError(f"kinematics was given ts of shape {times.shape}; it must be a list of times.")
    if is_concrete(times) and not np.all(np.diff(np.asarray(times)) > 0):
        raise ModelError("kinematics was given ts that do not increase from each time to the next. Sort them.")
    equations = system.equations()
    rows, speeds = len(equations.row_names), len(equations.speed_names)
    positions = sum(kind.nq for kind in system.coordinates.values()) if isinstance(system, System) else speeds
    if (guess.q.shape, guess.v.shape) != ((positions,), (speeds,)):
        raise ModelError(
            f"kinematics was given a guess with q, v of shapes {guess.q.shape}, {guess.v.shape}, but this system has "
            f"({positions},), ({speeds},). Make it with this system's state(), or convert it."
        )
    if rows < speeds:
        raise ModelError(
            f"kinematics needs every degree of freedom driven, but the system has {speeds} speeds and {rows} constraint rows, so "
            f"at least {speeds - rows} of them are free. Add Drivers with system.with_joints(motor=Driver(...))."
        )
    return times


def _not_driven(system, t: float, q) -> str:
    equations = system.equations()
    J = equations.terms(jnp.asarray(t), q, jnp.zeros(len(equations.speed_names))).J
    free = decompose(np.asarray(scaling_of(equations, q, J).jacobian(J)[0])).null_columns
    moving = [
        name for name, row in zip(equations.speed_names, free, strict=True) if np.max(np.abs(row), initial=0.0) > MOVES
    ]
    owners = dict.fromkeys(name.rpartition(".")[0] or name for name in moving)
    return (
        f"kinematics needs every degree of freedom driven, but at t = {t:.6g} s {free.shape[1]} of them are not (free to move: "
        f"{', '.join(owners)}). Add a Driver or BodyDriver for each with system.with_joints(motor=Driver(...)); if all are "
        "driven, this is a singular configuration: start at another time."
    )
