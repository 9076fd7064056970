"""Modified divided differences: what an Adams method knows of the past, on any grid of times.

With the times x_n > x_{n-1} > ..., the step h to x_{n+1} and a_i = (x_n - x_{n-i}) / h,

    Phi_j(n) = (x_n - x_{n-1}) ... (x_n - x_{n-j}) f[x_n, ..., x_{n-j}],     Phi*_j(n) = beta_j(n) Phi_j(n),
    Phi_j(n+1) = Phi_{j-1}(n+1) - Phi*_{j-1}(n),                             Phi_0(n) = f_n,

and the polynomial through the past is f(x_n + s h) = sum_j P_j(s) Phi*_j(n) with P_j(s) = prod_{i<j} (s + a_i) / (1 + a_i)
[Hairer, Norsett and Wanner I, III.5]. As no a_i is negative, the powers of s in P_j have weights that are positive with sum 1:
nothing cancels, and the integrals g_j of P_j over the step come from them directly.
"""

from math import factorial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float


def powers(a: Float[Array, " K"]) -> Float[Array, "m m"]:
    """Row j holds the weights of 1, s, s^2, ... in P_j."""

    def multiply(row, a_j):
        row = (jnp.roll(row, 1).at[0].set(0.0) + a_j * row) / (1.0 + a_j)
        return row, row

    first = jnp.zeros(a.size + 1).at[0].set(1.0)
    return jnp.concatenate([first[None], jax.lax.scan(multiply, first, a)[1]])


def integrals(P: Float[Array, "m m"]) -> Float[Array, " m"]:
    """g_j, the integral of P_j over the step."""
    return P @ (1.0 / jnp.arange(1.0, P.shape[1] + 1))


def growth(a: Float[Array, " K"]) -> Float[Array, " K"]:
    """beta_j, by which the differences grow towards the end of the step."""
    return jnp.concatenate([jnp.ones(1), jnp.cumprod((1.0 + a[:-1]) / a[1:])])


def differences(f: Float[Array, " n"], stars: Float[Array, "K n"]) -> Float[Array, "m n"]:
    """Phi_0 ... Phi_K at a time with the value f, from Phi*_0 ... Phi*_{K-1} at the time before."""
    return f[None] - jnp.concatenate([jnp.zeros_like(f)[None], jnp.cumsum(stars, axis=0)])


def rounding(noise: Float[Array, ""], stars: Float[Array, " K"]) -> Float[Array, " m"]:
    """A bound of the rounding errors of `differences`, where f has errors up to `noise`, and Phi* those up to `stars`."""
    return noise + jnp.concatenate([jnp.zeros(1), jnp.cumsum(stars)])


def span(a: Float[Array, " K"]) -> Float[Array, " m"]:
    """prod_{i<j} (1 + a_i): Phi_j(n+1) is this times h^j / j! times the j-th derivative of f, nearly."""
    return jnp.concatenate([jnp.ones(1), jnp.cumprod(1.0 + a)])


def truncation(g: Float[Array, " m"]) -> Float[Array, " m"]:
    """|g_j - g_{j-1}|: the error of order j is this times h Phi_j(n+1); entry 0 is without meaning."""
    return jnp.abs(g - jnp.roll(g, 1))


def uniform_truncation(K: int) -> np.ndarray:
    """`truncation` times `span` on a grid of equal steps, |gamma*_j| j!."""
    gamma = [1.0]  # sum_i gamma_i / (m + 1 - i) = 1
    for m in range(1, K + 1):
        gamma.append(1.0 - sum(gamma[i] / (m + 1 - i) for i in range(m)))
    step = [0.0, *(abs(gamma[j] - gamma[j - 1]) * factorial(j) for j in range(1, K + 1))]
    return np.asarray(step)
