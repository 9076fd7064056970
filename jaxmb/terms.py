"""The equations of motion at one instant."""

import abc

import equinox as eqx
import jax.numpy as jnp
import jax.scipy as jsp
from jaxtyping import Array, Float

from .jacobian import BlockJacobian
from .spatial import turn


class BlockDiagonal(eqx.Module):
    """A mass matrix as blocks of equal size per group of bodies, with their inverses when it is regular."""

    blocks: tuple[Float[Array, "_ _ _"], ...]
    inverses: tuple[Float[Array, "_ _ _"], ...] | None

    def dense(self) -> Float[Array, "n n"]:
        return jsp.linalg.block_diag(*(block for group in self.blocks for block in group))

    def times(self, x: Float[Array, " n"]) -> Float[Array, " n"]:
        """M x."""
        parts, start = [], 0
        for blocks in self.blocks:
            count, size, _ = blocks.shape
            part = x[start : start + count * size].reshape(count, size)
            parts.append(turn(blocks, part).reshape(-1))
            start += count * size
        return jnp.concatenate(parts)

    def inverse_times(self, X: Float[Array, "m n"]) -> Float[Array, "m n"]:
        """X M^-1, for rows X."""
        parts, start = [], 0
        for inverse in self.inverses or ():
            count, size, _ = inverse.shape
            part = X[:, start : start + count * size].reshape(-1, count, size)
            parts.append(jnp.einsum("mbi,bij->mbj", part, inverse).reshape(X.shape[0], count * size))
            start += count * size
        return jnp.concatenate(parts, axis=1)


class Terms(eqx.Module):
    """M a + J' lam = Q, J a = gamma, and the constraints Phi and their rates Phi_dot = J v + Phi_t."""

    mass: BlockDiagonal | Float[Array, "n n"]
    Phi: Float[Array, " m"]
    jacobian: BlockJacobian | Float[Array, "m n"]
    Phi_dot: Float[Array, " m"]
    gamma: Float[Array, " m"]
    Q: Float[Array, " n"]
    power: Float[Array, ""]
    """Power (W) of the applied forces beyond what their potential energy accounts for."""

    @property
    def M(self) -> Float[Array, "n n"]:
        return self.mass.dense() if isinstance(self.mass, BlockDiagonal) else self.mass

    @property
    def J(self) -> Float[Array, "*batch m n"]:
        return self.jacobian.dense() if isinstance(self.jacobian, BlockJacobian) else self.jacobian


class Equations(eqx.Module):
    """What every way to write a mechanism comes down to; all that follows (formulations, integrators, analyses) sees
    this."""

    @property
    @abc.abstractmethod
    def row_names(self) -> tuple[str, ...]:
        """Name of each constraint row, as 'joint.row'."""

    @property
    @abc.abstractmethod
    def speed_names(self) -> tuple[str, ...]:
        """Name of each speed."""

    @property
    def rheonomic(self) -> bool:
        """Whether a constraint depends on time by itself, so that constraint forces may do work."""
        return True

    @abc.abstractmethod
    def terms(self, t: Float[Array, ""], q: Float[Array, " nq"], v: Float[Array, " nv"]) -> Terms:
        """The terms at one instant."""

    def qdot(self, q: Float[Array, " nq"], v: Float[Array, " nv"]) -> Float[Array, " nq"]:
        """Rate of the positions."""
        return v

    def retract(self, q: Float[Array, " nq"], dv: Float[Array, " nv"]) -> Float[Array, " nq"]:
        """The positions reached by a small displacement dv."""
        return q + dv

    def chart(self, q: Float[Array, " nq"], x: Float[Array, " nv"]) -> Float[Array, " nq"]:
        """The positions at the local coordinates x around q (see `Coordinates`, as for the next four)."""
        return self.retract(q, x)

    def chart_speed(
        self, q: Float[Array, " nq"], x: Float[Array, " nv"], rate: Float[Array, " nv"]
    ) -> Float[Array, " nv"]:
        """The speeds u at the local coordinates x, which change at `rate`."""
        return rate

    def to_axes(self, q: Float[Array, " nq"], v: Float[Array, " nv"]) -> Float[Array, " nv"]:
        """Speeds in axes that go with the bodies."""
        return v

    def from_axes(self, q: Float[Array, " nq"], u: Float[Array, " nv"]) -> Float[Array, " nv"]:
        """The inverse of `to_axes`."""
        return u

    def drift(self, q: Float[Array, " nq"], u: Float[Array, " nv"]) -> Float[Array, " nv"]:
        """to_axes(q, a) = du/dt + drift(q, u)."""
        return jnp.zeros_like(u)

    def regularity(self, q: Float[Array, " nq"]) -> Float[Array, " k"]:
        """Signed measures that vanish where the coordinates are singular."""
        return jnp.ones(1)

    @abc.abstractmethod
    def energies(self, q: Float[Array, " nq"], v: Float[Array, " nv"]) -> tuple[Float[Array, ""], Float[Array, ""]]:
        """Kinetic and potential energy (J)."""
