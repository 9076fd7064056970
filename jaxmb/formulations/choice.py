"""Every formulation behind one call, and several of them in one compiled program."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from ..errors import ModelError
from ..status import Status
from ..terms import Terms
from .base import Accel, Formulation, RateFormulation, Rates, all_finite
from .deflated import Deflated, NullSpace, null_space
from .pivots import Pivots


class Choice(eqx.Module):
    """One of several formulations by a number that is traced: a study compiles one program for all of them.

    Only the chosen one is executed, so timings are its own.
    """

    formulations: tuple[Formulation | RateFormulation, ...]
    index: Int[Array, ""]

    def __check_init__(self):
        for member in self.formulations:
            if getattr(member, "nonideal", None) is not None:
                raise ModelError(
                    f"{type(member).__name__}(nonideal=...) cannot be one of several formulations, whose constraint forces "
                    "would differ. Run it alone with simulate."
                )


def rates(
    formulation: Formulation | RateFormulation | Choice,
    terms: Terms,
    gamma: Float[Array, " m"],
    null: NullSpace | Pivots | None = None,
) -> Rates:
    """Accelerations and multipliers by any formulation, with the (stabilized) gamma; `null` is the null space nearby.

    The multipliers of `Deflated` are not the smallest here: a run does not need them.
    """
    if isinstance(formulation, Choice):
        branches = [lambda t, g, n, f=f: rates(f, t, g, n) for f in formulation.formulations]
        return jax.lax.switch(formulation.index, branches, terms, gamma, null)
    if isinstance(formulation, RateFormulation):
        return formulation.rates(terms.M, terms.J, terms.Q, gamma, terms.Phi, terms.Phi_dot)
    if isinstance(formulation, Deflated):
        nearby = null_space(terms.J) if null is None else null
        out = formulation.particular(terms.mass, terms.jacobian, terms.Q, gamma, nearby)
        finite = all_finite(*jax.tree.leaves(terms.jacobian), terms.Q, gamma)
        out = Accel(out.a, out.lam, Status.where(finite, out.status, Status.not_finite))
    else:
        out = formulation.solve(terms.M, terms.J, terms.Q, gamma)
    return Rates(jnp.zeros_like(out.a), out.a, out.lam, out.status)


def with_nonideal(formulation, terms: Terms, t, q, v) -> Terms:
    """The terms with the constraint force C(t, q, v) that does work, for a formulation that has one."""
    nonideal = getattr(formulation, "nonideal", None)
    if nonideal is None:
        return terms
    C = jnp.asarray(nonideal(t, q, v), float)
    return eqx.tree_at(lambda x: (x.Q, x.power), terms, (terms.Q + C, terms.power + jnp.dot(C, v)))
