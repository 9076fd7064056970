"""From a system and a state to a motion."""

from typing import Any

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Float, Int

from ..errors import ModelError, SimulationError, is_concrete
from ..formulations.base import RANK_TOLERANCE, Formulation, RateFormulation
from ..formulations.choice import Choice
from ..formulations.deflated import Deflated, NullSpace, null_space
from ..formulations.null_space import NullSpaceFormulation
from ..integrators.field import Carried, Field, FieldTerm
from ..integrators.noticing import Noticing
from ..integrators.progress import BarMeter
from ..integrators.stabilized import Stabilized
from ..ports import replace
from ..solution import Solution, Stats
from ..stabilization import Projection, Stabilization
from ..state import State
from ..status import Status, from_number
from .messages import explain

#: Largest |Phi| (m, rad) and |Phi_dot| (m/s, rad/s) of a start that counts as assembled; what is left is corrected.
ASSEMBLED = 1e-6
#: A run that breaks down with |sin b| (or |cos b|) of its Euler angles below this met their singularity.
LOCKED = 0.05
#: Singular values within this factor of the smallest one vanish with it.
ABOUT_AS_SMALL = 10.0


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
    max_steps: int = 100_000,
    gradient: str = "reverse",
    singular: str = "stop",
    progress: bool = False,
    throw: bool = True,
) -> Solution:
    """Integrate the equations of motion from `state` to the time `t1` (s).

    The result is kept at the times `ts`, or every `dt_save` seconds, or at the start and the end. Orthogonal choices are
    separate arguments: `formulation` (default `Deflated()`), `stabilization` (default `Projection()`), `solver` (any explicit
    diffrax solver, default `Dopri8()`), adaptive steps by `rtol` and `atol` or fixed steps `dt` (s). Numbers may change without
    compiling again.

    Works under jit, vmap and grad. `gradient` says how derivatives will be taken: "reverse" (checkpointed; `jax.grad`,
    `jax.vjp`), "forward" (`jax.jvp`, `jax.jacfwd`, cheap for few parameters), or "direct" (both, second order too, more
    memory). Where the constraints lose rank and motions may branch, a run stops with a status; with `singular="pass"` it goes
    on, on a branch that nobody has checked. A run that fails has a status and NaN after the time it reached; with
    `throw=True` and outside of jit it raises `SimulationError`.
    """
    formulation = Deflated() if formulation is None else formulation
    stabilization = Projection() if stabilization is None else stabilization
    solver = diffrax.Dopri8() if solver is None else solver
    _check_choices(system, state, solver, rtol, atol, dt, max_steps, gradient, singular)
    times = _save_times(state.t, t1, ts, dt_save)
    formulation = _with_dof(formulation, system, state)
    arguments = (
        system,
        state,
        jnp.asarray(t1, float),
        times,
        not (ts is None and dt_save is None),
        formulation,
        stabilization,
        solver,
        jnp.asarray(rtol, float),
        jnp.asarray(atol, float),
        None if dt is None else jnp.asarray(dt, float),
        max_steps,
        gradient,
        singular,
        progress,
    )
    try:
        raw = _run(*arguments)
    except TypeError as error:
        if "custom_vjp" not in str(error):
            raise
        raise ModelError(
            "simulate was differentiated in forward mode (jvp, jacfwd), but prepares for reverse mode by default. Call it with "
            "gradient='forward', or with gradient='direct' for both."
        ) from error
    solution = Solution(  # pyright: ignore[reportCallIssue]
        t=times,
        q=raw["q"],
        v=raw["v"],
        work=raw["work"],
        status=raw["status"],
        stats=Stats(**raw["stats"]),
        reached=raw["reached"],
        weakest=raw["weakest"],
        system=system,
        formulation=formulation,
        stabilization=stabilization,
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
    max_steps,
    gradient,
    singular,
    progress,
) -> dict[str, Any]:
    equations = system.equations()
    t0, q, v = state.t, state.q, state.v
    terms = equations.terms(t0, q, v)
    null = null_space(terms.J)
    memory = stabilization.start(equations, t0, q, v)
    field = Field(equations, formulation, stabilization)
    started = _start_status(terms)
    # A start that cannot be used is not integrated.
    ok = started == Status.successful
    end = jnp.where(ok, t1, t0)
    if stabilization.corrects:
        corrected = stabilization.correct(equations, t0, q, v, terms, null, memory)
        q, v = (jnp.where(ok, new, old) for new, old in ((corrected.q, q), (corrected.v, v)))
    adaptive = dt is None
    if dt is None:
        smallest = 1e-13 * jnp.abs(t1 - t0)
        a = Deflated().particular(terms.mass, terms.J, terms.Q, terms.gamma, null).a
        dt = _first_step(equations, state, a, rtol, atol, t1 - t0)
        controller = Noticing(
            diffrax.PIDController(rtol=rtol, atol=atol, dtmin=smallest, force_dtmin=False, norm=_norm_of_motion)
        )
    else:
        controller = Noticing(diffrax.ConstantStepSize())
    out = diffrax.diffeqsolve(
        FieldTerm(field),
        Stabilized(_for_gradient(solver, gradient), field, adaptive, singular == "stop"),
        t0,
        end,
        dt,
        (q, v, jnp.zeros(()), jnp.zeros(())),
        args=Carried(null, memory),
        saveat=diffrax.SaveAt(ts=jnp.clip(times, None, end), solver_state=True, controller_state=True),
        stepsize_controller=controller,
        max_steps=max_steps,
        adjoint=_adjoint(gradient),
        progress_meter=BarMeter() if progress else diffrax.NoProgressMeter(),
        throw=False,
    )
    end_state: Any = out.solver_state
    noticed: Any = out.controller_state
    saved: Any = out.ys
    reached = jnp.where(ok, jnp.where(out.result == diffrax.RESULTS.successful, t1, end_state.good_until), t0)
    status = _final_status(started, out.result, end_state, noticed)
    good = (times <= reached) & ok
    q, v, work, _ = saved
    if stabilization.corrects and between:
        q, v = jax.vmap(lambda t, q, v: _correct_saved(equations, stabilization, t, q, v))(times, q, v)
    else:
        q = jax.vmap(lambda q: equations.retract(q, jnp.zeros_like(state.v)))(q)
    q, v = (jnp.where(good[:, None], x, jnp.nan) for x in (q, v))
    stats = {
        "steps": out.stats["num_accepted_steps"],
        "rejected": out.stats["num_rejected_steps"],
        "right_hand_sides": _evaluations(solver, out.stats["num_steps"]),
        "newton_iterations": end_state.iterations,
    }
    work = jnp.where(good, work, jnp.nan)
    weakest = weakest_rows(end_state.carried.null, null.deficiency)
    at_start = {"Phi": terms.Phi, "Phi_dot": terms.Phi_dot, "J": terms.J, "deficiency": null.deficiency}
    ended = {"status": status, "reached": reached, "weakest": weakest, "stats": stats}
    return {"q": q, "v": v, "work": work, **ended, **at_start}


