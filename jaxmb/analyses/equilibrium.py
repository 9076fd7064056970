"""Where a mechanism comes to rest under its forces."""

from collections.abc import Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from ..errors import ModelError, is_concrete
from ..formulations.base import minimum_norm
from ..joints import Driver
from ..outputs import Reaction
from ..packed import Packed
from ..state import State
from ..system import System
from ..terms import Equations
from ..trajectory import Instant, LoadedTrajectory
from .assemble import assemble_state
from .balance import BALANCED, imbalance, no_stiffness, reach, relative
from .closing import CLOSED, displacement
from .messages import in_units
from .tangent import Release, close_near, free_motions, release, smallest_motion, stiffness

#: No step of the search turns a body by more than this (rad), nor moves one by more than the reach of the mechanism.
LARGEST_TURN = 0.5
#: The search ends when this part of what counts as balanced is left; Newton's last steps do the rest.
TARGET = 1e-2
MAX_STEPS = 300


class Equilibrium(State):
    """A state at rest in which all forces balance; a `State` for every other analysis.

    `stable` and `neutral` judge it by its stiffness alone, without damping; `linearize(system, rest).modes()` tells all.
    """

    lam: Float[Array, "*batch m"]
    """Multipliers of least norm: the reactions at rest, J' lam = Q."""
    stable: Bool[Array, "*batch"]
    """Whether no free motion leads away: none has a negative stiffness (nor, with forces that follow a body, a complex one)."""
    neutral: Int[Array, "*batch"]
    """Number of free motions without stiffness (idle spins); in these the mechanism rests anywhere."""
    residual: Float[Array, "*batch"]
    """Forces left over, relative to those that are there."""
    system: Any
    """The system that rests here, with a driver for each joint that was held."""

    @property
    def motion(self) -> LoadedTrajectory:
        """The rest as a motion of one instant, for everything that has a name: `rest.motion.joint("A").angle[0]`."""
        t, q, v, lam = (x[None] for x in (self.t, self.q, self.v, self.lam))
        return _Standstill(t, q, v, jnp.zeros_like(v), lam, self.system)

    def reaction(self, name: str, *, frame: str = "world", port: int = 1) -> Reaction:
        """Force (N) and torque (N m) of a joint on its second body (`port=0`: on its first), in world axes or those of a body."""
        return jax.tree.map(lambda x: x[0], self.motion.reaction(name, frame=frame, port=port))

    def multipliers(self, name: str) -> Float[Array, " rows"]:
        """Multipliers of a joint; of the driver "hold A" of a held joint A, minus the torque (N m) or force (N) that holds it."""
        return self.motion.multipliers(name)[0]

    def point(self, body: str, point="com") -> Float[Array, "3"]:
        """World position (m) of a point of a body: its name, or three numbers in the body frame."""
        return Instant(self, self.system).point(body, point)


class _Standstill(LoadedTrajectory):
    t: Float[Array, " one"]
    q: Float[Array, "one nq"]
    v: Float[Array, "one nv"]
    a: Float[Array, "one nv"]
    lam: Float[Array, "one m"]
    system: Any


def equilibrium(system, guess: State | None = None, *, hold: Mapping[str, object] | None = None) -> Equilibrium:
    """The state at rest in which all forces balance, found downhill from `guess`.

    Forces and constraints that depend on time are taken at `guess.t`, the speeds of the guess do not matter. `hold` fixes joint
    coordinates by joint name (rad, m), as `assemble_state` does; without a guess, that is where the search begins. It moves as
    the forces pull, so it ends in a stable equilibrium; a guess that is an unstable one is kept, with `stable` False. Motions
    without stiffness stay about where the guess has them.

    The preload that a spring must have for a wanted position follows from what holds the mechanism there: put a `Distance` in
    its place and ask for `reaction`, or hold its joint and ask for the `multipliers` of the holding driver.

    Differentiable with respect to every number of the system and, in the motions without stiffness, to the guess, to second
    order, and works under jit and vmap. When forces cannot be balanced, an error says which bodies stay out of balance by how
    much (inside jit: a state of NaN).
    """
    system, start = _start(system, guess, hold)
    found, at = _find(system, start.t, start.q)
    if is_concrete(found, at) and not float(at.violation) <= CLOSED:
        raise ModelError(_open(system, at))
    if is_concrete(found) and not float(found.residual) <= BALANCED:
        raise ModelError(_unbalanced(found))
    return _or_nan(found, at.violation)


