"""The default: Cholesky of the Schur complement with its null space filled; fast, and the rank need not be known."""

import functools
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.scipy as jsp
from jaxtyping import Array, Bool, Float, Int

from ..jacobian import BlockJacobian
from ..status import Status
from ..terms import BlockDiagonal
from .base import Accel, Formulation, minimum_norm
from .pivots import ABOUT_AS_SMALL, Pivots, structured_product, structured_solve
from .structure import unit_scale

Mass = BlockDiagonal | Float[Array, "n n"]
Jacobian = BlockJacobian | Float[Array, "m n"]

#: Eigenvalues of D J J' D below this fraction of the largest count as zero; they are squares of singular values.
NULL_TOLERANCE = 1e-9
#: The same for a run that passes singular configurations, eps^(2/3). There a singular value s goes through zero: too early a zero
#: lets a constraint go, whose speed is wrong by the order of s after that, too late a one leaves rounding, of the order
#: eps / s^2. The two are equal at s = eps^(1/3).
PASSING_TOLERANCE = 3.7e-11


class NullSpace(eqx.Module):
    """What is carried along a run: the singular vectors of D J (D makes the rows of equal weight).

    Masses do not enter: they would make the values of a slender body that spins change with its angle.
    """

    N: Float[Array, "m m"]
    """Orthonormal left null vectors of D J; zero columns where there are none."""
    U: Float[Array, "m m"]
    """Left singular vectors."""
    Y: Float[Array, "n m"]
    """Right singular vectors, zero columns for the null ones: U' D J Y is the diagonal of singular values."""
    sigma: Float[Array, " m"]
    """Singular values, 0 for the null ones."""
    null: Bool[Array, " m"]
    """Which columns are null."""
    D: Float[Array, " m"]
    """Weights of the rows. They are those of the start for a whole run: fresh ones would hide a row that vanishes."""
    fill: Float[Array, "m m"]
    """D N N' D, of use to many solves."""

    @property
    def deficiency(self) -> Int[Array, ""]:
        """Number of redundant rows."""
        return jnp.sum(self.null)

    @property
    def smallest(self) -> Float[Array, ""]:
        """The smallest singular value that is not null."""
        return jnp.min(jnp.where(self.null, jnp.inf, self.sigma), initial=jnp.inf)

    def crossing(self, J: Jacobian) -> tuple[Bool[Array, ""], Float[Array, ""]]:
        """Whether a singular value seems to have passed zero on the way from where this was found to J here, and how much J
        has changed, relative to its size.

        Along a smooth path the singular value of a smooth pair of vectors changes its sign there, which u' D J y with the
        old pair shows even when a step jumps over the point itself. When J has changed much, the vectors may merely have turned.
        """
        now = self.U.T @ (self.D[:, None] * (dense(J) @ self.Y))
        change = jnp.sqrt(jnp.sum((now - jnp.diag(self.sigma)) ** 2) / jnp.sum(self.sigma**2, initial=1e-300))
        return jnp.any(~self.null & (jnp.diagonal(now) < 0)), change

    def at(self, J: Jacobian, passing: bool = False) -> "NullSpace":
        """That of J elsewhere, with the same weights, in a run that stops at singular configurations or passes them."""
        return null_space(dense(J), self.D, PASSING_TOLERANCE if passing else NULL_TOLERANCE)

    def weakest(self, redundant: Int[Array, ""]) -> Float[Array, " m"]:
        """How much each row takes part in the combinations nearest to dependence, those redundant from the start aside: the left
        singular vectors of the smallest singular value and of others about as small, for several can vanish together."""
        order = jnp.arange(self.sigma.size)  # they come in ascending order
        smallest = jnp.sum(jnp.where(order == redundant, self.sigma, 0.0))
        vanishing = (order >= redundant) & (self.sigma <= ABOUT_AS_SMALL * smallest)
        return jnp.sqrt(jnp.sum(jnp.where(vanishing[None, :], self.U**2, 0.0), axis=1))


class Proximal(eqx.Module):
    """In the place of a null space that nobody has searched: S + epsilon is factored, and refinements take epsilon out again
    [Carpentier, Budhiraja and Mansard 2021]. A tenth of the cost of a search, for single corrections that start near their
    end; along a run it would let the steps stumble."""


#: In units in which S has a diagonal of 1; each refinement takes a part s^2 of S to PROXIMAL / s^2 of its error.
PROXIMAL, REFINEMENTS = 1e-10, 2


def schur(M: Mass, J: Float[Array, "m n"]) -> tuple[Float[Array, "m m"], Float[Array, "m n"]]:
    """S = J M^-1 J' and W = J M^-1, with M + c J'J for M when M may be singular.

    Adding c J' (J a - gamma) = 0 to the equations changes nothing but makes their mass regular, because M is positive
    definite on the null space of J.
    """
    if isinstance(M, BlockDiagonal) and M.inverses is not None:
        W = M.inverse_times(J)
    else:
        W = jsp.linalg.cho_solve(jsp.linalg.cho_factor(augmented_mass(M, J)[0], lower=True), J.T).T
    return W @ J.T, W


def augmented_mass(M: Mass, J) -> tuple[Float[Array, "n n"], Float[Array, ""]]:
    """M + c J'J, regular where M is positive definite on the null space of J, and c."""
    M = M.dense() if isinstance(M, BlockDiagonal) else M
    size = jnp.sum(J**2)
    c = jnp.where(size > 0, jnp.trace(M) / jnp.where(size > 0, size, 1.0), 0.0)
    return M + c * (J.T @ J), c


def row_scale(S: Float[Array, "m m"]) -> Float[Array, " m"]:
    """D with a unit diagonal of D S D, so that no choice of units matters; 1 for an empty row."""
    return unit_scale(jnp.diagonal(S))


