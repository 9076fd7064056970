"""The generalized-alpha method on constrained mechanisms: second order, with as much numerical damping as wanted."""

from collections.abc import Callable
from typing import ClassVar

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from ..errors import ModelError
from ..formulations.choice import with_nonideal
from ..formulations.deflated import Deflated
from .field import Carried, Field
from .newton import field_of, newton, scaling

Scalar = Float[Array, ""]


class History(eqx.Module):
    """What a step leaves to the next one."""

    fresh: Bool[Array, ""]
    """Nothing has been left yet."""
    vdot: Float[Array, " n"]
    spread: Float[Array, " n"]
    """(a - vdot) / h: the algorithmic acceleration a belongs to the time t + (alpha_m - alpha_f) h, whatever the next h is."""
    jerk: Float[Array, " n"]
    """Mean rate of vdot in the last step."""
    dt: Scalar
    lam: Float[Array, " m"]
    power: Scalar
    M: Float[Array, "n n"]
    J: Float[Array, "m n"]
    slip: Float[Array, " n"]
    """With index 3 the speeds violate their constraints by h2 slip: a step of another length needs other speeds to start with,
    else the multipliers would have to make up for the difference."""


class GeneralizedAlpha(diffrax.AbstractAdaptiveSolver):
    """q1 = q0 * exp(h v0 + h2 ((1/2 - beta) a0 + beta a1)),  v1 = v0 + h ((1 - gamma) a0 + gamma a1),
    (1 - alpha_m) a1 + alpha_m a0 = (1 - alpha_f) vdot1 + alpha_f vdot0,  M vdot1 + J' lam1 = Q,  Phi(q1) = 0,
    for positions on any manifold [Arnold, Bruls and Cardona 2015, Numer. Math. 129].

    `spectral_radius` is what is left of an infinitely fast oscillation after a step: 1 damps nothing, 0 all of it. With
    `index=2` the speeds satisfy their constraints as well, for which positions get multipliers of their own,
    h v0 - J' eta (Gear, Gupta and Leimkuhler); with `index=3` speeds violate them by O(h2) and the multipliers of variable
    steps are rough. Redundant rows and a singular mass are allowed. For stiff mechanisms and for many constraints at moderate
    accuracy; `tolerance` of the Newton iteration is relative to displacements of 1 m or 1 rad.
    """

    spectral_radius: float = 0.8
    index: int = eqx.field(static=True, default=2)
    tolerance: float = eqx.field(static=True, default=1e-15)
    max_iterations: int = eqx.field(static=True, default=30)

    keeps_constraints: ClassVar[bool] = True
    term_structure: ClassVar = diffrax.AbstractTerm
    interpolation_cls: ClassVar = diffrax.ThirdOrderHermitePolynomialInterpolation

    def __check_init__(self):
        if isinstance(self.spectral_radius, float | int) and not 0 <= self.spectral_radius <= 1:
            raise ModelError(
                f"GeneralizedAlpha has spectral_radius={self.spectral_radius}; it must be between 0 (most damping) and 1 (none)."
            )
        if self.index not in (2, 3):
            raise ModelError(
                f"GeneralizedAlpha has index={self.index}. Use 2 (positions and speeds on the constraints) or 3 (positions)."
            )

    @property
    def alphas(self) -> tuple:
        """alpha_m and alpha_f [Chung and Hulbert 1993]."""
        rho = self.spectral_radius
        return (2 * rho - 1) / (rho + 1), rho / (rho + 1)

    @property
    def coefficients(self) -> tuple:
        """alpha_m, alpha_f, beta and gamma."""
        alpha_m, alpha_f = self.alphas
        gamma = 0.5 + alpha_f - alpha_m
        return alpha_m, alpha_f, 0.25 * (gamma + 0.5) ** 2, gamma

    def order(self, terms):
        return 2

    def error_order(self, terms):
        return 3

    def func(self, terms, t0, y0, args):
        return terms.vf(t0, y0, args)

    def init(self, terms, t0, t1, y0, args):
        v, lam, zero = jnp.zeros_like(y0[1]), jnp.zeros_like(args.null.D), jnp.zeros(())
        return History(jnp.ones((), bool), v, v, v, zero, lam, zero, jnp.eye(v.size), jnp.outer(lam, v), v)

    def _start(self, field: Field, t, q, v, h, carried: Carried) -> History:
        """From the exact acceleration and its rate, so that the multipliers are of second order from the first step on."""

        equations = field.at(carried)

        def motion(t, q, v):
            terms = with_nonideal(field.formulation, equations.terms(t, q, v), t, q, v)
            out = Deflated().particular(terms.mass, terms.J, terms.Q, terms.gamma, carried.null)
            return out.a, (out.lam, _power(field, terms, v, out.lam), terms.M, terms.J)

        vdot, rest = motion(t, q, v)
        rates = (jnp.ones_like(t), equations.qdot(q, v), vdot)
        jerk = jax.jvp(lambda *x: motion(*x)[0], (t, q, v), rates)[1]
        alpha_m, alpha_f, beta, _ = self.coefficients
        shift = alpha_m - alpha_f
        slip = jnp.zeros_like(v)
        if self.index == 3:
            q = equations.retract(q, h * v + h**2 / 2 * vdot + h**3 * (shift / 2 + beta) * jerk)
            slip = _smallest(equations.terms(t + h, q, v), carried.null, lambda terms: terms.Phi / h**3)
        return History(jnp.zeros((), bool), vdot, shift * jerk, jerk, jnp.zeros(()), *rest, slip)

    def step(self, terms, t0, t1, y0, args, solver_state: History, made_jump):
        field, null = field_of(terms), args.null
        equations = field.at(args)
        q0, v0, work, failure = y0
        t0, t1 = (jnp.asarray(t, float) for t in (t0, t1))
        h, n, m = t1 - t0, v0.size, null.D.size
        fresh = solver_state.fresh | made_jump
        last = jax.lax.cond(fresh, lambda: self._start(field, t0, q0, v0, h, args), lambda: solver_state)
        alpha_m, alpha_f, beta, gamma = self.coefficients
        a0 = last.vdot + h * last.spread
        v0 = v0 + (h**2 - last.dt**2) * last.slip
        units = scaling(last.M, last.J, null)
        E, D = units.E, units.D
        bh2 = beta * h**2
        push = (E**2)[:, None] * last.J.T * D[None, :]

        def end(z):
            x, lam = E * z[:n], last.lam + D * z[n : n + m] / bh2
            a1 = a0 + x / bh2
            vdot = ((1 - alpha_m) * a1 + alpha_m * a0 - alpha_f * last.vdot) / (1 - alpha_f)
            move = h * v0 + 0.5 * h**2 * a0 + x
            if self.index == 2:
                move = move - push @ z[n + m :]
            return equations.retract(q0, move), v0 + h * a0 + gamma / (beta * h) * x, vdot, a1, lam

        def rows(z):
            q, v, vdot, _, lam = end(z)
            at_end = with_nonideal(field.formulation, equations.terms(t1, q, v), t1, q, v)
            r = [E * bh2 * (at_end.M @ vdot + at_end.J.T @ lam - at_end.Q), D * at_end.Phi]
            if self.index == 2:
                # The speeds decide on lam, so their rows come where those of the positions are with index 3.
                r = [r[0], D * h * at_end.Phi_dot, r[1]]
            return jnp.concatenate(r), at_end.J

        def matrix(z):
            # The columns of lam are known.
            moving = lambda x: rows(jnp.concatenate([x[:n], z[n : n + m], x[n:]]))  # noqa: E731
            K, J = jax.jacfwd(moving, has_aux=True)(jnp.concatenate([z[:n], z[n + m :]]))
            lam = jnp.zeros((z.size, m)).at[:n].set(E[:, None] * J.T * D[None, :])
            return jnp.concatenate([K[:, :n], lam, K[:, n:]], axis=1)

        # An empty block for the displacements, then one for each kind of row.
        fill = jax.scipy.linalg.block_diag(jnp.zeros((n, n)), *[units.fill] * (4 - self.index))
        z, outcome = newton(
            lambda z: rows(z)[0],
            jnp.zeros(fill.shape[0]),
            fill,
            matrix=matrix,
            columns=fill.shape[0] - m,
            unit=units.unit,
            tolerance=self.tolerance,
            max_iterations=self.max_iterations,
        )
        q1, v1, vdot, a1, lam = end(z)
        at_end = with_nonideal(field.formulation, equations.terms(t1, q1, v1), t1, q1, v1)
        power = _power(field, at_end, v1, lam)
        jerk = (vdot - last.vdot) / h
        e_q, e_v = self._error(h, last, jerk)
        y1 = (q1, v1, work + 0.5 * h * (last.power + power), failure + h * outcome.status)
        error = (equations.qdot(q1, e_q), e_v, outcome.evaluations + 1 + 2 * fresh, jnp.zeros(()))
        slopes = [
            (h * equations.qdot(q, v), h * a, h * p, jnp.zeros(()))
            for q, v, a, p in ((q0, v0, last.vdot, last.power), (q1, v1, vdot, power))
        ]
        dense = {"y0": y0, "y1": y1, "k0": slopes[0], "k1": slopes[1]}
        slip = -_smallest(at_end, null, lambda terms: terms.Phi_dot / h**2) if self.index == 3 else last.slip
        history = History(jnp.zeros((), bool), vdot, (a1 - vdot) / h, jerk, h, lam, power, at_end.M, at_end.J, slip)
        return y1, error, dense, history, diffrax.RESULTS.successful

    def _error(self, h: Scalar, last: History, jerk):
        """The leading terms of the local error in position, h3 vddot, and in velocity, h3 vdddot."""
        alpha_m, alpha_f, beta, gamma = self.coefficients
        shift = alpha_m - alpha_f
        position = 1 / 6 - shift / 2 - beta
        velocity = 1 / 6 - (shift**2 / 2 + gamma * shift + gamma / 2)
        snap = 2 * (jerk - last.jerk) / (h + last.dt)
        return position * h**3 * jerk, velocity * h**3 * snap