def _start(system, guess: State | None, hold: Mapping[str, object] | None) -> tuple[Any, State]:
    if not isinstance(system, System):
        if guess is None or hold:
            raise ModelError(
                f"equilibrium of a {type(system).__name__} needs a guess and cannot hold joints, which only a System of bodies "
                "has. Give guess=system.state(q), and put what is held into the constraint."
            )
        return system, guess
    if guess is None or hold:
        guess = assemble_state(system, guess, hold=hold)
    return system.with_joints(
        **{f"hold {name}": Driver(name, jnp.asarray(value, float)) for name, value in (hold or {}).items()}
    ), guess


@eqx.filter_jit
def _find(system, t, q) -> tuple[Equilibrium, Release]:
    """The equilibrium, and the mechanism let go there."""
    equations = system.equations()
    frozen, now, rough = jax.lax.stop_gradient((equations, t, q))
    # The reach at the start stays the measure of rounding: without a rest the search goes far away, where all seems small.
    far = reach(frozen, rough)
    at, near = _descend(frozen, now, rough, far)
    # The derivative of the guess enters in the motions without stiffness; Newton's steps take it out of all others.
    rest = frozen.retract(near, displacement(frozen, rough, q - rough))
    rest = jax.lax.fori_loop(0, 2, lambda _, q: at.newton(equations, t, q), rest)
    at_rest = release(equations, t, rest)
    lam = minimum_norm(at_rest.terms.J, at_rest.lam)
    end = _Tangent(*jax.lax.stop_gradient((equations, t, rest, at_rest)), far)
    return Equilibrium(t, rest, jnp.zeros_like(at_rest.a), lam, *end.verdict(), end.residual, system), end.at


class _Tangent(eqx.Module):
    """The mechanism held still somewhere, with its stiffness against the free motions (in coordinates in which M is 1)."""

    at: Release
    Z: Float[Array, "n n"]
    K: Float[Array, "n n"]
    free: Bool[Array, " n"]
    reduced: Float[Array, "n n"]
    residual: Float[Array, ""]
    floor: Float[Array, ""]
    """The stiffness below which there is none."""

    def __init__(self, equations: Equations, t, q, at: Release, far):
        self.at = at
        self.Z, self.free = free_motions(at)
        self.K = stiffness(equations, t, q, self.at.lam)
        self.reduced = self.Z.T @ self.K @ self.Z
        stiffest = jnp.sqrt(jnp.sum(self.reduced**2))
        self.residual = relative(equations, t, q, at, stiffest, far)
        self.floor = no_stiffness(equations, t, q, at, stiffest)

    @property
    def pull(self) -> Float[Array, " n"]:
        """The forces along the free motions."""
        return self.Z.T @ self.at.force

    def downhill(self, damping: Float[Array, ""]) -> Float[Array, " n"]:
        """A step along the free motions that follows the forces, Newton's where they lead to a stable rest.

        Negative stiffness counts as positive, so that the step leads away from an unstable equilibrium. `damping` is added to
        all stiffnesses (1/s2) and makes it short.
        """
        kappa, V = jnp.linalg.eigh(0.5 * (self.reduced + self.reduced.T))
        floor = jnp.where(self.floor > 0, self.floor, 1.0)
        lifted = (V * (jnp.maximum(jnp.abs(kappa), floor) - kappa)[None, :]) @ V.T
        held = jnp.where(self.free, 0.0, 1.0)
        return jnp.linalg.solve(self.reduced + lifted + damping * jnp.eye(kappa.size) + jnp.diag(held), self.pull)

    def newton(self, equations: Equations, t, q):
        """A step of Newton's method to balance and closed joints, with the inverse frozen here; it is what has a derivative."""
        at = release(equations, t, q)
        normal = smallest_motion(self.at, at.terms.Phi)
        U, kappa, Vh = jnp.linalg.svd(self.reduced)
        stiff = kappa > self.floor
        softness = jnp.where(stiff, 1 / jnp.where(stiff, kappa, 1.0), 0.0)
        along = Vh.T @ (softness * (U.T @ (self.Z.T @ (at.force - self.K @ normal))))
        return equations.retract(q, normal + self.Z @ along)

    def verdict(self) -> tuple[Bool[Array, ""], Int[Array, ""]]:
        """Whether it is stable, and the number of free motions without stiffness."""
        # What is not free has an eigenvalue that counts as stiff.
        kappa = jnp.linalg.eigvals(self.reduced + jnp.diag(jnp.where(self.free, 0.0, 1.0 + 2 * self.floor)))
        stable = jnp.all((kappa.real >= -self.floor) & (jnp.abs(kappa.imag) <= self.floor))
        return stable, jnp.sum(jnp.abs(kappa) <= self.floor)


