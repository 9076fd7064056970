"""Newton back to the constraints from afar: what assembly and driven motions share."""

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.scipy as jsp
from jaxtyping import Array, Bool, Float, Int

from ..formulations.deflated import Deflated, augmented_mass, null_space
from ..formulations.pivoting import dependent_speeds
from ..scaling import Scaling, scaling_of
from ..terms import BlockDiagonal, Equations, Terms

#: Largest residual of closed joints, as a part of the size of the mechanism, or in radians.
CLOSED = 1e-9
CORRECTIONS = ("inertia", "minimum-norm", "independent")

#: The search ends below this residual (Newton's last steps do the rest), after so many trials, or with so much damping.
NEAR = 1e-12
TRIALS = 300
STUCK = 1e10


class Correction(eqx.Module):
    """Which of all displacements that close the joints is taken: d = S y with the smallest y.

    "inertia": S S' = M^-1, the least kinetic energy; "minimum-norm": the smallest sum of squares, lengths as parts of the size of
    the mechanism; "independent": the same, but only the `dependent` speeds move [IC3, IC2 and IC1 of Nikravesh 2007].
    """

    kind: str = eqx.field(static=True)
    scaling: Scaling
    dependent: Bool[Array, " n"] | None = None

    @property
    def units(self) -> Float[Array, " n"]:
        """What one unit of each speed is, 0 for one that stays."""
        return self.scaling.columns if self.dependent is None else jnp.where(self.dependent, self.scaling.columns, 0.0)

    def directions(self, mass: BlockDiagonal | Float[Array, "n n"], J: Float[Array, "m n"]) -> Float[Array, "n n"]:
        """S. It has no derivative: that of closed joints does not depend on how S changes."""
        if self.kind != "inertia":
            return jnp.diag(self.units)
        mass, J = jax.lax.stop_gradient((mass, J))
        M, columns = mass.dense() if isinstance(mass, BlockDiagonal) else mass, self.scaling.columns
        # M may be singular, but not where J lets it move. What is added has no unit, so that no damped step depends on one.
        M, _ = augmented_mass(columns[:, None] * M * columns[None, :], self.scaling.jacobian(J)[0])
        root = jsp.linalg.solve_triangular(jnp.linalg.cholesky(M), jnp.eye(M.shape[0]), lower=True)
        return columns[:, None] * root.T

    def newton(
        self, mass: BlockDiagonal | Float[Array, "n n"], J: Float[Array, "m n"], residual: Float[Array, " m"]
    ) -> Float[Array, " n"]:
        """The displacement d with J d = -residual; dependent rows are allowed."""
        S = self.directions(mass, J)
        # Masses do not decide which rows are dependent: those of a slender body differ by many powers of ten.
        null = null_space(J * self.units[None, :])
        return S @ Deflated().particular(jnp.eye(S.shape[1]), J @ S, jnp.zeros(S.shape[1]), -residual, null).a

    def damped(self, at: "_Pose", damping: Float[Array, ""]) -> Float[Array, " n"]:
        """The step of Levenberg and Marquardt.

        The damping falls with the residual: convergence is that of Newton also where rows become dependent as the joints close
        [Fan and Yuan 2005]. Such rows have singular values as small as the residual, and with a damping of its square they would
        send the first step off by as much as the guess is. It does not fall to zero, because in the end they are dependent.
        """
        rows = self.scaling.residual(at.J, jnp.ones_like(at.Phi))
        S = self.directions(at.mass, at.J)
        A, r = rows[:, None] * (at.J @ S), rows * at.Phi
        G = A @ A.T
        damped = G + (damping * jnp.minimum(jnp.sqrt(jnp.sum(r**2)), 1.0) + 1e-13) * jnp.trace(G) * jnp.eye(r.size)
        return -S @ (A.T @ jsp.linalg.cho_solve(jsp.linalg.cho_factor(damped), r))


class Closed(eqx.Module):
    """Positions nearest to closing every joint; `closed` says whether they do."""

    q: Float[Array, " nq"]
    Phi: Float[Array, " m"]
    J: Float[Array, "m n"]
    correction: Correction

    @property
    def residual(self) -> Float[Array, " m"]:
        """Phi without a unit."""
        return self.correction.scaling.residual(self.J, self.Phi)

    @property
    def closed(self) -> Bool[Array, ""]:
        return _largest(self.residual) <= CLOSED  # NaN counts as open


