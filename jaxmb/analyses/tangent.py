"""A mechanism held still: what it does when it is let go, and the motions and stiffnesses it has there.

Time and speeds are frozen here: constraints and forces that depend on time are taken as they are at that time.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.scipy as jsp
from jaxtyping import Array, Bool, Float, Int

from ..formulations.deflated import Deflated, NullSpace, null_space
from ..scaling import Scaling, scaling_of
from ..terms import Equations, Terms

#: Newton's closing stops at this part of the size of the mechanism, or as many radians; another step would stir the rounding.
TIGHT = 1e-13


class Release(eqx.Module):
    """What follows when a mechanism is let go from rest: M a + J' lam = Q, J a = 0."""

    terms: Terms
    scaling: Scaling
    null: NullSpace
    """Of J with columns without a unit of length."""
    a: Float[Array, " n"]
    lam: Float[Array, " m"]

    @property
    def violation(self) -> Float[Array, ""]:
        """The largest |Phi|, lengths as parts of the size of the mechanism."""
        return jnp.max(jnp.abs(self.scaling.residual(self.terms.J, self.terms.Phi)), initial=0.0)

    @property
    def force(self) -> Float[Array, " n"]:
        """The forces that the constraints do not balance, M a = Q - J' lam."""
        return self.terms.M @ self.a

    @property
    def size(self) -> Float[Array, ""]:
        """The same as one number that no choice of units or coordinates changes but by a factor: the square root of a' M a."""
        return jnp.sqrt(jnp.maximum(self.a @ self.force, 0.0))


def release(equations: Equations, t: Float[Array, ""], q: Float[Array, " nq"]) -> Release:
    """Let go from rest."""
    still = jnp.zeros(len(equations.speed_names))
    terms = equations.terms(t, q, still)
    scaling = scaling_of(equations, q, terms.J)
    null = null_space(terms.J * scaling.columns[None, :])
    out = Deflated().particular(terms.mass, terms.J, terms.Q, jnp.zeros_like(terms.Phi), null)
    return Release(terms, scaling, null, out.a, out.lam)


def smallest_motion(at: Release, Phi: Float[Array, " m"]) -> Float[Array, " n"]:
    """The displacement of least kinetic norm that removes Phi to first order: J dq = -Phi."""
    return Deflated().particular(at.terms.mass, at.terms.J, jnp.zeros_like(at.a), -Phi, at.null).a


def close_near(
    equations: Equations, t: Float[Array, ""], q: Float[Array, " nq"], iterations: int = 12
) -> Float[Array, " nq"]:
    """Closed positions nearby, by Newton steps of least kinetic norm. They have no derivative."""
    equations, t, q = jax.lax.stop_gradient((equations, t, q))

    def step(carry):
        q, _, k = carry
        at = release(equations, t, q)
        return equations.retract(q, smallest_motion(at, at.terms.Phi)), at.violation, k + 1

    def unfinished(carry):
        # The violation is that before the last step, which squared it.
        _, violation, k = carry
        return (violation > jnp.sqrt(TIGHT)) & (k < iterations)

    return jax.lax.while_loop(unfinished, step, (q, jnp.asarray(jnp.inf), jnp.asarray(0)))[0]


def stiffness(
    equations: Equations, t: Float[Array, ""], q: Float[Array, " nq"], lam: Float[Array, " m"]
) -> Float[Array, "n n"]:
    """K = d(J' lam - Q)/dq at constant lam, along small displacements.

    The part of lam is the geometric stiffness, and on the free motions also the curvature of the constraints. There, Z' K Z
    is the same for every lam that balances, though redundant constraints leave many.
    """

    def unbalanced(dq):
        terms = equations.terms(t, equations.retract(q, dq), jnp.zeros_like(dq))
        return terms.J.T @ lam - terms.Q

    return jax.jacfwd(unbalanced)(jnp.zeros(len(equations.speed_names)))


def damping(equations: Equations, t: Float[Array, ""], q: Float[Array, " nq"]) -> Float[Array, "n n"]:
    """C = -dQ/dv at rest."""
    return -jax.jacfwd(lambda v: equations.terms(t, q, v).Q)(jnp.zeros(len(equations.speed_names)))


def count_free(null: NullSpace) -> Int[Array, ""]:
    """Number of degrees of freedom: speeds less independent rows."""
    n, m = null.Y.shape
    return n - m + null.deficiency


def free_motions(at: Release, dof: int | None = None) -> tuple[Float[Array, "n k"], Bool[Array, " k"]]:
    """A basis Z of the motions that the constraints leave free, J Z = 0 and Z' M Z = 1, and which of its columns there are.

    With `dof` it has so many columns (all of them marked as missing when the mechanism has another number). Without, it has a
    column for each speed, zero for those that are missing, so that its shape does not depend on the rank.

    The derivative is that of a basis that stays one: Z follows J by Newton steps with a frozen inverse, exact to second order.
    Results do not depend on the choice of the basis, so none of it is differentiated.
    """
    null, J, units = at.null, at.terms.J, at.scaling.columns[:, None]
    n = J.shape[1]
    weight, basis = jnp.linalg.eigh(jnp.eye(n) - null.Y @ null.Y.T)
    there = weight > 0.5
    if dof is not None:
        basis, there = basis[:, n - dof :], jnp.broadcast_to(jnp.sum(there) == dof, (dof,))
    else:
        basis = jnp.where(there[None, :], basis, 0.0)
    basis = jax.lax.stop_gradient(units * basis)
    inverse = units * (
        null.Y @ (jnp.where(null.null, 0.0, 1 / jnp.where(null.null, 1.0, null.sigma))[:, None] * null.U.T)
    )
    for _ in range(2):
        basis = basis - inverse @ (null.D[:, None] * (J @ basis))
    missing = jnp.diag(jnp.where(jnp.any(basis != 0, axis=0), 0.0, 1.0))
    L = jnp.linalg.cholesky(basis.T @ at.terms.M @ basis + missing)
    return jsp.linalg.solve_triangular(L, basis.T, lower=True).T, there