def _descend(equations: Equations, t, q, far) -> tuple[_Tangent, Float[Array, " nq"]]:
    """Downhill to where forces balance: damped Newton steps along the closed positions; each must let the forces do about the
    work that their tangent promises (a trust region), which they do on the way to a stable rest only."""

    def tangent(q):
        return _Tangent(equations, t, q, release(equations, t, q), far)

    def step(carry):
        here, q, damping, k = carry
        x = here.downhill(damping)
        # The first step does no more than close the joints. (One place where that is done is one to compile.)
        x = jnp.where(k == 0, 0.0, x * _shortened(equations, q, here.Z @ x))
        trial = close_near(equations, t, equations.retract(q, here.Z @ x))
        there = tangent(trial)
        promised = x @ (here.pull - 0.5 * here.reduced @ x)
        done = 0.5 * x @ (here.pull + here.Z.T @ there.at.force)
        accepted = (k == 0) | ((there.at.violation <= CLOSED) & (done > 0.1 * promised))
        # A step that is refused is at least halved: |pull| / |x| is the stiffness that was met along it.
        harder = jnp.maximum(4 * damping, jnp.linalg.norm(here.pull) / jnp.linalg.norm(x))
        damping = jnp.where(accepted, jnp.where(done > 0.7 * promised, damping / 8, damping), harder)
        here, q = jax.tree.map(lambda new, old: jnp.where(accepted, new, old), (there, trial), (here, q))
        return here, q, damping, k + 1

    def unfinished(carry):
        here, _, _, k = carry
        return (k == 0) | (~(here.residual <= TARGET * BALANCED) & (k < MAX_STEPS))

    nowhere = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), jax.eval_shape(tangent, q))
    return jax.lax.while_loop(unfinished, step, (nowhere, q, jnp.zeros(()), jnp.asarray(0)))[:2]


def _shortened(equations: Equations, q, displacement) -> Float[Array, ""]:
    """The factor that keeps a step from turning or moving a body too far."""
    moved, turned, far = jnp.max(jnp.abs(displacement)), jnp.zeros(()), reach(equations, q)
    if isinstance(equations, Packed):
        twists = equations.twists(q, displacement)
        moved, turned = (jnp.max(jnp.linalg.norm(part, axis=1)) for part in (twists[:, :3], twists[:, 3:]))
    excess = jnp.maximum(turned / LARGEST_TURN, jnp.where(far > 0, moved / jnp.where(far > 0, far, 1.0), 0.0))
    return 1 / jnp.maximum(excess, 1.0)


def _or_nan(found: Equilibrium, violation) -> Equilibrium:
    """As found, or NaN where it is no equilibrium; a factor, because `where` would make a failure's derivative zero."""
    ok = (found.residual <= BALANCED) & (violation <= CLOSED)
    keep = jnp.where(ok, 1.0, jnp.nan)
    return eqx.tree_at(lambda e: (e.q, e.lam, e.stable), found, (found.q * keep, found.lam * keep, found.stable & ok))


def _open(system, at: Release) -> str:
    left = np.abs(np.asarray(at.scaling.residual(at.terms.J, at.terms.Phi)))
    worst = int(np.argmax(left))
    joint, _, row = system.equations().row_names[worst].rpartition(".")
    amount = in_units(abs(float(at.terms.Phi[worst])), bool(at.scaling.lengths(at.terms.J)[worst]))
    return (
        f"equilibrium could not close joint '{joint}' near the guess: row {row} stays open by {amount}. Give a closed state, as "
        "assemble_state(system, guess) returns it."
    )


def _unbalanced(found: Equilibrium) -> str:
    return (
        f"equilibrium found no rest of this system from the guess at t = {float(found.t):g} s: "
        f"{imbalance(found.system, found.t, found.q)}. Support that motion by a joint or a spring, hold a joint (hold=), or "
        "give a guess nearer to the rest."
    )
