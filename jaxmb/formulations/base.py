"""What a formulation is, and the one derivative rule that serves every exact one.

A formulation solves M a + J' lam = Q, J a = gamma for one instant. It knows nothing of joints, time or stabilization.
"""

import abc
from collections.abc import Callable
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Bool, Float, ScalarLike

from ..status import Status

#: Singular values of J below this fraction of the largest one count as zero. True ones of a mechanism away from a
#: singular configuration are above 1e-3, redundant ones grow with the constraint violation (|Phi| = 1e-4 gives 3e-7).
#: J M^-1 J' and the KKT matrix contain their squares, so the fraction is RANK_TOLERANCE**2 there.
RANK_TOLERANCE = 1e-6


class Accel(eqx.Module):
    """Accelerations `a` and multipliers `lam` (forces on the constraints, sign of M a + J' lam = Q).

    Both are NaN unless `status` is successful: a failure is never a plausible number.
    """

    a: Float[Array, " n"]
    lam: Float[Array, " m"]
    status: Status


class Rates(eqx.Module):
    """`Accel` of a formulation that also moves positions: qdot = N(q) (v + dv), vdot = a."""

    dv: Float[Array, " n"]
    a: Float[Array, " n"]
    lam: Float[Array, " m"]
    status: Status


class Declarations(eqx.Module):
    """What a formulation says of itself; tests and messages read it."""

    exact: ClassVar[bool] = True
    """Solves the equations themselves rather than a penalised version of them."""
    tolerates_redundancy: ClassVar[bool]
    """Right for dependent (consistent) constraint rows."""
    tolerates_singular_mass: ClassVar[bool]
    """Right for a singular M that is positive definite on the null space of J."""
    gives_multipliers: ClassVar[bool] = True
    """`lam` is the minimum-norm multiplier; otherwise it is an approximation."""
    needs_dof: ClassVar[bool] = False
    """Array shapes depend on the number of degrees of freedom, so it must be a Python int (field `dof`)."""


class Formulation(Declarations):
    """Base of the formulations that give accelerations; a subclass writes `_solve` and declares what it can do."""

    @abc.abstractmethod
    def _solve(
        self, M: Float[Array, "n n"], J: Float[Array, "m n"], Q: Float[Array, " n"], gamma: Float[Array, " m"]
    ) -> Accel:
        """The paper's formula. What it returns with a failure need not be NaN; `solve` sees to that."""

    def _fix_shapes(self, J: Float[Array, "m n"]) -> "Formulation":
        """This formulation with every Python number its array shapes depend on (see `NullSpaceFormulation`)."""
        return self

    def solve(
        self, M: Float[Array, "n n"], J: Float[Array, "m n"], Q: Float[Array, " n"], gamma: Float[Array, " m"]
    ) -> Accel:
        """Accelerations and multipliers of M a + J' lam = Q, J a = gamma.

        Exact formulations are differentiated through these equations and not through their algorithm (see `implicit`).
        """
        algorithm = self._fix_shapes(J)._solve
        out = implicit(algorithm, M, J, Q, gamma) if self.exact else algorithm(M, J, Q, gamma)
        lam = out.lam
        if self.exact and self.tolerates_redundancy:
            # Dead code under jit if lam is not used.
            lam = minimum_norm(J, lam)
        status = first_failure((all_finite(M, J, Q, gamma), Status.not_finite), otherwise=out.status)
        return Accel(mask(status, out.a), mask(status, lam), status)


class RateFormulation(Declarations):
    """Base of the formulations that act on positions and rates too; a subclass writes `_rates`."""

    @abc.abstractmethod
    def _rates(
        self,
        M: Float[Array, "n n"],
        J: Float[Array, "m n"],
        Q: Float[Array, " n"],
        gamma: Float[Array, " m"],
        Phi: Float[Array, " m"],
        Phi_dot: Float[Array, " m"],
    ) -> Rates:
        """The paper's formula."""

    def rates(
        self,
        M: Float[Array, "n n"],
        J: Float[Array, "m n"],
        Q: Float[Array, " n"],
        gamma: Float[Array, " m"],
        Phi: Float[Array, " m"],
        Phi_dot: Float[Array, " m"],
    ) -> Rates:
        """Rates of positions and velocities: qdot = N(q) (v + dv), vdot = a, with Phi_dot = J v + Phi_t."""
        out = self._rates(M, J, Q, gamma, Phi, Phi_dot)
        finite = all_finite(M, J, Q, gamma, Phi, Phi_dot)
        status = first_failure((finite, Status.not_finite), otherwise=out.status)
        return Rates(mask(status, out.dv), mask(status, out.a), mask(status, out.lam), status)


