"""What a failed run tells its user."""

import numpy as np

from ..formulations.deflated import dense
from ..solution import Solution
from ..status import Status
from .culprits import culprits

REDUNDANT_ROW = 1e-6


def explain(solution: Solution, raw) -> str:
    """The sentence of the status with what is known of this run: what was asked, which object, what was found, what to do."""
    status = solution.status
    rows = solution.system.equations().row_names
    if status == Status.unassembled:
        return _unassembled(rows, np.asarray(raw["Phi"]), np.asarray(raw["Phi_dot"]))
    if status == Status.redundant:
        J = np.asarray(dense(raw["jacobian"]))
        rank = len(rows) - int(raw["deficiency"])
        return (
            f"{type(solution.formulation).__name__}() cannot solve this system: {len(rows)} constraint rows, rank {rank} "
            f"(redundant together: {', '.join(dependent_rows(rows, J))}). Use a formulation with tolerates_redundancy, for "
            "example UdwadiaKalaba(); see redundancy(system, state)."
        )
    if status == Status.not_finite and solution.last is not None:
        span = float(raw["t1"]) - float(raw["t0"])
        named = culprits(solution.system, solution.last, span)
        found = (
            f"{', '.join(named)} became NaN or infinite"
            if named
            else "A force, constraint or mass became NaN or infinite"
        )
        return (
            f"Stopped at t = {float(solution.reached):.6g} s: {found} there. Look at its function and numbers at that time, or "
            "end the run before by an Event."
        )
    if bool(raw["stiff"]) and status in (Status.max_steps, Status.step_collapse):
        return (
            f"{solution.message} Explicit steps were bound by stability: the problem is stiff, so use solver=Radau()."
        )
    return solution.message


def in_units(value: float, length: bool) -> str:
    """A residual as an engineer reads it: millimetres, or degrees for a (small) angle in radians."""
    return f"{1e3 * value:.3g} mm" if length else f"{np.degrees(value):.3g} deg"


def dependent_rows(rows: tuple[str, ...], J: np.ndarray) -> list[str]:
    """Names of the rows that take part in a linear dependency, every member an equal."""
    scale = np.linalg.norm(J, axis=1)
    scaled = J / np.where(scale > 0, scale, 1.0)[:, None]
    U, sigma, _ = np.linalg.svd(scaled)
    rank = int(np.sum(sigma > REDUNDANT_ROW * sigma[0]))
    part = np.linalg.norm(U[:, rank:], axis=1)
    return [name for name, size in zip(rows, part, strict=True) if size > 1e-6]


def _unassembled(rows: tuple[str, ...], Phi: np.ndarray, Phi_dot: np.ndarray) -> str:
    level, residual = ("", Phi) if np.max(np.abs(Phi)) > np.max(np.abs(Phi_dot)) else (" of the velocities", Phi_dot)
    worst = int(np.argmax(np.abs(residual)))
    joint, _, row = rows[worst].rpartition(".")
    return (
        f"Initial state violates the constraints{level} by {abs(residual[worst]):.1e} (worst: joint '{joint}', row {row}). "
        "Call assemble_state(system, guess) first."
    )
