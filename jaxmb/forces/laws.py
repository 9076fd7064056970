"""Scalar laws f(x, xdot, t): one spring serves a length, an angle or a bushing axis.

f is positive when it reduces x (a tension for a length, a restoring torque for an angle).
"""

import abc
from collections.abc import Callable, Sequence

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..errors import ModelError, is_concrete
from ..functions import as_function

Scalar = Float[Array, ""]


class Law(eqx.Module):
    """Base of the scalar laws."""

    @abc.abstractmethod
    def __call__(self, x: Scalar, xdot: Scalar, t: Scalar) -> Scalar:
        """The force (N, or N m for an angle)."""

    def energy(self, x: Scalar) -> Scalar:
        """Potential energy (J) of the conservative part; what is not in it is counted as work."""
        return jnp.zeros(())

    def __add__(self, other: "Law") -> "Law":
        return Sum((self, other))


class Linear(Law):
    """stiffness (x - free) + damping xdot + preload (N/m or N m/rad, N s/m or N m s/rad)."""

    stiffness: Scalar = eqx.field(converter=lambda x: jnp.asarray(x, float), default=0.0)
    damping: Scalar = eqx.field(converter=lambda x: jnp.asarray(x, float), default=0.0)
    free: Scalar = eqx.field(converter=lambda x: jnp.asarray(x, float), default=0.0)
    preload: Scalar = eqx.field(converter=lambda x: jnp.asarray(x, float), default=0.0)

    def __call__(self, x, xdot, t):
        return self.stiffness * (x - self.free) + self.damping * xdot + self.preload

    def energy(self, x):
        return 0.5 * self.stiffness * (x - self.free) ** 2 + self.preload * x


class Table(Law):
    """Straight lines through the points (at, force), continued beyond the ends; over x, or with `of="rate"` over
    xdot."""

    at: Float[Array, " n"]
    force: Float[Array, " n"]
    of: str = eqx.field(static=True)

    def __init__(self, at, force, *, of: str = "position"):
        self.at, self.force, self.of = jnp.asarray(at, float), jnp.asarray(force, float), of
        if of not in ("position", "rate"):
            raise ModelError(f"Table is over of='{of}', which is neither 'position' nor 'rate'. Use one of them.")
        if self.at.ndim != 1 or self.at.shape != self.force.shape or self.at.size < 2:
            raise ModelError(
                f"Table needs two lists of equal length, at least 2, but got {self.at.shape} and {self.force.shape}."
            )
        if is_concrete(self.at) and not np.all(np.diff(np.asarray(self.at)) > 0):
            raise ModelError(
                f"Table has positions {np.asarray(self.at).tolist()}; they must increase strictly. Sort them."
            )

    def _segment(self, x):
        i = jnp.clip(jnp.searchsorted(self.at, x) - 1, 0, self.at.size - 2)
        slope = (self.force[i + 1] - self.force[i]) / (self.at[i + 1] - self.at[i])
        return i, slope

    def __call__(self, x, xdot, t):
        argument = x if self.of == "position" else xdot
        i, slope = self._segment(argument)
        return self.force[i] + slope * (argument - self.at[i])

    def energy(self, x):
        if self.of == "rate":
            return jnp.zeros(())
        areas = 0.5 * (self.force[1:] + self.force[:-1]) * jnp.diff(self.at)
        below = jnp.concatenate([jnp.zeros(1), jnp.cumsum(areas)])
        i, slope = self._segment(x)
        dx = x - self.at[i]
        return below[i] + self.force[i] * dx + 0.5 * slope * dx**2


class Branches(Law):
    """One law below the first bound, the next up to the second, and so on: `Branches([0.1], [soft, stiff])`.

    Each is a law or a function (x, xdot, t). The integrator meets a kink or a jump at the bounds unless they join
    smoothly.
    """

    bounds: Float[Array, " n"]
    laws: tuple[Callable, ...]

    def __init__(self, bounds: Sequence, laws: Sequence):
        self.bounds = jnp.asarray(bounds, float)
        self.laws = tuple(as_function(law) for law in laws)
        if self.bounds.ndim != 1 or len(self.laws) != self.bounds.size + 1:
            raise ModelError(
                f"Branches has {len(self.laws)} laws and {self.bounds.size} bounds; n bounds separate n + 1 laws."
            )
        if is_concrete(self.bounds) and not np.all(np.diff(np.asarray(self.bounds)) > 0):
            raise ModelError(
                f"Branches has bounds {np.asarray(self.bounds).tolist()}; they must increase strictly. Sort them."
            )

    def __call__(self, x, xdot, t):
        values = jnp.stack([jnp.asarray(law(x, xdot, t), float) for law in self.laws])
        return values[jnp.searchsorted(self.bounds, x)]


class Actuator(Law):
    """A given force over time, `function(t)`."""

    function: Callable = eqx.field(converter=as_function)

    def __call__(self, x, xdot, t):
        return jnp.asarray(self.function(t), float)


class UserLaw(Law):
    """A function (x, xdot, t) of the user's own."""

    function: Callable = eqx.field(converter=as_function)

    def __call__(self, x, xdot, t):
        return jnp.asarray(self.function(x, xdot, t), float)


class Sum(Law):
    """Laws side by side."""

    laws: tuple[Law, ...]

    def __call__(self, x, xdot, t):
        return sum((law(x, xdot, t) for law in self.laws), jnp.zeros(()))

    def energy(self, x):
        return sum((law.energy(x) for law in self.laws), jnp.zeros(()))


def as_law(law) -> Law:
    """A law as it is, or a function (x, xdot, t) as one."""
    return law if isinstance(law, Law) else UserLaw(law)
