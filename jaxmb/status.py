"""One sentence per outcome: what happened to a solve or a run, and what to do about it."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float


class Status(eqx.Enumeration):
    """How a solve or a run ended. `Status[code]` is the sentence a user reads."""

    successful = ""
    unassembled = (
        "The initial state violates the constraints. Call assemble_state(system, guess) first, which closes the joints."
    )
    redundant = (
        "The constraint rows are dependent and this formulation needs independent ones. Use a formulation with "
        "tolerates_redundancy, for example UdwadiaKalaba(), or leave the formulation out."
    )
    singular_mass = (
        "The mass matrix is singular and this formulation needs its inverse. Use Quaternion() coordinates, or a "
        "formulation with tolerates_singular_mass, for example LeastSquares2() or UdwadiaPhohomsiri()."
    )
    not_unique = (
        "The accelerations are not unique: a motion without inertia is left free by the constraints. Give every body "
        "inertia, or constrain that motion."
    )
    not_converged = (
        "The iteration of the formulation did not converge. Raise its penalty or its number of iterations, or use an "
        "exact formulation."
    )
    singular_configuration = (
        "The mechanism reached a singular configuration (the constraints lose rank there and the motion may branch). "
        "Start past it, change the geometry so that it is avoided, or let simulate go on unchecked with singular='pass'."
    )
    rank_change = (
        "The number of independent constraints changed on the way, so the mechanism gained or lost a degree of "
        "freedom. Look at redundancy(system, state) before and after that time."
    )
    coordinate_singularity = (
        "The rotation coordinates became singular (gimbal lock). Use Quaternion() coordinates, or another Euler-angle "
        "sequence or reference rotation."
    )
    constraint_violation = (
        "The constraints could not be restored after a step. Tighten rtol and atol, or check the constraints for a "
        "conflict."
    )
    not_finite = (
        "A force, constraint or mass became NaN or infinite. Evaluate terms(system, state) at the time reached to see "
        "which."
    )
    step_collapse = (
        "The step size shrank to nothing: the problem is stiff or discontinuous there. Use solver=Radau(), locate the "
        "discontinuity by an Event, smooth the force, or loosen rtol and atol."
    )
    max_steps = (
        "The maximum number of steps was reached before the end. Raise max_steps, or loosen rtol and atol where they are "
        "given."
    )
    newton_failure = (
        "The equations of an implicit step could not be solved. Give smaller steps dt or tighter rtol and atol, smooth the "
        "forces, or start nearer to a consistent state."
    )
    stiff = (
        "The steps are as short as stability asks and far shorter than accuracy does: the problem is stiff. Use "
        "solver=Radau()."
    )
    event = (
        "An event ended the run, as it was to. Its time and state are in solution.end, all events in solution.events."
    )
    max_events = (
        "More events happened than max_events allows, or so fast after each other that they cannot be told apart, as the last "
        "bounces of a ball. Raise max_events, end the run by an event, or lock the contact when it is slow."
    )
    not_driven = (
        "A degree of freedom is not driven, so the drivers do not determine the motion. Add a Driver for each freedom; if all "
        "are driven, start away from the singular configuration."
    )
    unreachable = (
        "A driver asks for a pose in which the joints cannot be closed. Keep its function within what the mechanism can reach, "
        "change the lengths, or give a guess nearer to the closed mechanism."
    )
    branch_jump = (
        "The next closed pose is far from where the motion leads, so it is on another branch, or a driver jumps. Make the "
        "driver's function continuous, or go around the place where the branches meet."
    )
    not_balanced = (
        "No constraint forces make this motion: a freedom that is not driven moves otherwise than the forces make it. Add a "
        "Driver to what moves, or give the motion of this very system."
    )
    not_this_system = (
        "The motion does not satisfy the joints of this system. Give the motion of a system with the same bodies and "
        "joints."
    )


NAMES = (
    "successful",
    "unassembled",
    "redundant",
    "singular_mass",
    "not_unique",
    "not_converged",
    "singular_configuration",
    "rank_change",
    "coordinate_singularity",
    "constraint_violation",
    "not_finite",
    "step_collapse",
    "max_steps",
    "newton_failure",
    "stiff",
    "event",
    "max_events",
    "not_driven",
    "unreachable",
    "branch_jump",
    "not_balanced",
    "not_this_system",
)


def status_name(status: Status) -> str:
    """The name of a (single, known) status, as in `Status.successful`."""
    return next(name for name in NAMES if bool(status == getattr(Status, name)))


def as_number(status: Status) -> Float[Array, ""]:
    """A status as a number that an integrator can carry (0 is success)."""
    return sum(
        (jnp.where(status == getattr(Status, name), 1.0 * k, 0.0) for k, name in enumerate(NAMES)), jnp.zeros(())
    )


def from_number(number: Float[Array, ""]) -> Status:
    """The status with this number; `not_finite` for one that no status has."""
    status = Status.not_finite
    for k, name in enumerate(NAMES):
        status = Status.where(jnp.abs(number - k) < 1e-6, getattr(Status, name), status)
    return status
