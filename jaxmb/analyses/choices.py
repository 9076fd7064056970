"""The choices of a run: what they mean together, and what cannot be asked for."""

from collections.abc import Sequence
from typing import Any

import diffrax
import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..errors import ModelError, is_concrete
from ..formulations.base import RANK_TOLERANCE, RateFormulation
from ..formulations.choice import Choice
from ..formulations.deflated import Deflated, NullSpace, dense, null_space
from ..formulations.null_space import NullSpaceFormulation
from ..formulations.pivots import Pivots, find_pivots
from ..integrators.actions import rows_of_joint
from ..integrators.adams import Adams
from ..integrators.esdirk import Esdirk
from ..integrators.events import Events
from ..integrators.implicit import Implicit
from ..integrators.mode import Mode, all_active
from ..packed import Packed
from ..ports import replace
from ..stabilization import Baumgarte, NoStabilization, Projection, Stabilization
from ..state import State

#: From so many rows on, elimination by blocks is faster than one dense factorization.
LARGE = 60


def choose_solver(solver: diffrax.AbstractSolver | None, system, state, mode, rtol, atol) -> diffrax.AbstractSolver:
    """The solver that steps: the default, or the one given. diffrax's implicit Runge-Kutta methods are taken on mechanisms by
    `Esdirk`; implicit methods are told the tolerances and, where it is known and stays, the number of degrees of freedom."""
    solver = diffrax.Dopri8() if solver is None else solver
    if isinstance(solver, diffrax.AbstractImplicitSolver):
        solver = Esdirk(method=solver)  # pyright: ignore[reportCallIssue]
    if isinstance(solver, Adams):
        return solver.at_tolerances(rtol, atol)
    if not isinstance(solver, Implicit):
        return solver
    known = solver.dof is None and mode is None and is_concrete(system, state)
    dof = _dof(system, state) if known else solver.dof
    return replace(solver, dof=dof, rtol=jnp.asarray(rtol, float), atol=jnp.asarray(atol, float))


def choose_stabilization(given: Stabilization | None, solver: diffrax.AbstractSolver) -> Stabilization:
    """Methods that keep the constraints by themselves need no correction."""
    if given is not None:
        return given
    return NoStabilization() if getattr(solver, "keeps_constraints", False) else Projection()


def moves_positions(formulation) -> bool:
    """Whether a formulation (or one of several) acts on positions too, which implicit methods do not know of."""
    members = formulation.formulations if isinstance(formulation, Choice) else (formulation,)
    return any(isinstance(member, RateFormulation) for member in members)


def solves_by_blocks(equations, formulation, stabilization, solver, mode, events) -> bool:
    """Whether a run solves in time proportional to its joints: a large mechanism, with the default formulation and choices that
    know of rows to drop."""
    explicit = isinstance(solver, diffrax.AbstractRungeKutta | Adams) and not isinstance(
        solver, diffrax.AbstractImplicitSolver
    )
    known = type(stabilization) in (NoStabilization, Baumgarte) or stabilization == Projection()
    plain = type(formulation) is Deflated and mode is None and events is None
    if not (explicit and known and plain and isinstance(equations, Packed)):
        return False
    return equations.has_blocks and equations.layout.shape[0] >= LARGE


def start_null(jacobian, by_blocks: bool) -> NullSpace | Pivots:
    """What a run carries of redundant rows."""
    return find_pivots(jacobian) if by_blocks else null_space(dense(jacobian))


def start_mode(system, events: Events | None, released: Sequence[str]) -> Mode | None:
    """Which rows hold at the start; None where that never changes."""
    if not released and (events is None or not events.changes_mode):
        return None
    equations = system.equations()
    mode = all_active(len(equations.row_names))
    for name in released:
        mode = Mode(mode.active * (1.0 - rows_of_joint(equations, name, "simulate(released=...)")), mode.held)
    return mode


def with_dof(formulation, system, state: State):
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


def save_times(t0, t1, ts, dt_save) -> Float[Array, " times"]:
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


def check_choices(solver: Any, formulation, mode, rtol, atol, dt, max_steps, max_events, gradient, singular) -> None:
    """Raise for what cannot be asked for."""
    if singular not in ("stop", "pass"):
        raise ModelError(f"simulate was given singular='{singular}'. Use 'stop' or 'pass'.")
    if gradient not in ("reverse", "forward", "direct"):
        raise ModelError(f"simulate was given gradient='{gradient}'. Use 'reverse', 'forward' or 'direct'.")
    if solver is not None and not isinstance(solver, diffrax.AbstractAdaptiveSolver) and dt is None:
        raise ModelError(
            f"simulate was given {type(solver).__name__}, which has no error estimate. Give fixed steps dt=, too."
        )
    if is_concrete(rtol, atol) and not (float(rtol) > 0 and float(atol) > 0):
        raise ModelError(f"simulate was given rtol={rtol}, atol={atol}; both must be positive.")
    if dt is not None and is_concrete(dt) and not float(dt) > 0:
        raise ModelError(f"simulate was given dt={dt}; a step must be positive.")
    if max_steps < 1:
        raise ModelError(f"simulate was given max_steps={max_steps}; at least 1 is needed.")
    if max_events < 1:
        raise ModelError(f"simulate was given max_events={max_events}; at least 1 is needed.")
    if isinstance(solver, Implicit | diffrax.AbstractImplicitSolver) and moves_positions(formulation):
        raise ModelError(
            f"simulate was given {type(formulation).__name__}, which acts on positions too, and {type(solver).__name__}, which "
            "finds positions from speeds. Use an explicit solver with it, such as diffrax.Dopri8()."
        )
    if formulation is not None and getattr(solver, "keeps_constraints", False):
        if getattr(formulation, "nonideal", None) is None:
            raise ModelError(
                f"simulate was given formulation={type(formulation).__name__} and solver={type(solver).__name__}, which solves "
                "the constrained equations of a step itself. Leave the formulation out, or use another solver."
            )
    members = formulation.formulations if isinstance(formulation, Choice) else (formulation,)
    if mode is not None and any(isinstance(member, NullSpaceFormulation) for member in members):
        raise ModelError(
            f"simulate was given {type(formulation).__name__} and joints that are locked or released, which changes the number "
            "of degrees of freedom that its arrays depend on. Use another formulation, such as Deflated()."
        )
