"""Radau IIA: implicit Runge-Kutta steps that keep their order on stiff mechanisms."""

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.scipy as jsp
import numpy as np
from jaxtyping import Array, Float

from ..errors import ModelError
from .correcting import correct, root
from .implicit import Implicit, Slopes, Start
from .local import Local

Scalar = Float[Array, ""]


class Collocation:
    """Coefficients of Radau IIA with s stages, of order 2 s - 1 [Hairer and Wanner, IV.5 and IV.8]."""

    def __init__(self, stages: int):
        s, x = stages, np.polynomial.Polynomial([0, 1])
        self.c = np.sort(np.real((x ** (s - 1) * (x - 1) ** s).deriv(s - 1).roots()))
        self.c[-1] = 1.0
        powers = np.arange(1, s + 1)
        V = self.c[:, None] ** (powers - 1)
        # A integrates the polynomial through the slopes from 0 to each node.
        self.A = (self.c[:, None] ** powers / powers) @ np.linalg.inv(V)
        self.inverse = np.linalg.inv(self.A)
        eigenvalues, T = np.linalg.eig(self.A.astype(complex))
        order = np.argsort(np.abs(np.imag(eigenvalues)))
        alone = s % 2  # with an odd number of stages one eigenvalue is real
        kept = np.array([*order[:alone], *(k for k in order[alone:] if np.imag(eigenvalues[k]) > 0)])
        self.eigenvalues = eigenvalues[kept]
        self.T_inverse = np.linalg.inv(T)[kept]
        # The other eigenvectors are conjugate to those of the pairs: their share doubles the real part.
        self.T = T[:, kept] * np.array([1.0] * alone + [2.0] * (len(kept) - alone))
        self.gamma = float(self.eigenvalues[0].real)
        # The embedded formula has the weight gamma at the start and is of order s.
        self.e = np.linalg.solve(V.T, 1 / powers - self.gamma * (powers == 1)) - self.A[-1]
        self.nodes = np.concatenate([[0.0], self.c])

    def extrapolation(self, ratio: Scalar) -> Float[Array, "s nodes"]:
        """Weights of the values at 0 and the nodes of the last step, for the nodes of a step `ratio` times as long."""
        at = 1.0 + ratio * jnp.asarray(self.c)
        others = [(node, np.delete(self.nodes, j)) for j, node in enumerate(self.nodes)]
        return jnp.stack([jnp.prod((at[:, None] - o[None]) / (node - o)[None], axis=1) for node, o in others], axis=1)


class Stages(eqx.Module):
    """The equations of all stages: x_i = h sum a_ij k_j, u_i = u0 + h sum a_ij du_j/dt, where u is the speed that k = dx/dt
    makes."""

    local: Local
    t: Float[Array, " s"]
    u0: Float[Array, " nv"]
    hA: Float[Array, "s s"]

    def speeds(self, k: Float[Array, "s nv"]) -> Float[Array, "s nv"]:
        return jax.vmap(self.local.speed)(self.hA @ k, k)

    def __call__(self, k: Float[Array, "s nv"]) -> tuple[Float[Array, "s nv"], Float[Array, " s"]]:
        """What has to vanish, and the powers."""
        u, rate, power = jax.vmap(self._one)(self.t, self.hA @ k, k)
        return u - self.u0[None] - self.hA @ rate, power

    def _one(self, t, x, k):
        u = self.local.speed(x, k)
        rate, power, _ = self.local.rates(t, x, u)
        return u, rate, power

    def derivatives(self, k: Float[Array, "s nv"]):
        """Exact ones of what has to vanish, and of the powers, as matrices on k."""
        n, same = k.size, jnp.eye(self.t.size)
        at_x, at_k = (jax.vmap(jax.jacfwd(self._one, argnums=i))(self.t, self.hA @ k, k) for i in (1, 2))
        # Each stage depends on its own k, and on all of them through x.
        u, rate, power = (
            jnp.einsum("ab,a...j->a...bj", same, by_k) + jnp.einsum("ab,a...j->a...bj", self.hA, by_x)
            for by_x, by_k in zip(at_x, at_k, strict=True)
        )
        return (u - jnp.einsum("ac,cibj->aibj", self.hA, rate)).reshape(n, n), power.reshape(-1, n)