def weakest_rows(null: NullSpace, redundant: Int[Array, ""]) -> Float[Array, " m"]:
    """How much each row takes part in the combinations nearest to dependence, those redundant from the start aside: the left
    singular vectors of the smallest singular value and of others about as small, for several can vanish together."""
    order = jnp.arange(null.sigma.size)  # they come in ascending order
    smallest = jnp.sum(jnp.where(order == redundant, null.sigma, 0.0))
    vanishing = (order >= redundant) & (null.sigma <= ABOUT_AS_SMALL * smallest)
    return jnp.sqrt(jnp.sum(jnp.where(vanishing[None, :], null.U**2, 0.0), axis=1))


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


def _correct_saved(equations, stabilization, t, q, v):
    """States between steps are interpolated; they are put on the constraints as the steps are."""
    terms = equations.terms(t, q, v)
    memory = stabilization.start(equations, t, q, v)
    corrected = stabilization.correct(equations, t, q, v, terms, null_space(terms.J), memory)
    return corrected.q, corrected.v


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


def _evaluations(solver, steps: Int[Array, ""]) -> Int[Array, ""]:
    """Evaluations of the right-hand side; -1 for a solver that does not say."""
    if not isinstance(solver, diffrax.AbstractRungeKutta):
        return jnp.asarray(-1)
    tableau: Any = solver.tableau
    return tableau.num_stages * steps


