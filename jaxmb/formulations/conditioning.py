"""Telling a small number from none, in any units: cut-offs, scales and factors that say whether they are regular."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, ScalarLike

#: An inertia below this fraction of the largest one counts as none. Real ones of one mechanism spread over 1e-9 (a
#: needle beside a vehicle), the inertia Euler parameters lack is at rounding level (1e-16).
MASS_TOLERANCE = 1e-12

#: A Cholesky pivot below this fraction of the largest entry is nothing but rounding.
ROUNDING = 1e-14


def factor(
    A: Float[Array, "k k"], tolerance: float = MASS_TOLERANCE, reference: Float[Array, "*k"] | None = None
) -> tuple[Float[Array, "k k"], Bool[Array, ""]]:
    """Cholesky factor L of a symmetric A = L L', and whether A is regular.

    It is if no pivot is negligible beside `reference`: the diagonal of A, unless A was computed from larger numbers,
    whose rounding may be all that is left of the diagonal.
    """
    L = jnp.linalg.cholesky(A)
    return L, jnp.all(jnp.diag(L) ** 2 > tolerance * (jnp.diag(A) if reference is None else reference))


def invert_kept(sizes: Float[Array, " k"], tolerance: float) -> Float[Array, " k"]:
    """1 / sizes, and 0 for those negligible beside the largest: the middle factor of a pseudoinverse.

    Apply the factors one after the other. Multiplied out, the pseudoinverse loses digits when masses are unequal (an
    error of 1e-5 instead of 1e-8 at a spread of 1e7).
    """
    kept = sizes > tolerance * jnp.max(sizes, initial=0.0)
    return jnp.where(kept, 1 / jnp.where(kept, sizes, 1.0), 0.0)


def magnitude(x: Float[Array, "..."]) -> Float[Array, ""]:
    """Largest absolute entry, 1 if there is none: divide by it and units no longer matter."""
    largest = jnp.max(jnp.abs(x), initial=0.0)
    return jnp.where(largest > 0, largest, 1.0)


def penalty(
    given: ScalarLike | None, automatic: float, M: Float[Array, "n n"], J: Float[Array, "m n"]
) -> Float[Array, ""]:
    """The penalty given, or `automatic` times the one that weighs J'J like M, which works in any units.

    A constant to derivatives, as if it had been given.
    """
    if given is not None:
        return jnp.asarray(given, float)
    return automatic * jax.lax.stop_gradient(magnitude(M) / magnitude(J) ** 2)