def null_space(
    J: Float[Array, "m n"], D: Float[Array, " m"] | None = None, tolerance: float = NULL_TOLERANCE
) -> NullSpace:
    """The null space by an eigenvalue decomposition. It has no derivative: solutions do not depend on the basis."""
    J = jax.lax.stop_gradient(J)
    D = row_scale(J @ J.T) if D is None else D
    DJ = D[:, None] * J
    eigenvalues, U = jnp.linalg.eigh(DJ @ DJ.T)
    # Not <: where no row holds, all eigenvalues are zero and all rows null.
    null = eigenvalues <= tolerance * jnp.max(eigenvalues, initial=0.0)
    sigma = jnp.sqrt(jnp.where(null, 1.0, eigenvalues))
    keep = jnp.where(null, 0.0, 1.0)
    Y = DJ.T @ U * (keep / sigma)[None, :]
    N = U * (1.0 - keep)[None, :]
    DN = D[:, None] * N
    return NullSpace(N=N, U=U, Y=Y, sigma=keep * sigma, null=null, D=D, fill=DN @ DN.T)


class Deflated(Formulation):
    """a = M^-1 (Q - J' lam) with S lam = J M^-1 Q - gamma, S = J M^-1 J', solved as (S + N N') lam = ...

    N spans the left null space of S. For consistent gamma the solution has N' lam = 0 and solves the singular system
    exactly, because the range of S is orthogonal to its null space; a small inconsistency, as in the stages of a step, stays
    small instead of locking the mechanism. `simulate` carries N from step to step; alone, it is found by an eigenvalue
    decomposition. Use it unless you study another method.
    """

    tolerates_redundancy: ClassVar[bool] = True
    tolerates_singular_mass: ClassVar[bool] = True

    def solve(self, M: Mass, J, Q, gamma, null: NullSpace | None = None) -> Accel:  # pyright: ignore
        """As for every formulation; M may also be `BlockDiagonal`, and `null` the null space found nearby."""
        out = self.particular(M, J, Q, gamma, null_space(J) if null is None else null)
        return Accel(out.a, minimum_norm(J, out.lam), out.status)

    def particular(self, M: Mass, J: Jacobian, Q, gamma, null: "NullSpace | Pivots | Proximal") -> Accel:
        """The same without making the multipliers the smallest ones, which costs a pseudoinverse."""

        n = Q.size
        if isinstance(null, Pivots):
            product: Any = structured_product
            solve: Any = functools.partial(structured_solve, dropped=null.dropped)
        else:
            J = dense(J)
            fill = None if isinstance(null, Proximal) else null.fill
            product, solve = dense_product, functools.partial(deflated_solve, fill=fill)

        def K(x):
            return jnp.concatenate(product(M, J, x[:n], x[n:]))

        def algorithm(_, b):
            return jnp.concatenate(solve(M, J, b[:n], b[n:]))

        # One vector and not a pair: JAX cannot differentiate this solve when only a part of a pair has a derivative.
        x = jax.lax.custom_linear_solve(K, jnp.concatenate([Q, gamma]), algorithm, symmetric=True)
        a, lam = x[:n], x[n:]
        status = Status.where(jnp.all(jnp.isfinite(a)), Status.successful, Status.not_unique)
        return Accel(a, lam, status)

    def _solve(self, M, J, Q, gamma) -> Accel:
        return self.particular(M, J, Q, gamma, null_space(J))


def dense(J: Jacobian) -> Float[Array, "m n"]:
    return J.dense() if isinstance(J, BlockJacobian) else J


def dense_product(M: Mass, J, a, lam):
    """M a + J' lam and J a."""
    M = M.dense() if isinstance(M, BlockDiagonal) else M
    return M @ a + J.T @ lam, J @ a


def deflated_solve(M: Mass, J, Q, gamma, fill: Float[Array, "m m"] | None):
    """a and a multiplier of M a + J' lam = Q, J a = gamma; fill = N N', where the columns of N span the null space of J', or None
    where it is not known."""
    if isinstance(M, BlockDiagonal) and M.inverses is not None:
        W = M.inverse_times(J)
        a_free = M.inverse_times(Q[None])[0]
    else:
        augmented, c = augmented_mass(M, J)
        factor = jsp.linalg.cho_factor(augmented, lower=True)
        W = jsp.linalg.cho_solve(factor, J.T).T
        a_free = jsp.linalg.cho_solve(factor, Q + c * (J.T @ gamma))
    S = W @ J.T
    D = row_scale(S)
    A, b = D[:, None] * S * D[None, :], D * (J @ a_free - gamma)
    if fill is None:
        x = proximal_solve(A, b)
    else:
        size = jnp.sum(jnp.diagonal(fill) / D**2)
        weight = jnp.where(size > 0, 1.0 / jnp.where(size > 0, size, 1.0), 0.0)  # of the size of S in these units
        factor = jsp.linalg.cho_factor(A + (weight / D)[:, None] * fill / D[None, :], lower=True)
        x = jsp.linalg.cho_solve(factor, b)
    lam = D * x
    return a_free - W.T @ lam, lam


def proximal_solve(A: Float[Array, "m m"], b: Float[Array, " m"]) -> Float[Array, " m"]:
    """x with A x = b for a semidefinite A with a diagonal of 1 and a consistent b."""
    factor = jsp.linalg.cho_factor(A + PROXIMAL * jnp.eye(b.size), lower=True)
    x = jsp.linalg.cho_solve(factor, b)
    for _ in range(REFINEMENTS):
        x = x + jsp.linalg.cho_solve(factor, b - A @ x)
    return x