def close(equations: Equations, t, q, correction: str = "minimum-norm", dependent=None) -> Closed:
    """The pose near q that closes the joints: Levenberg-Marquardt, then Newton.

    The derivative is that of the last Newton steps, which is the implicit function theorem. It follows the numbers of the
    mechanism and, in what freedom is left, those of the guess q.
    """
    frozen, rough, now = jax.lax.stop_gradient((equations, q, t))
    start = _Pose(frozen, now, rough)
    scaling = scaling_of(frozen, rough, start.J)
    if correction == "independent" and dependent is None:
        # Redundant rows are dependent only where the joints are closed, so the choice is made there.
        closed = _search(frozen, now, start, Correction("minimum-norm", scaling))
        dependent = dependent_speeds(closed.J * scaling.columns[None, :])
    chosen = Correction(correction, scaling, dependent)
    if not equations.row_names:
        return Closed(q, start.Phi, start.J, chosen)
    near = _search(frozen, now, start, chosen)

    def refine(q, _):
        at = _Pose(equations, t, q)
        return equations.retract(q, chosen.newton(at.mass, at.J, at.Phi)), (q, at.Phi, at.J)

    # Two steps, and what they have reached.
    first = frozen.retract(near.q, displacement(frozen, rough, q - rough))
    _, path = jax.lax.scan(refine, first, length=3)
    q, Phi, J = (x[-1] for x in path)
    last = Closed(q, *jax.lax.stop_gradient((Phi, J)), chosen)
    # At a conflict the best that was found stands; a Newton step there would leave it.
    best = Closed(near.q, near.Phi, near.J, chosen)
    return jax.tree.map(lambda a, b: jnp.where(last.closed, a, b), last, best)


def displacement(equations: Equations, q: Float[Array, " nq"], dq: Float[Array, " nq"]) -> Float[Array, " n"]:
    """A small change of the positions in terms of the speeds."""
    N = jax.jacfwd(lambda v: equations.qdot(q, v))(jnp.zeros(len(equations.speed_names)))
    return jnp.linalg.solve(N.T @ N, N.T @ dq)


class _Pose(eqx.Module):
    """What the search needs to know of a pose."""

    q: Float[Array, " nq"]
    Phi: Float[Array, " m"]
    J: Float[Array, "m n"]
    mass: BlockDiagonal | Float[Array, "n n"]

    def __init__(self, equations: Equations, t, q):
        terms: Terms = equations.terms(t, q, jnp.zeros(len(equations.speed_names)))
        self.q, self.Phi, self.J, self.mass = q, terms.Phi, terms.J, terms.mass


def _search(equations: Equations, t, start: _Pose, correction: Correction) -> _Pose:
    """The pose with the smallest sum of squared residuals near the start.

    Levenberg-Marquardt by hand, because steps are taken from pose to pose in a metric that changes with it, which the
    solvers at hand (optimistix) cannot, and because theirs made the first call 1.4 times as long.
    """

    def residual(at: _Pose):
        return correction.scaling.residual(start.J, at.Phi)

    def goes_on(carry: tuple[_Pose, Float[Array, ""], Int[Array, ""]]):
        at, damping, trials = carry
        return (_largest(residual(at)) > NEAR) & (damping < STUCK) & (trials < TRIALS)

    def trial(carry):
        at, damping, trials = carry
        there = _Pose(equations, t, equations.retract(at.q, correction.damped(at, damping)))
        better = jnp.sum(residual(there) ** 2) < jnp.sum(residual(at) ** 2)
        at = jax.tree.map(lambda a, b: jnp.where(better, a, b), there, at)
        return at, jnp.where(better, jnp.maximum(0.1 * damping, 1e-8), 8.0 * damping), trials + 1

    return jax.lax.while_loop(goes_on, trial, (start, jnp.asarray(1e-2), jnp.asarray(0)))[0]


def _largest(x: Float[Array, " m"]) -> Float[Array, ""]:
    return jnp.max(jnp.abs(x), initial=0.0)