def implicit(
    algorithm: Callable[..., Accel],
    M: Float[Array, "n n"],
    J: Float[Array, "m n"],
    Q: Float[Array, " n"],
    gamma: Float[Array, " m"],
) -> Accel:
    """Run `algorithm`, but differentiate the problem it solves.

    K (a, lam) = (Q, gamma) with K = [M J'; J 0] gives K (da, dlam) = (dQ - dM a - dJ' lam, dgamma - dJ a): the same
    system with another right-hand side, so the algorithm itself solves it, and K being symmetric it also serves the
    transpose. Autodiff through a pivoted factorization, a truncated SVD or an iteration would be silently wrong when
    rows are dependent or singular values repeat. Constant rank nearby is assumed.
    """
    # A custom rule may outlive the trace it was made in, so it must not close over the algorithm's arrays.
    arrays, static = eqx.partition(algorithm, eqx.is_array)

    @jax.custom_jvp
    def run(arrays, M, J, Q, gamma):
        return eqx.combine(arrays, static)(M, J, Q, gamma)

    @run.defjvp
    def differentiate(primals, tangents):
        arrays, M, J, _, _ = primals
        _, dM, dJ, dQ, dgamma = tangents
        out = run(*primals)

        def K(x):
            return M @ x[0] + J.T @ x[1], J @ x[0]

        def solve(_, b):
            x = run(arrays, M, J, *b)
            return x.a, x.lam

        # The status is not an auxiliary output of this solve: those come out batched under any vmap, which jacfwd is.
        b = (dQ - dM @ out.a - dJ.T @ out.lam, dgamma - dJ @ out.a)
        da, dlam = jax.lax.custom_linear_solve(K, b, solve, symmetric=True)
        no_tangent = jax.tree.map(lambda x: np.zeros(jnp.shape(x), jax.dtypes.float0), out.status)
        return out, Accel(da, dlam, no_tangent)

    return run(arrays, M, J, Q, gamma)


def minimum_norm(J: Float[Array, "m n"], lam: Float[Array, " m"]) -> Float[Array, " m"]:
    """The smallest multiplier with the constraint force J' lam.

    With dependent rows the null space of J' turns with J, and K (da, dlam) = ... knows nothing of it: only this
    projection gives the minimum-norm lam its full derivative.
    """
    return J @ (jnp.linalg.pinv(J, rtol=RANK_TOLERANCE) @ lam)


def first_failure(*checks: tuple[Bool[Array, ""], Status], otherwise: Status = Status.successful) -> Status:
    """The status of the first pair (holds, status if not) that does not hold."""
    for holds, failure in reversed(checks):
        otherwise = Status.where(holds, otherwise, failure)
    return otherwise


def all_finite(*arrays: Float[Array, "..."]) -> Bool[Array, ""]:
    """Whether no entry is NaN or infinite (a sum with one is not finite either)."""
    return jnp.isfinite(sum(jnp.sum(x) for x in arrays))


def mask(status: Status, x: Float[Array, " k"]) -> Float[Array, " k"]:
    """`x`, or NaN unless the status is successful; a factor, because `where` would make a failure's derivative zero."""
    return x * jnp.where(status == Status.successful, 1.0, jnp.nan)


def require_positive(owner: eqx.Module, name: str, value: ScalarLike | None) -> None:
    """Raise unless `value` is positive; None (the automatic one) and traced values, which are not known, pass."""
    if value is None or isinstance(value, Tracer) or np.all(np.asarray(value) > 0):
        return
    raise ValueError(
        f"{type(owner).__name__}({name}={value}) needs a positive {name}, but {value} was given. Give a positive "
        "number, or leave it out for the default."
    )
