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
from .balance import BALANCED, imbalance, reach, relative
from .closing import CLOSED
from .messages import in_units
from .tangent import Release, close_near, free_motions, release, smallest_motion, stiffness

#: A free motion has no stiffness of its own when that is below this part of the largest one.
NEUTRAL = 1e-10
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
    without stiffness stay where the guess has them.

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
    return system.with_joints(**{f"hold {name}": Driver(name, value) for name, value in (hold or {}).items()}), guess


@eqx.filter_jit
def _find(system, t, q) -> tuple[Equilibrium, Release]:
    """The equilibrium, and the mechanism let go there."""
    equations = system.equations()
    frozen, now, rough = jax.lax.stop_gradient((equations, t, q))
    near = _descend(frozen, now, close_near(frozen, now, rough))
    at = _Tangent(frozen, now, near)
    # The derivative of the guess enters in the motions without stiffness; Newton's steps take it out of all others.
    rest = frozen.retract(near, _displacement(frozen, rough, q - rough))
    for _ in range(2):
        rest = at.newton(equations, t, rest)
    at_rest = release(equations, t, rest)
    lam = minimum_norm(at_rest.terms.J, at_rest.lam)
    end = _Tangent(*jax.lax.stop_gradient((equations, t, rest)))
    result = Equilibrium(t, rest, jnp.zeros_like(at_rest.a), lam, end.stable, end.neutral, end.residual, system)
    return result, end.at


class _Tangent(eqx.Module):
    """The mechanism held still somewhere, with its stiffness against the free motions (in coordinates in which M is 1)."""

    at: Release
    Z: Float[Array, "n n"]
    K: Float[Array, "n n"]
    free: Bool[Array, " n"]
    reduced: Float[Array, "n n"]
    residual: Float[Array, ""]

    def __init__(self, equations: Equations, t, q):
        self.at = release(equations, t, q)
        self.Z, self.free = free_motions(self.at)
        self.K = stiffness(equations, t, q, self.at.lam)
        self.reduced = self.Z.T @ self.K @ self.Z
        self.residual = relative(equations, t, q, self.at, self.stiffest)

    @property
    def stiffest(self) -> Float[Array, ""]:
        return jnp.sqrt(jnp.sum(self.reduced**2))

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
        largest = jnp.max(jnp.abs(kappa))
        floor = jnp.where(largest > 0, NEUTRAL * largest, 1.0)
        lifted = (V * (jnp.maximum(jnp.abs(kappa), floor) - kappa)[None, :]) @ V.T
        held = jnp.where(self.free, 0.0, 1.0)
        return jnp.linalg.solve(self.reduced + lifted + damping * jnp.eye(kappa.size) + jnp.diag(held), self.pull)

    def newton(self, equations: Equations, t, q):
        """A step of Newton's method to balance and closed joints, with the inverse frozen here; it is what has a derivative."""
        at = release(equations, t, q)
        normal = smallest_motion(self.at, at.terms.Phi)
        inverse = jnp.linalg.pinv(self.reduced, rtol=NEUTRAL)
        return equations.retract(q, normal + self.Z @ (inverse @ (self.Z.T @ (at.force - self.K @ normal))))

    @property
    def _eigenvalues(self):
        """Of the stiffness against the mass (1/s2), relative to the largest; 1 for what is not free."""
        scale = jnp.where(self.stiffest > 0, self.stiffest, 1.0)
        return jnp.linalg.eigvals(self.reduced / scale + jnp.diag(jnp.where(self.free, 0.0, 1.0)))

    @property
    def stable(self) -> Bool[Array, ""]:
        return jnp.all((self._eigenvalues.real >= -NEUTRAL) & (jnp.abs(self._eigenvalues.imag) <= NEUTRAL))

    @property
    def neutral(self) -> Int[Array, ""]:
        return jnp.sum(jnp.abs(self._eigenvalues) < NEUTRAL)


def _descend(equations: Equations, t, q):
    """Downhill to where forces balance: damped Newton steps along the closed positions; each must let the forces do about the
    work that their tangent promises (a trust region), which they do on the way to a stable rest only."""

    def step(carry):
        q, damping, _, k = carry
        here = _Tangent(equations, t, q)
        x = here.downhill(damping)
        x = x * _shortened(equations, q, here.Z @ x)
        trial = close_near(equations, t, equations.retract(q, here.Z @ x))
        there = release(equations, t, trial)
        promised = x @ (here.pull - 0.5 * here.reduced @ x)
        done = 0.5 * x @ (here.pull + here.Z.T @ there.force)
        closed = there.violation <= CLOSED
        accepted = closed & (done > 0.1 * promised)
        # A step that is refused is at least halved: |pull| / |x| is the stiffness that was met along it.
        harder = jnp.maximum(4 * damping, jnp.linalg.norm(here.pull) / jnp.linalg.norm(x))
        damping = jnp.where(accepted, jnp.where(done > 0.7 * promised, damping / 8, damping), harder)
        balanced = here.residual <= TARGET * BALANCED
        return jnp.where(accepted & ~balanced, trial, q), damping, balanced, k + 1

    def unfinished(carry):
        _, _, balanced, k = carry
        return ~balanced & (k < MAX_STEPS)

    return jax.lax.while_loop(unfinished, step, (q, jnp.zeros(()), jnp.asarray(False), jnp.asarray(0)))[0]


def _shortened(equations: Equations, q, displacement) -> Float[Array, ""]:
    """The factor that keeps a step from turning or moving a body too far."""
    if not isinstance(equations, Packed):
        return jnp.ones(())
    twists = equations.twists(q, displacement)
    moved, turned = (jnp.max(jnp.linalg.norm(part, axis=1)) for part in (twists[:, :3], twists[:, 3:]))
    far = reach(equations, q)
    excess = jnp.maximum(turned / LARGEST_TURN, jnp.where(far > 0, moved / jnp.where(far > 0, far, 1.0), 0.0))
    return 1 / jnp.maximum(excess, 1.0)


def _displacement(equations: Equations, q, dq) -> Float[Array, " n"]:
    """The displacement (in the space of the speeds) of a small change of the positions."""
    B = jax.jacfwd(lambda v: equations.qdot(q, v))(jnp.zeros(len(equations.speed_names)))
    return jnp.linalg.solve(B.T @ B, B.T @ dq)


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