class HHT(GeneralizedAlpha):
    """The method of Hilber, Hughes and Taylor: generalized-alpha with alpha_m = 0 and alpha_f = -alpha, -1/3 <= alpha <= 0.

    The smaller alpha, the more damping; its spectral radius is (1 + alpha) / (1 - alpha).
    """

    alpha: float = -0.05

    def __init__(self, alpha: float = -0.05, *, index: int = 2, tolerance: float = 1e-15, max_iterations: int = 30):
        if isinstance(alpha, float | int) and not -1 / 3 - 1e-12 <= alpha <= 0:
            raise ModelError(f"HHT has alpha={alpha}; it must be between -1/3 (most damping) and 0 (none).")
        self.alpha, self.index, self.tolerance, self.max_iterations = alpha, index, tolerance, max_iterations
        self.spectral_radius = (1 + alpha) / (1 - alpha)

    @property
    def alphas(self) -> tuple:
        return 0.0, -self.alpha


def _power(field: Field, terms, v, lam) -> Scalar:
    """As in `Field`: moving constraints do work."""
    return terms.power - jnp.dot(lam, terms.J @ v) if field.equations.rheonomic else terms.power


def _smallest(terms, null, residual: Callable):
    """The smallest displacement with J x = -residual."""
    return Deflated().particular(terms.mass, terms.J, jnp.zeros_like(terms.Q), -residual(terms), null).a
