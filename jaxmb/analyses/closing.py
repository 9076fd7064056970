"""Newton back to the constraints from afar: what assembly and the redundancy analysis share."""

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.scipy as jsp
import optimistix as optx
from jaxtyping import Array, Bool, Float

from ..formulations.deflated import Deflated, augmented_mass, null_space
from ..scaling import Scaling, scaling_of
from ..terms import Equations, Terms

#: Largest residual of closed joints, as a part of the size of the mechanism, or in radians.
CLOSED = 1e-9
CORRECTIONS = ("inertia", "minimum-norm", "independent")


class Closed(eqx.Module):
    """Positions nearest to closing every joint; `closed` says whether they do."""

    q: Float[Array, " nq"]
    Phi: Float[Array, " m"]
    J: Float[Array, "m n"]
    scaling: Scaling

    @property
    def closed(self) -> Bool[Array, ""]:
        # Written so that NaN counts as open.
        return jnp.max(jnp.abs(self.scaling.residual(self.J, self.Phi)), initial=0.0) <= CLOSED


def directions(correction: str, terms: Terms, scaling: Scaling, dependent=None) -> Float[Array, "n k"]:
    """S, whose columns are displacements of equal cost: of all that close the joints, d = S y with the smallest y is taken.

    "inertia": S S' = M^-1, the least kinetic energy; "minimum-norm": the smallest sum of squares, lengths as parts of the size of
    the mechanism; "independent": the same, but only the `dependent` speeds move [IC3, IC2 and IC1 of Nikravesh 2007].
    """
    if correction == "inertia":
        M, _ = augmented_mass(terms.mass, terms.J)
        S = jsp.linalg.solve_triangular(jnp.linalg.cholesky(M), jnp.eye(M.shape[0]), lower=True).T
        # Of the size of the other choices, so that the first step of the iteration is as long.
        return S * jnp.sqrt(jnp.sum(scaling.columns**2) / jnp.sum(S**2))
    weight = scaling.columns if dependent is None else jnp.where(dependent, scaling.columns, 0.0)
    return jnp.diag(weight)


def newton_step(J: Float[Array, "m n"], residual: Float[Array, " m"], S: Float[Array, "n k"]) -> Float[Array, " n"]:
    """d = S y with J d = -residual and the smallest y; dependent rows are allowed."""
    JS = J @ S
    zero = jnp.zeros(S.shape[1])
    return S @ Deflated().particular(jnp.eye(S.shape[1]), JS, zero, -residual, null_space(JS)).a


def close(equations: Equations, t, q, correction: str = "minimum-norm", dependent=None) -> Closed:
    """Levenberg-Marquardt, then Newton; the derivative is that of the last Newton steps, which is the implicit function
    theorem. It follows the numbers of the mechanism and, in what freedom is left, those of the guess q."""
    frozen, rough, t0 = jax.lax.stop_gradient((equations, q, t))
    still = jnp.zeros(len(equations.speed_names))

    def at(equations, q, t) -> Terms:
        return equations.terms(t, q, still)

    start = at(frozen, rough, t0)
    scaling = scaling_of(frozen, rough, start.J)
    if not equations.row_names:
        return Closed(q, start.Phi, start.J, scaling)
    S = jax.lax.stop_gradient(directions(correction, start, scaling, dependent))

    def residual(y, _):
        terms = at(frozen, frozen.retract(rough, S @ y), t0)
        return scaling.residual(start.J, terms.Phi)

    def refine(q):
        """A Newton step, unless it opens the joints: at a conflict there is no root to go to."""
        terms = at(frozen, q, t0)
        moved = frozen.retract(q, newton_step(terms.J, terms.Phi, S))
        before, after = (jnp.sum(scaling.residual(start.J, x) ** 2) for x in (terms.Phi, at(frozen, moved, t0).Phi))
        return jnp.where(after < before, moved, q)

    solver = optx.LevenbergMarquardt(rtol=1e-10, atol=1e-10)
    found = optx.least_squares(residual, solver, jnp.zeros(S.shape[1]), max_steps=256, throw=False)
    near = jax.lax.fori_loop(0, 3, lambda _, q: refine(q), frozen.retract(rough, S @ found.value))
    q = jax.lax.stop_gradient(near) + (q - rough)
    for _ in range(2):
        terms = at(equations, q, t)
        q = equations.retract(q, newton_step(terms.J, terms.Phi, S))
    last = at(equations, q, t)
    out = Closed(q, *jax.lax.stop_gradient((last.Phi, last.J)), scaling)
    # At a conflict the best that was found stands; a Newton step there would leave it.
    open_ = at(frozen, near, t0)
    best = Closed(near, open_.Phi, open_.J, scaling)
    return jax.tree.map(lambda a, b: jnp.where(out.closed, a, b), out, best)
