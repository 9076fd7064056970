"""What keeps a run on its constraints. It knows nothing of formulations."""

from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from ..terms import Equations, Terms


class Corrected(eqx.Module):
    """Positions and speeds after a correction, what is carried to the next one, and the Newton iterations it took."""

    q: Float[Array, " nq"]
    v: Float[Array, " nv"]
    memory: Any
    iterations: Int[Array, ""]
    terms: Terms
    """At these positions (J and Phi are those of the end), but at speeds that may not be corrected yet."""


class Stabilization(eqx.Module):
    """Base of all stabilizations: a bias on gamma, a correction after each accepted step, or neither."""

    corrects: ClassVar[bool] = False
    """Whether `correct` does anything."""

    @property
    def restores(self) -> Bool[Array, ""]:
        """Whether a violation that is left after `correct` is a failure."""
        return jnp.asarray(self.corrects)

    def bias(self, terms: Terms) -> Float[Array, " m"]:
        """The gamma that the formulation is given."""
        return terms.gamma

    def start(self, equations: Equations, t: Float[Array, ""], q: Float[Array, " nq"], v: Float[Array, " nv"]) -> Any:
        """What is carried from step to step."""
        return ()

    def correct(
        self,
        equations: Equations,
        t: Float[Array, ""],
        q: Float[Array, " nq"],
        v: Float[Array, " nv"],
        terms: Terms,
        null: Any,
        memory: Any,
    ) -> Corrected:
        """The state moved back to the constraints; `terms` and `null` (a `NullSpace`, or the `Pivots` of a large
        mechanism) are those of the state given."""
        return Corrected(q, v, memory, jnp.zeros((), int), terms)

    def field(
        self,
        equations: Equations,
        t: Float[Array, ""],
        q: Float[Array, " nq"],
        v: Float[Array, " nv"],
        null: Any,
        memory: Any,
    ) -> tuple[Float[Array, " nq"], Float[Array, " nv"]]:
        """The state at which the right-hand side is evaluated."""
        return q, v


class NoStabilization(Stabilization):
    """The constraints hold at acceleration level only, so positions drift; for comparison."""
