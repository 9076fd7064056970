"""What came out of a run, with named outputs."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from .errors import unknown_name
from .integrators.mode import Mode, Moded
from .outputs import accelerate
from .state import State
from .status import Status
from .trajectory import Instant, LoadedTrajectory, joints_of


class Stats(eqx.Module):
    """Counts of a run: accepted steps, rejected ones, evaluations of the right-hand side with the columns of Jacobians (-1: the
    solver does not say), Newton iterations of the stabilization, and for a solver of variable order the accepted steps with
    each order, beginning with the first."""

    steps: Int[Array, "*batch"]
    rejected: Int[Array, "*batch"]
    right_hand_sides: Int[Array, "*batch"]
    newton_iterations: Int[Array, "*batch"]
    orders: Int[Array, "*batch order"] | None = None


class EventLog(eqx.Module):
    """What happened in a run, in order. `times` (s) and `index` (into `names`) have room for more events than there were; the
    rest is inf and -1."""

    names: tuple[str, ...] = eqx.field(static=True)
    times: Float[Array, "*batch capacity"]
    index: Int[Array, "*batch capacity"]

    @property
    def count(self) -> Int[Array, "*batch"]:
        """How many events happened."""
        return jnp.sum(self.index >= 0, axis=-1)

    def of(self, name: str) -> Float[Array, " times"]:
        """The times (s) of one event. Not for use inside jit: their number is not known there."""
        if name not in self.names:
            raise unknown_name("Asked for event", "Events", name, self.names)
        return self.times[self.index == self.names.index(name)]

    def __str__(self) -> str:
        happened = [
            f"{float(t):.6g} s {self.names[int(k)]}" for t, k in zip(self.times, self.index, strict=True) if k >= 0
        ]
        return ", ".join(happened) if happened else "no events"


class Energy(eqx.Module):
    """Energies (J) over time; `work` is what forces without potential and moving constraints have put in since the start,
    so that total - work is constant."""

    kinetic: Float[Array, "*batch"]
    potential: Float[Array, "*batch"]
    work: Float[Array, "*batch"]

    @property
    def total(self) -> Float[Array, "*batch"]:
        return self.kinetic + self.potential


class Violation(eqx.Module):
    """Euclidean norms of Phi, Phi_dot and J a - gamma over time."""

    position: Float[Array, "*batch"]
    velocity: Float[Array, "*batch"]
    acceleration: Float[Array, "*batch"]


class Solution(LoadedTrajectory):
    """A motion: times `t` (s), positions `q` and speeds `v` at them, and everything that follows from these.

    Rows after the time `reached` are NaN when the run failed; `status` says how it ended.
    """

    t: Float[Array, "*batch times"]
    q: Float[Array, "*batch times nq"]
    v: Float[Array, "*batch times nv"]
    work: Float[Array, "*batch times"]
    status: Status
    stats: Stats
    reached: Float[Array, "*batch"]
    weakest: Float[Array, "*batch m"]
    """How much each constraint row takes part in the combinations of rows that were nearest to dependence at the end."""
    system: Any
    formulation: Any
    stabilization: Any
    last: State | None = None
    """Where the run ended: at its end, at the event that ended it, or at the last good step."""
    events: EventLog | None = None
    mode: Mode | None = None
    """Which rows held at each time, where joints were locked or released."""

    @property
    def ok(self) -> Bool[Array, "*batch"]:
        """Whether the run reached its end, or an event that was to end it."""
        return (self.status == Status.successful) | (self.status == Status.event)

    @property
    def end(self) -> Instant:
        """The last instant of the run, also when it is not among the times (see `last`)."""
        return self.final if self.last is None else Instant(self.last, self.system)

    @property
    def message(self) -> str:
        """How the run ended, in a sentence."""
        if bool(self.status == Status.event) and self.events is not None:
            last = self.events.names[int(self.events.index[int(self.events.count) - 1])]
            return f"Event '{last}' ended the run at t = {float(self.reached):.6g} s."
        if bool(self.ok):
            return "Reached the end."
        lost = (self.status == Status.singular_configuration) | (self.status == Status.rank_change)
        joints = f" Joints that lose their independence: {', '.join(self.weakest_joints)}." if bool(lost) else ""
        return f"Stopped at t = {float(self.reached):.6g} s. {Status[self.status]}{joints}"

    @property
    def weakest_joints(self) -> tuple[str, ...]:
        """The joints of the rows that were nearest to dependence at the end (see `weakest`)."""
        return joints_of(self.system, self.weakest)

    @property
    def a(self) -> Float[Array, "times nv"]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Accelerations (rates of `v`)."""
        return _accelerations(self)[0]

    @property
    def lam(self) -> Float[Array, "times m"]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Minimum-norm multipliers, M a + J' lam = Q."""
        return _accelerations(self)[1]

    @property
    def violation(self) -> Violation:
        """Constraint violation at three levels."""
        return _violations(self)

    @property
    def energy(self) -> Energy:
        """Kinetic, potential and total energy, and work."""
        kinetic, potential = _energies(self)
        return Energy(kinetic, potential, self.work)

    def to_xarray(self):
        """An `xarray.Dataset` of positions, rotations, energies, violations and joint coordinates, with units."""
        from .io.results import to_xarray

        return to_xarray(self)

    def save(self, path) -> None:
        """Write the run to one .npz file (numbers and a JSON header); `load(path, system)` reads it back."""
        from .io.results import save

        save(self, path)


@eqx.filter_jit
def _accelerations(sol: Solution):
    return _over_rows(
        sol, lambda equations, t, q, v: accelerate(equations, sol.formulation, sol.stabilization, t, q, v)[:2]
    )


@eqx.filter_jit
def _violations(sol: Solution) -> Violation:
    def norms(equations, t, q, v):
        a, _, terms = accelerate(equations, sol.formulation, sol.stabilization, t, q, v)
        return Violation(*(jnp.sqrt(jnp.sum(x**2)) for x in (terms.Phi, terms.Phi_dot, terms.J @ a - terms.gamma)))

    return _over_rows(sol, norms)


def _over_rows(sol: Solution, function: Callable) -> Any:
    """`function(equations, t, q, v)` of each row, with the equations that held there."""
    equations = sol.system.equations()
    if sol.mode is None:
        return jax.vmap(lambda *row: function(equations, *row))(sol.t, sol.q, sol.v)
    return jax.vmap(lambda mode, *row: function(Moded(equations, mode), *row))(sol.mode, sol.t, sol.q, sol.v)


@eqx.filter_jit
def _energies(sol: Solution):
    return jax.vmap(sol.system.equations().energies)(sol.q, sol.v)
