"""Newton corrections with a matrix that is not quite the right one."""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

Scalar = Float[Array, ""]

#: Corrections end when the next one would be smaller than this part of the tolerance.
NEGLIGIBLE = 0.02
#: A matrix with which corrections shrink slower than SLOW is made anew for the next step; slower than SLOWEST they are given up.
SLOW, SLOWEST = 0.1, 0.9


class Corrected(eqx.Module):
    """A root, what was evaluated beside it, and how it was found."""

    k: Float[Array, "*stages nv"]
    power: Float[Array, "*stages"]
    count: Int[Array, ""]
    rate: Scalar
    """How corrections shrank: each to this part of the one before."""
    converged: Bool[Array, ""]


def correct(evaluate: Callable, guess, correction: Callable, scale, max_iterations: int) -> Corrected:
    """k with a vanishing residual, where `evaluate(k)` is (residual, power) and `correction(residual)` a step towards the root.
    Sizes are root mean squares in units of `scale`, the tolerance."""

    def left(size, last, count):
        """How corrections shrink, and what is left if they go on so; a single one is judged as if it had shrunk by half."""
        rate = jnp.where(count > 1, size / last, 0.5)
        return rate, size * rate / jnp.maximum(1.0 - rate, 1e-3)

    def goes_on(carry):
        _, _, size, last, count = carry
        rate, remaining = left(size, last, count)
        return (count == 0) | ((count < max_iterations) & (remaining > NEGLIGIBLE) & (rate < SLOWEST))

    def step(carry):
        k, _, size, _, count = carry
        residual, power = evaluate(k)
        dk = correction(residual)
        return k + dk, power, jnp.sqrt(jnp.mean((dk / scale) ** 2)), size, count + 1

    one = jnp.ones(())
    start = (guess, jnp.zeros(guess.shape[:-1]), one, one, jnp.zeros((), int))
    k, power, size, last, count = jax.lax.while_loop(goes_on, step, start)
    rate, remaining = left(size, last, count)
    converged = (remaining <= NEGLIGIBLE) & jnp.isfinite(size)
    return Corrected(k, power, count, jnp.where(count > 1, rate, 0.0), converged)


@eqx.filter_custom_jvp
def root(equation, k, power):
    """The root k of an equation and the power there, found before, as functions of the equation, which has `derivatives(k)`: the
    matrices of its residual and of its power on k."""
    return k, power


@root.def_jvp
def _(primals, tangents):
    """Of the equation, not of the corrections, which stop where they like and have an old matrix."""
    equation, k, power = primals
    _, (change, dpower) = eqx.filter_jvp(lambda equation: equation(k), (equation,), (tangents[0],))
    matrix, rows = equation.derivatives(k)
    dk = -jnp.linalg.solve(matrix, change.reshape(-1))
    return (k, power), (dk.reshape(k.shape), dpower + rows @ dk)
