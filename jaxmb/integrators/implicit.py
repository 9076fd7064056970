"""What the implicit Runge-Kutta methods for stiff mechanisms share."""

import abc
from typing import Any, ClassVar

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from ..status import Status, as_number
from .correcting import SLOW, Corrected
from .local import Local
from .newton import field_of

Scalar = Float[Array, ""]

#: Roots cannot be told apart that differ by less than about a hundredth of this.
ROUNDING = 1e-12


class Jacobian(eqx.Module):
    """Derivatives of du/dt with respect to x and u."""

    A_x: Float[Array, "nv nv"]
    A_u: Float[Array, "nv nv"]


class ImplicitState(eqx.Module):
    jacobian: Jacobian
    """Found in some step before."""
    stale: Bool[Array, ""]
    """Whether it is to be found anew."""
    history: Any
    """What the next step is guessed from."""


class Start(eqx.Module):
    """The start of a step of length dt."""

    local: Local
    t: Scalar
    dt: Scalar
    u: Float[Array, " nv"]
    du: Float[Array, " nv"]
    """Rate of u."""
    power: Scalar


class Slopes(eqx.Module):
    """dx/dt, du/dt and power at the start and at the stages of a step, and how the stages were found."""

    x: Float[Array, "stages nv"]
    u: Float[Array, "stages nv"]
    power: Float[Array, " stages"]


class Implicit(diffrax.AbstractAdaptiveSolver):
    """Base of the implicit Runge-Kutta methods.

    Steps are taken in local coordinates and axes that go with the bodies, where a stiff spring that turns with them stays what
    it is. The unknowns are as many as the speeds. The exact Jacobian is kept from step to step until corrections are slow with
    it; its columns are counted, two for each speed, or two for each degree of freedom where their number `dof` is known
    (`simulate` finds it outside of jit).
    """

    max_iterations: eqx.AbstractVar[int]
    dof: eqx.AbstractVar[int | None]
    rtol: eqx.AbstractVar[Scalar]
    atol: eqx.AbstractVar[Scalar]

    term_structure: ClassVar = diffrax.ODETerm
    interpolation_cls: ClassVar = diffrax.ThirdOrderHermitePolynomialInterpolation
    keeps_constraints: ClassVar[bool] = False

    @abc.abstractmethod
    def attempt(self, start: Start, jacobian: Jacobian, history: Any) -> Corrected:
        """Find the stages with a Jacobian that may be an old one."""

    @abc.abstractmethod
    def finish(self, start: Start, found: Corrected) -> tuple[Slopes, Float[Array, " stages"]]:
        """Slopes at the start and at the stages, differentiable, and the weights of all of them."""

    @abc.abstractmethod
    def estimate(self, dt, slopes: Slopes, jacobian: Jacobian) -> tuple[Float[Array, " nv"], Float[Array, " nv"]]:
        """Errors of x and u."""

    @abc.abstractmethod
    def remember(self, dt, u0, slopes: Slopes) -> Any:
        """What the next step is guessed from."""

    @abc.abstractmethod
    def no_history(self, n: int) -> Any:
        """The same before the first step."""

    def scale(self, start: Start) -> Float[Array, " nv"]:
        """What an error in the speeds is measured by, not less than what rounding lets a root be found to."""
        floor = ROUNDING * (jnp.max(jnp.abs(start.u)) + start.dt * jnp.max(jnp.abs(start.du)))
        return self.atol + self.rtol * jnp.abs(start.u) + floor

    def func(self, terms, t0, y0, args):
        return terms.vf(t0, y0, args)

    def init(self, terms, t0, t1, y0, args):
        n = y0[1].size
        zero = jnp.zeros((n, n))
        return ImplicitState(Jacobian(zero, zero), jnp.ones((), bool), self.no_history(n))

    def step(self, terms, t0, t1, y0, args, solver_state, made_jump):
        field, dt = field_of(terms), jnp.asarray(t1 - t0, float)
        q0, v0, work0, failure0 = y0
        equations, local = field.equations, Local(field, args, q0)
        u0 = equations.to_axes(q0, v0)
        t0 = jnp.asarray(t0, float)
        du0, power0, status = local.rates(t0, jnp.zeros_like(v0), u0)
        start = Start(local, t0, dt, u0, du0, power0)
        found, jacobian, evaluations = jax.lax.stop_gradient(self._find(start, solver_state, made_jump))
        slopes, weights = self.finish(start, found)
        x, du, work = (dt * jnp.tensordot(weights, k, 1) for k in (slopes.x, slopes.u, slopes.power))
        q1, u1 = equations.chart(q0, x), u0 + du
        v1 = equations.from_axes(q1, u1)
        failed = jnp.where(found.converged, 0.0, as_number(Status.newton_failure))
        failed = jax.lax.stop_gradient(jnp.where(status > 0, status, failed))
        y1 = (q1, v1, work0 + work, failure0 + dt * failed)
        e_x, e_u = (equations.from_axes(q1, e) for e in self.estimate(dt, slopes, jacobian))
        error = (equations.qdot(q1, e_x), e_u, evaluations, jnp.zeros(()))
        ends = ((q0, v0, u0, 0), (q1, v1, u1, -1))
        k0, k1 = (
            (equations.qdot(q, v), equations.from_axes(q, slopes.u[i] + equations.drift(q, u)), slopes.power[i], failed)
            for q, v, u, i in ends
        )
        dense = {"y0": y0, "y1": y1, "k0": jax.tree.map(lambda k: dt * k, k0), "k1": jax.tree.map(lambda k: dt * k, k1)}
        history = jax.lax.stop_gradient(self.remember(dt, u0, slopes))
        state = ImplicitState(jacobian, found.rate > SLOW, history)
        return y1, error, dense, state, diffrax.RESULTS.successful

    def _find(self, start: Start, state: ImplicitState, made_jump):
        """The stages; with the Jacobian at hand, and again with a fresh one where that does not do."""
        columns = 2.0 * (start.u.size if self.dof is None else self.dof)
        history = jax.tree.map(
            lambda old, none: jnp.where(made_jump, none, old), state.history, self.no_history(start.u.size)
        )

        def fresh():
            return Jacobian(*start.local.derivatives(start.t, start.u, self.dof))

        def go(carry):
            jacobian, keep, _, evaluations, _ = carry
            jacobian = jax.lax.cond(keep, lambda: jacobian, fresh)
            found = self.attempt(start, jacobian, history)
            evaluations = evaluations + jnp.where(keep, 0.0, columns) + found.count * self.evaluations_each
            return jacobian, jnp.zeros((), bool), found, evaluations, found.converged | ~keep

        shape = jax.eval_shape(lambda: self.attempt(start, state.jacobian, history))
        nothing = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), shape)
        keep = ~(state.stale | made_jump)
        begin = (state.jacobian, keep, nothing, jnp.ones(()), jnp.zeros((), bool))
        jacobian, _, found, evaluations, _ = jax.lax.while_loop(lambda carry: ~carry[-1], go, begin)
        return found, jacobian, evaluations

    @property
    @abc.abstractmethod
    def evaluations_each(self) -> int:
        """Evaluations of each correction that was counted."""
