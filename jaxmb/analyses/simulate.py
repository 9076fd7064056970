"""From a system and a state to a motion."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, ArrayLike, Float

from ..compiler import without_callbacks
from ..errors import ModelError, SimulationError, is_concrete
from ..events import Event, bind
from ..formulations.base import Formulation, RateFormulation
from ..formulations.choice import Choice
from ..formulations.deflated import Deflated, Proximal
from ..integrators.field import Carried, Field, FieldTerm
from ..integrators.mode import Mode, Moded
from ..integrators.noticing import Noticing
from ..integrators.progress import BarMeter
from ..integrators.radau import Radau
from ..integrators.stabilized import Stabilized
from ..integrators.stiffness import tells_stiffness
from ..solution import EventLog, Solution, Stats
from ..stabilization import Projection, Stabilization
from ..state import State
from ..status import Status, from_number
from .choices import (
    check_choices,
    choose_solver,
    choose_stabilization,
    moves_positions,
    save_times,
    solves_by_blocks,
    start_mode,
    start_null,
    with_dof,
)
from .messages import explain

#: Largest |Phi| (m, rad) and |Phi_dot| (m/s, rad/s) of a start that counts as assembled; what is left is corrected.
ASSEMBLED = 1e-6
#: A run that breaks down with |sin b| (or |cos b|) of its Euler angles below this met their singularity.
LOCKED = 0.05


def simulate(
    system,
    state: State,
    *,
    t1: ArrayLike,
    ts=None,
    dt_save: float | None = None,
    formulation: Formulation | RateFormulation | Choice | None = None,
    stabilization: Stabilization | None = None,
    solver: diffrax.AbstractSolver | None = None,
    rtol: ArrayLike = 1e-8,
    atol: ArrayLike = 1e-8,
    dt: ArrayLike | None = None,
    events: Mapping[str, Event] | None = None,
    released: Sequence[str] = (),
    max_events: int = 100,
    max_steps: int = 100_000,
    gradient: str = "reverse",
    singular: str = "stop",
    progress: bool = False,
    throw: bool = True,
) -> Solution:
    """Integrate the equations of motion from `state` to the time `t1` (s).

    The result is kept at the times `ts`, or every `dt_save` seconds, or at the start and the end. Orthogonal choices are
    separate arguments: `formulation` (default `Deflated()`), `stabilization` (default `Projection()`, none for solvers that keep
    the constraints by themselves), `solver`, adaptive steps by `rtol` and `atol` or fixed steps `dt` (s). Numbers may change
    without compiling again.

    The solver is any of diffrax's explicit ones, its `Kvaerno3`, `Kvaerno4` or `Kvaerno5`, or one of this package: `Radau` for
    stiff problems, `Adams`, `GeneralizedAlpha`, `HHT`, `Rattle`, `IndexOneDAE`. By default it is `diffrax.Dopri8()`, and where
    its steps turn out to be bound by stability the run is made again with `Radau()`, with a warning; inside jit, where that
    cannot be known beforehand, choose.

    `events` are things that happen on the way, by name (see `Event`); `released` are joints that are open at the start, to be
    locked by an event. A run that an event ends has the status `event`, its last state is `solution.end`.

    Works under jit, vmap and grad. `gradient` says how derivatives will be taken: "reverse" (checkpointed; `jax.grad`,
    `jax.vjp`), "forward" (`jax.jvp`, `jax.jacfwd`, cheap for few parameters), or "direct" (both, second order too, more
    memory). Where the constraints lose rank and motions may branch, a run stops with a status; with `singular="pass"` it goes
    on, on a branch that nobody has checked. A run that fails has a status and NaN after the time it reached; with
    `throw=True` and outside of jit it raises `SimulationError`.
    """
    times = save_times(state.t, t1, ts, dt_save)
    bound = None if not events else bind(system, state, events, max_events)
    mode = start_mode(system, bound, released)
    check_choices(solver, formulation, mode, rtol, atol, dt, max_steps, max_events, gradient, singular)
    formulation = with_dof(Deflated() if formulation is None else formulation, system, state)
    automatic = solver is None and dt is None and is_concrete(system, state, t1, times, bound)
    automatic = automatic and not moves_positions(formulation)

    def run(solver, gives_up):
        solver = choose_solver(solver, system, state, mode, rtol, atol)
        chosen = choose_stabilization(stabilization, solver)
        arguments = (
            system,
            state,
            jnp.asarray(t1, float),
            times,
            not (ts is None and dt_save is None),
            formulation,
            chosen,
            solver,
            jnp.asarray(rtol, float),
            jnp.asarray(atol, float),
            None if dt is None else jnp.asarray(dt, float),
            bound,
            mode,
            max_steps,
            gradient,
            singular,
            gives_up,
            progress,
        )
        return chosen, _run(*arguments)

    try:
        chosen, raw = run(solver, automatic)
        if automatic and bool(raw["status"] == Status.stiff):
            warnings.warn(
                f"simulate found the problem stiff at t = {float(raw['reached']):.3g} s (explicit steps are bound by stability) "
                "and starts again with solver=Radau(). Give this solver, or an explicit one, to choose.",
                stacklevel=2,
            )
            chosen, raw = run(Radau(), False)
    except TypeError as error:
        if "custom_vjp" not in str(error):
            raise
        raise ModelError(
            "simulate was differentiated in forward mode (jvp, jacfwd), but prepares for reverse mode by default. Call it with "
            "gradient='forward', or with gradient='direct' for both."
        ) from error
    log = None if bound is None else EventLog(tuple(events or ()), raw["event_times"], raw["event_index"])
    solution = Solution(  # pyright: ignore[reportCallIssue]
        t=raw["t"],
        q=raw["q"],
        v=raw["v"],
        work=raw["work"],
        status=raw["status"],
        stats=Stats(**raw["stats"]),
        reached=raw["reached"],
        weakest=raw["weakest"],
        system=system,
        formulation=formulation,
        stabilization=chosen,
        last=State(raw["reached"], *raw["last"]),
        events=log,
        mode=raw["mode"],
    )
    if throw and is_concrete(raw["status"], raw["Phi"]) and not bool(solution.ok):
        raise SimulationError(explain(solution, raw))
    return solution


@eqx.filter_jit
def _run(
    system,
    state,
    t1,
    times,
    between,
    formulation,
    stabilization,
    solver,
    rtol,
    atol,
    dt,
    events,
    mode,
    max_steps,
    gradient,
    singular,
    gives_up,
    progress,
) -> dict[str, Any]:
    field = Field(system.equations(), formulation, stabilization)
    t0, q, v = state.t, state.q, state.v
    equations = field.equations if mode is None else Moded(field.equations, mode)
    terms = equations.terms(t0, q, v)
    by_blocks = solves_by_blocks(equations, formulation, stabilization, solver, mode, events)
    null = start_null(terms.jacobian, by_blocks)
    memory = stabilization.start(equations, t0, q, v)
    started = _start_status(terms)
    # A start that cannot be used is not integrated.
    ok = started == Status.successful
    end = jnp.where(ok, t1, t0)
    if stabilization.corrects:
        corrected = stabilization.correct(equations, t0, q, v, terms, null, memory)
        q, v = (jnp.where(ok, new, old) for new, old in ((corrected.q, q), (corrected.v, v)))
    adaptive = dt is None
    if dt is None:
        a = Deflated().particular(terms.mass, terms.jacobian, terms.Q, terms.gamma, null).a
        dt = _first_step(equations, state, a, rtol, atol, t1 - t0)
        make = getattr(solver, "controller", diffrax.PIDController)
        smallest = 1e-13 * jnp.abs(t1 - t0)
        controller = make(rtol=rtol, atol=atol, dtmin=smallest, force_dtmin=False, norm=_norm_of_motion)
    else:
        controller = diffrax.ConstantStepSize()
    times = jnp.clip(times, None, end)
    with without_callbacks():
        out = diffrax.diffeqsolve(
            FieldTerm(field),
            Stabilized(
                _for_gradient(solver, gradient),
                field,
                adaptive,
                stops=singular == "stop",
                gives_up=gives_up and tells_stiffness(solver),
                events=events,
            ),
            t0,
            end,
            dt,
            (q, v, jnp.zeros(()), jnp.zeros(())),
            args=Carried(null, memory, mode),
            saveat=diffrax.SaveAt(
                subs=(diffrax.SubSaveAt(ts=times), diffrax.SubSaveAt(t1=True)), solver_state=True, controller_state=True
            ),
            stepsize_controller=Noticing(controller),
            max_steps=max_steps,
            adjoint=_adjoint(gradient),
            progress_meter=BarMeter() if progress else diffrax.NoProgressMeter(),
            throw=False,
        )
    end_state: Any = out.solver_state
    noticed: Any = out.controller_state
    saved, last = out.ys  # pyright: ignore[reportGeneralTypeIssues]
    status = _final_status(started, out.result, end_state, noticed)
    reached = jnp.where(ok, jnp.where(out.result == diffrax.RESULTS.successful, t1, end_state.good_until), t0)
    good = (times <= reached) & ok
    q, v, work, _ = saved
    modes = None if mode is None else _modes(mode, end_state.events, times)
    correction = stabilization if stabilization.corrects else Projection()
    if between and (stabilization.corrects or getattr(solver, "keeps_constraints", False)):
        q, v = _correct_saved(field, correction, times, q, v, modes, by_blocks)
    else:
        q = jax.vmap(lambda q: equations.retract(q, jnp.zeros_like(state.v)))(q)
    q, v = (jnp.where(good[:, None], x, jnp.nan) for x in (q, v))
    work = jnp.where(good, work, jnp.nan)
    last = tuple(x[-1] for x in last[:3])
    last_q = equations.retract(last[0], jnp.zeros_like(state.v))
    last = (last_q, last[1], last[2])
    log = {}
    if events is not None:
        reached, last = _end_at_event(events, field, jax.lax.stop_gradient(end_state), status, reached, last)
        log = {"event_times": end_state.events.times, "event_index": end_state.events.index}
        if not between:  # the end that was asked for is where the event ended the run
            ended = status == Status.event
            times = times.at[-1].set(jnp.where(ended, reached, times[-1]))
            q, v, work = (
                rows.at[-1].set(jnp.where(ended, x, rows[-1])) for rows, x in zip((q, v, work), last, strict=True)
            )
    stats = {
        "steps": out.stats["num_accepted_steps"],
        "rejected": out.stats["num_rejected_steps"],
        "right_hand_sides": jnp.maximum(jnp.round(noticed.evaluations).astype(int), -1),
        "newton_iterations": end_state.iterations,
        "orders": getattr(end_state.inner, "orders", None),
    }
    weakest = end_state.carried.null.weakest(null.deficiency)
    at_start = {"Phi": terms.Phi, "Phi_dot": terms.Phi_dot, "jacobian": terms.jacobian, "deficiency": null.deficiency}
    attempted = {"t0": t0, "t1": t1, "stiff": end_state.stiffness.found, "mode": modes}
    ended = {"status": status, "reached": reached, "weakest": weakest, "stats": stats, "last": last[:2]}
    return {"t": times, "q": q, "v": v, "work": work, **ended, **at_start, **attempted, **log}


def _first_step(equations, state: State, a, rtol, atol, span) -> Float[Array, ""]:
    """A cautious first step from the size of state and rates [Hairer, Norsett and Wanner, II.4]; the controller does the rest."""
    y = (state.q, state.v)
    scale = jax.tree.map(lambda x: atol + rtol * jnp.abs(x), y)
    rate = (equations.qdot(state.q, state.v), a)
    size, speed = (_rms(jax.tree.map(lambda x, s: x / s, z, scale)) for z in (y, rate))
    known = (size > 1e-5) & (speed > 1e-5)
    dt = jnp.where(known, 0.01 * size / jnp.where(known, speed, 1.0), 1e-6 * span)
    return jax.lax.stop_gradient(jnp.minimum(dt, span))


def _start_status(terms) -> Status:
    """What is wrong with the start."""
    position, velocity = (jnp.max(jnp.abs(x), initial=0.0) for x in (terms.Phi, terms.Phi_dot))
    status = Status.where((position > ASSEMBLED) | (velocity > ASSEMBLED), Status.unassembled, Status.successful)
    finite = jnp.all(jnp.stack([jnp.all(jnp.isfinite(x)) for x in jax.tree.leaves(terms)]))
    return jax.lax.stop_gradient(Status.where(finite, status, Status.not_finite))


def _final_status(started: Status, result, end_state, noticed) -> Status:
    watched = end_state.status
    integrated = Status.where(result == diffrax.RESULTS.max_steps_reached, Status.max_steps, Status.step_collapse)
    integrated = Status.where(result == diffrax.RESULTS.successful, Status.successful, integrated)
    status = Status.where(watched == Status.successful, integrated, watched)
    failed = (watched == Status.successful) & (result != diffrax.RESULTS.successful) & (noticed.failure > 0)
    status = Status.where(failed, from_number(noticed.failure), status)
    # Near a singular rotation the speeds become infinite, so steps collapse before it is passed, or leave the constraints.
    broken = failed | (status == Status.step_collapse) | (status == Status.singular_configuration)
    locked = (end_state.regularity < LOCKED) & broken
    status = Status.where(locked, Status.coordinate_singularity, status)
    return Status.where(started == Status.successful, status, started)


def _modes(start: Mode, log, times: Float[Array, " times"]) -> Mode:
    """Which rows hold at the times of the result: those after the last event before each."""
    if log is None:
        return jax.tree.map(lambda row: jnp.broadcast_to(row, (times.size, row.size)), start)
    after = jax.tree.map(lambda first, later: jnp.concatenate([first[None], later]), start, Mode(log.active, log.held))
    place = jnp.searchsorted(log.times, times, side="left")
    return jax.tree.map(lambda rows: rows[place], after)


def _correct_saved(field: Field, stabilization: Stabilization, times, q, v, modes: Mode | None, by_blocks: bool):
    """States between steps are interpolated; they are put on the constraints as the steps are."""

    def correct(t, q, v, mode):
        equations = field.equations if mode is None else Moded(field.equations, mode)
        terms = equations.terms(t, q, v)
        memory = stabilization.start(equations, t, q, v)
        # An interpolated state is nearly there.
        near = type(stabilization) is Projection and not by_blocks
        null = Proximal() if near else start_null(terms.jacobian, by_blocks)
        corrected = stabilization.correct(equations, t, q, v, terms, null, memory)
        return corrected.q, corrected.v

    return jax.vmap(correct, in_axes=(0, 0, 0, None if modes is None else 0))(times, q, v, modes)


def _end_at_event(events, field: Field, end_state, status: Status, reached, last):
    """Time and state of the event that ended the run; the last step ended just behind it. Differentiable."""
    q, v, work = last
    ended = status == Status.event
    delta = events.stopping_shift(end_state.events, field, reached, q, v, end_state.carried)
    delta = jnp.where(ended, delta, 0.0)
    zero = jnp.zeros(())
    _, a, power, _ = field(reached, (q, v, zero, zero), end_state.carried)
    return reached + delta, (field.equations.retract(q, delta * v), v + delta * a, work + delta * power)


def _norm_of_motion(y):
    """The root mean square of positions and speeds; work and status do not steer the steps."""
    return _rms(y[:2])


def _rms(y) -> Float[Array, ""]:
    x = jnp.concatenate([leaf.reshape(-1) for leaf in jax.tree.leaves(y)])
    square = jnp.mean(x**2)
    positive = square > 0
    return jnp.where(positive, jnp.sqrt(jnp.where(positive, square, 1.0)), 0.0)


def _for_gradient(solver, gradient: str):
    """The loop over the stages has to suit the way derivatives are taken."""
    if not isinstance(solver, diffrax.AbstractRungeKutta):
        return solver
    kind = {"reverse": "checkpointed", "forward": "lax", "direct": "bounded"}[gradient]
    return eqx.tree_at(lambda s: s.scan_kind, solver, kind, is_leaf=lambda x: x is None)


def _adjoint(gradient: str):
    if gradient == "forward":
        return diffrax.ForwardMode()
    return diffrax.DirectAdjoint() if gradient == "direct" else diffrax.RecursiveCheckpointAdjoint()
