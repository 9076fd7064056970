"""What makes a given motion: driver forces, and the reactions that go with them."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from ..errors import ModelError, SimulationError, is_concrete, unknown_name
from ..formulations.base import RANK_TOLERANCE
from ..joints import BodyDriver, Driver
from ..scaling import scaling_of
from ..status import Status
from ..system import System
from ..trajectory import LoadedTrajectory, Trajectory

#: Largest part of the forces present that may be left over, and largest |Phi| (parts of the size, rad) of the joints.
BALANCED = 1e-6
ASSEMBLED = 1e-6


class InverseDynamics(LoadedTrajectory):
    """A given motion with the multipliers `lam` that make it, J' lam = Q - M a.

    Rows of `lam` are NaN at times at which there are none; `status` says why.
    """

    t: Float[Array, "*batch times"]
    q: Float[Array, "*batch times nq"]
    v: Float[Array, "*batch times nv"]
    a: Float[Array, "*batch times nv"]
    lam: Float[Array, "*batch times m"]
    residual: Float[Array, "*batch times"]
    """Forces left over that no constraint can take, relative to those that are there."""
    status: Status
    system: Any

    @property
    def ok(self) -> Bool[Array, "*batch"]:
        """Whether forces were found at all times."""
        return self.status == Status.successful

    def driver(self, name: str, *, compliance=None) -> Float[Array, " times"]:
        """Torque (N m) or force (N) of a driver, positive in the direction of its coordinate.

        Where `reaction(name).unique` is False, as for the drivers in `overactuated`, there are many; this is the smallest, or
        with `compliance` what elastic joints make of it (see `reaction`).
        """
        drivers = _drivers(self.system)
        if name not in drivers:
            raise unknown_name("Asked for driver", "Drivers", name, drivers)
        return -self.multipliers(name, compliance=compliance)[:, 0]

    @property
    def overactuated(self) -> tuple[str, ...]:
        """Drivers that share their load with other drivers or joints, so that their forces are not unique."""
        return tuple(name for name in _drivers(self.system) if not bool(jnp.all(self.reaction(name).unique)))

    @property
    def message(self) -> str:
        """What was found, in a sentence."""
        if not bool(self.ok):
            return f"{Status[self.status]}{_worst(self)}"
        if self.overactuated:
            return (
                f"Drivers {', '.join(self.overactuated)} share their load in many ways; the smallest forces are given. Give "
                "compliances to choose others, or leave drivers out."
            )
        return "Forces were found at all times."


def inverse_dynamics(system, motion: Trajectory, *, throw: bool = True) -> InverseDynamics:
    """The driver forces and reactions that make `motion`, under the other forces of `system`.

    `motion` comes from `kinematics`, from `simulate`, or as a `SampledMotion`; it must be one of this system's bodies and joints,
    but its forces and drivers may have been others: a motion simulated with a known torque gives that torque back to a driver
    that takes its place. What the drivers' functions say does not matter, only what they drive.

    Loops and redundant constraints are allowed. Driver forces that are not unique are the smallest ones, reactions the smallest
    that go with these, and both say so (`overactuated`, `reaction(name).unique`).

    Where no forces make the motion, because a freedom that is not driven moves otherwise than the forces make it, there is a
    status and NaN; with `throw=True` and outside of jit an error says which body. Works under jit, vmap and grad.
    """
    equations = system.equations()
    nq, nv = motion.q.shape[-1], len(equations.speed_names)
    expected = sum(kind.nq for kind in system.coordinates.values()) if isinstance(system, System) else nv
    if (nq, motion.v.shape[-1]) != (expected, nv):
        raise ModelError(
            f"inverse_dynamics was given a motion of {nq} positions and {motion.v.shape[-1]} speeds, but the system has "
            f"{expected} and {nv}. Give a motion of the same bodies in the same coordinates."
        )
    lam, residual, status = _solve(system, motion.t, motion.q, motion.v, motion.a)
    found = InverseDynamics(
        t=motion.t, q=motion.q, v=motion.v, a=motion.a, lam=lam, residual=residual, status=status, system=system
    )
    if throw and is_concrete(status, residual) and not bool(found.ok):
        raise SimulationError(found.message)
    return found


@eqx.filter_jit
def _solve(system, t, q, v, a):
    equations = system.equations()
    drives = _driver_rows(system)

    def one(t, q, v, a):
        terms = equations.terms(t, q, v)
        scaling = scaling_of(equations, q, terms.J)
        f = terms.Q - terms.M @ a
        lam = _smallest(terms.J, f, drives)
        # Torques and forces times the size of the mechanism are of one kind.
        left, *present = (
            jnp.max(jnp.abs(x * scaling.columns), initial=0.0)
            for x in (f - terms.J.T @ lam, terms.Q, terms.M @ a, terms.J.T @ lam)
        )
        total = sum(present)
        residual = left / jnp.where(total == 0, 1.0, total)
        open_ = jnp.max(jnp.abs(jnp.where(drives, 0.0, scaling.residual(terms.J, terms.Phi))), initial=0.0)
        return lam, residual, open_

    lam, residual, open_ = jax.vmap(one)(t, q, v, a)
    closed, balanced = open_ <= ASSEMBLED, residual <= BALANCED
    status = Status.where(jnp.all(balanced), Status.successful, Status.not_balanced)
    status = Status.where(jnp.all(closed), status, Status.not_this_system)
    status = Status.where(jnp.all(jnp.isfinite(residual)), status, Status.not_finite)
    # A factor, because `where` would make a failure's derivative zero.
    keep = jnp.where(closed & balanced, 1.0, jnp.nan)
    return lam * keep[:, None], jax.lax.stop_gradient(residual), jax.lax.stop_gradient(status)


def _drivers(system) -> list[str]:
    return [name for name, joint in getattr(system, "joints", {}).items() if isinstance(joint, Driver | BodyDriver)]


def _driver_rows(system) -> Bool[np.ndarray, " m"]:
    """The rows of drivers; the others hold whatever drives the mechanism."""
    drivers = _drivers(system)
    return np.array([row.rpartition(".")[0] in drivers for row in system.equations().row_names], bool)


def _smallest(J: Float[Array, "m n"], f: Float[Array, " n"], drives: Bool[np.ndarray, " m"]) -> Float[Array, " m"]:
    """lam with J' lam nearest to f: the smallest driver forces that make the motion, then the smallest reactions to these.

    On the motions that the joints leave free, P = 1 - J_j^+ J_j, only drivers act: P J_d' lam_d = P f.
    """
    J_j, J_d = J[~drives], J[drives]
    inverse = jnp.linalg.pinv(J_j, rtol=RANK_TOLERANCE) if J_j.size else jnp.zeros(J_j.shape[::-1])
    lam = jnp.zeros(J.shape[0])
    if J_d.size:
        free = J_d - (J_d @ inverse) @ J_j
        # All drivers may drive what the joints hold; then nothing but rounding is left.
        free = jnp.where(jnp.sum(free**2) > RANK_TOLERANCE**2 * jnp.sum(J_d**2), free, 0.0)
        lam_d = jnp.linalg.pinv(free.T, rtol=RANK_TOLERANCE) @ f
        lam, f = lam.at[np.flatnonzero(drives)].set(lam_d), f - J_d.T @ lam_d
    return lam.at[np.flatnonzero(~drives)].set(inverse.T @ f)


def _worst(found: InverseDynamics) -> str:
    """Which body (or coordinate) is how far out of balance, or which joint is open, and when."""
    k = int(np.argmax(np.isnan(np.asarray(found.lam).sum(axis=1))))
    if bool(found.status == Status.not_finite):
        return f" At t = {float(found.t[k]):.6g} s the motion or a force is not a number."
    equations = found.system.equations()
    terms = equations.terms(found.t[k], found.q[k], found.v[k])
    scaling = scaling_of(equations, found.q[k], terms.J)
    if bool(found.status == Status.not_balanced):
        f = np.asarray(terms.Q - terms.M @ found.a[k])
        J = np.asarray(terms.J)
        left = f - J.T @ (np.linalg.pinv(J.T, rcond=RANK_TOLERANCE) @ f)
        name = equations.speed_names[int(np.argmax(np.abs(left * np.asarray(scaling.columns))))]
        owner, size = name.rpartition(".")[0] or name, np.abs(left).max()
        return f" At t = {float(found.t[k]):.6g} s '{owner}' is out of balance by {size:.3g} (N or N m)."
    Phi = np.where(_driver_rows(found.system), 0.0, np.abs(np.asarray(terms.Phi)))
    row = equations.row_names[int(np.argmax(Phi))]
    return f" At t = {float(found.t[k]):.6g} s row {row} is open by {Phi.max():.3g} (m or rad)."