class Radau(Implicit):
    """Radau IIA with `stages` (2 to 7) stages, of order 2 stages - 1: the solver for stiff mechanisms, which `simulate` takes by
    itself when explicit steps are bound by stability.

    L-stable. On stiff mechanisms the order of other implicit methods falls to that of their stages, and that of this one stays
    [Hairer and Wanner, VI and VII].
    """

    stages: int = eqx.field(static=True, default=3)
    max_iterations: int = eqx.field(static=True, default=15)
    dof: int | None = eqx.field(static=True, default=None)
    rtol: Scalar = eqx.field(converter=lambda x: jnp.asarray(x, float), default=1e-8)
    atol: Scalar = eqx.field(converter=lambda x: jnp.asarray(x, float), default=1e-8)

    def __check_init__(self):
        if not 2 <= self.stages <= 7:
            raise ModelError(f"Radau has stages={self.stages}; give a number from 2 to 7.")

    def order(self, terms):
        return 2 * self.stages - 1

    def error_order(self, terms):
        return self.stages + 1

    @property
    def evaluations_each(self):
        return self.stages

    def no_history(self, n):
        """Speeds at the nodes of the last step, and its length."""
        return jnp.zeros((self.stages + 1, n)), jnp.zeros(())

    def remember(self, dt, u0, slopes):
        rest = u0[None] + dt * jnp.asarray(Collocation(self.stages).A) @ slopes.u[1:]
        return jnp.concatenate([u0[None], rest]), dt

    def attempt(self, start, jacobian, history):
        method, (last, last_dt) = Collocation(self.stages), history
        dt, u0 = start.dt, start.u
        known = last_dt > 0
        ahead = method.extrapolation(jnp.where(known, dt / jnp.where(known, last_dt, 1.0), 1.0)) @ last
        guess = jnp.where(known, ahead + (u0 - last[-1])[None], u0[None])
        factors = jax.vmap(jsp.linalg.lu_factor)(_matrices(dt * method.eigenvalues, jacobian))

        def correction(residual):
            z = jax.vmap(jsp.linalg.lu_solve)(factors, jnp.asarray(method.T_inverse) @ residual)
            return -jnp.real(jnp.asarray(method.T) @ z)

        return correct(_stages(method, start), guess, correction, self.scale(start)[None], self.max_iterations)

    def finish(self, start, found):
        method = Collocation(self.stages)
        stages = _stages(method, start)
        k, power = root(stages, found.k, found.power)
        du = jnp.asarray(method.inverse) @ (stages.speeds(k) - start.u[None]) / start.dt
        pairs = ((start.u, k), (start.du, du), (start.power, power))
        slopes = Slopes(*(jnp.concatenate([first[None], rest]) for first, rest in pairs))
        return slopes, jnp.asarray(np.concatenate([[0.0], method.A[-1]]))

    def estimate(self, dt, slopes, jacobian):
        """Filtered as the steps are, so that what is stiff does not count [Hairer and Wanner, IV.8]."""
        method = Collocation(self.stages)
        g = dt * method.gamma
        weights = jnp.asarray(np.concatenate([[method.gamma], method.e]))
        e_x, e_u = (dt * weights @ k for k in (slopes.x, slopes.u))
        e_u = jnp.linalg.solve(_matrices(g, jacobian), e_u + g * (jacobian.A_x @ e_x))
        return e_x + g * e_u, e_u


def _matrices(g, jacobian) -> Array:
    """I - g A_u - g^2 A_x, for one g or several."""

    def matrix(g):
        return jnp.eye(jacobian.A_u.shape[0]) - g * jacobian.A_u - g**2 * jacobian.A_x

    g = jnp.asarray(g)
    return matrix(g) if g.ndim == 0 else jax.vmap(matrix)(g)


def _stages(method: Collocation, start: Start) -> Stages:
    times = start.t + start.dt * jnp.asarray(method.c)
    return Stages(start.local, times, start.u, start.dt * jnp.asarray(method.A))
