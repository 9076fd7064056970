"""The equations of motion around the start of a step, in axes that go with the bodies."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from .field import Carried, Field

Scalar = Float[Array, ""]


class Local(eqx.Module):
    """Local coordinates x around q0 and speeds u (see `Coordinates.chart`). In them a mechanism that turns as a whole moves on a
    straight line at a constant speed, and the derivatives of stiff forces stay what they are."""

    field: Field
    carried: Carried
    q0: Float[Array, " nq"]

    def speed(self, x: Float[Array, " nv"], rate: Float[Array, " nv"]) -> Float[Array, " nv"]:
        """The speeds u that dx/dt = `rate` makes."""
        return self.field.equations.chart_speed(self.q0, x, rate)

    def rates(
        self, t: Scalar, x: Float[Array, " nv"], u: Float[Array, " nv"]
    ) -> tuple[Float[Array, " nv"], Scalar, Scalar]:
        """du/dt, power and the number of the status."""
        zero, equations = jnp.zeros(()), self.field.equations
        q = equations.chart(self.q0, x)
        y = (q, equations.from_axes(q, u), zero, zero)
        _, a, power, status = self.field(t, y, self.carried)
        return equations.to_axes(q, a) - equations.drift(q, u), power, status

    def derivatives(self, t, u, dof: int | None) -> tuple[Float[Array, "nv nv"], Float[Array, "nv nv"]]:
        """Of du/dt with respect to x and u, at x = 0, one evaluation for each of `columns`.

        With a known number of degrees of freedom only the motions that the joints allow are tried: others do not come up.
        """
        B = jnp.eye(u.size) if dof is None else self._free_motions(dof)
        still = jnp.zeros_like(u)

        def along(b):
            return [jax.jvp(lambda x, u: self.rates(t, x, u)[0], (still, u), d)[1] for d in ((b, still), (still, b))]

        A_x, A_u = jax.vmap(along, in_axes=1, out_axes=1)(B)
        return A_x @ B.T, A_u @ B.T

    def _free_motions(self, dof: int) -> Float[Array, "nv dof"]:
        """An orthonormal basis of the speeds u that the joints allow."""
        held = self.carried.null.Y
        in_axes = jax.vmap(lambda v: self.field.equations.to_axes(self.q0, v), in_axes=1, out_axes=1)(held)
        _, vectors = jnp.linalg.eigh(in_axes @ in_axes.T)
        return vectors[:, :dof]