def _with_dof(formulation, system, state: State):
    """Formulations whose arrays depend on the degrees of freedom get their number here, when it can be known."""
    members = formulation.formulations if isinstance(formulation, Choice) else (formulation,)
    if not is_concrete(system, state) or not any(_lacks_dof(f) for f in members):
        return formulation
    dof = _dof(system, state)
    members = tuple(replace(f, dof=dof) if _lacks_dof(f) else f for f in members)
    return replace(formulation, formulations=members) if isinstance(formulation, Choice) else members[0]


def _lacks_dof(formulation) -> bool:
    return isinstance(formulation, NullSpaceFormulation) and formulation.dof is None


def _dof(system, state: State) -> int:
    return int(state.v.size - np.linalg.matrix_rank(np.asarray(_jacobian(system, state)), rtol=RANK_TOLERANCE))


@eqx.filter_jit
def _jacobian(system, state: State) -> Float[Array, "m n"]:
    return system.equations().terms(state.t, state.q, state.v).J


def _save_times(t0, t1, ts, dt_save) -> Float[Array, " times"]:
    if is_concrete(t0, t1) and not float(t1) > float(t0):
        raise ModelError(
            f"simulate was given t1 = {float(t1):g} s, but the state is at t = {float(t0):g} s. Give an end after the start."
        )
    if ts is not None and dt_save is not None:
        raise ModelError("simulate was given both ts and dt_save. Give one of them.")
    if ts is not None:
        times = jnp.asarray(ts, float)
        if times.ndim != 1 or times.size == 0:
            raise ModelError(f"simulate was given ts of shape {times.shape}; it must be a list of times.")
        if is_concrete(times, t0, t1):
            values = np.asarray(times)
            if (
                np.any(np.diff(values) < 0)
                or values[0] < float(t0) - 1e-12
                or values[-1] > float(t1) * (1 + 1e-12) + 1e-12
            ):
                raise ModelError(f"simulate was given ts that do not increase within [{float(t0):g}, {float(t1):g}] s.")
        return times
    if dt_save is None:
        return jnp.stack([jnp.asarray(t0, float), jnp.asarray(t1, float)])
    if not is_concrete(t0, t1, dt_save):
        raise ModelError(
            "simulate was given dt_save inside jit, where the number of times is not known. Give ts instead."
        )
    count = round((float(t1) - float(t0)) / float(dt_save))
    if count < 1 or abs(count * float(dt_save) - (float(t1) - float(t0))) > 1e-6 * float(dt_save):
        raise ModelError(
            f"simulate was given dt_save={dt_save}, which does not divide {float(t1) - float(t0):g} s. Give ts instead."
        )
    return jnp.linspace(jnp.asarray(t0, float), jnp.asarray(t1, float), count + 1)


def _check_choices(system, state, solver, rtol, atol, dt, max_steps, gradient, singular) -> None:
    if singular not in ("stop", "pass"):
        raise ModelError(f"simulate was given singular='{singular}'. Use 'stop' or 'pass'.")
    if gradient not in ("reverse", "forward", "direct"):
        raise ModelError(f"simulate was given gradient='{gradient}'. Use 'reverse', 'forward' or 'direct'.")
    if isinstance(solver, diffrax.AbstractImplicitSolver):
        raise ModelError(
            f"simulate was given {type(solver).__name__}, an implicit solver. Use an explicit one, such as Dopri8()."
        )
    if not isinstance(solver, diffrax.AbstractAdaptiveSolver) and dt is None:
        raise ModelError(
            f"simulate was given {type(solver).__name__}, which has no error estimate. Give fixed steps dt=, too."
        )
    if is_concrete(rtol, atol) and not (float(rtol) > 0 and float(atol) > 0):
        raise ModelError(f"simulate was given rtol={rtol}, atol={atol}; both must be positive.")
    if dt is not None and is_concrete(dt) and not float(dt) > 0:
        raise ModelError(f"simulate was given dt={dt}; a step must be positive.")
    if max_steps < 1:
        raise ModelError(f"simulate was given max_steps={max_steps}; at least 1 is needed.")
