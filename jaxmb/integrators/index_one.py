"""The two index-1 DAE forms of Kurz, Burkhardt and Eberhard, with the multipliers as unknowns of an implicit method."""

from collections.abc import Callable
from typing import Any, ClassVar

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import jax.scipy as jsp
import numpy as np
from jaxtyping import Array, Bool, Float

from ..errors import ModelError
from ..formulations.choice import with_nonideal
from ..formulations.deflated import Deflated, augmented_mass
from .field import Carried, Field
from .newton import Scaling, field_of, newton, scaling

#: Seven stages, the first explicit, the last one the end of the step; order 5, error estimate of order 4 [Kvaerno 2004].
TABLEAU: Any = diffrax.Kvaerno5.tableau
GAMMA = float(TABLEAU.a_diagonal[-1])
STAGES = len(TABLEAU.b_sol)


class Algebraic(eqx.Module):
    """The unknowns without rates, carried from step to step."""

    fresh: Bool[Array, ""]
    a: Float[Array, " n"]
    lam: Float[Array, " m"]


class IndexOneDAE(diffrax.AbstractAdaptiveSolver):
    """The constrained motion as a DAE of index 1 instead of an ODE, by a stiffly accurate implicit Runge-Kutta method of order 5.

    `form="explicit"`: diag(I, I, 0) d/dt (q, v, lam) = (qdot, a, J a - gamma) with a = M^-1 (Q - J' lam) [KBE 2011, eq. 9];
    `form="implicit"`: diag(I, I, 0, 0) d/dt (q, v, a, lam) = (qdot, a, M a + J' lam - Q, J a - gamma) [eq. 10, "partial
    explicit"]. Our lam is minus theirs.

    The constraints enter as accelerations, so positions drift as in every index-1 form unless a stabilization is given. In
    redundant rows -N N' lam is added to J a - gamma, which makes N' lam = 0. Where M is singular, M + c J'J takes its place. For
    the comparison of formulations; for stiff mechanisms `GeneralizedAlpha` is cheaper.
    """

    form: str = eqx.field(static=True, default="implicit")
    tolerance: float = eqx.field(static=True, default=1e-15)
    max_iterations: int = eqx.field(static=True, default=30)

    keeps_constraints: ClassVar[bool] = False
    term_structure: ClassVar = diffrax.AbstractTerm
    interpolation_cls: ClassVar = diffrax.ThirdOrderHermitePolynomialInterpolation

    def __check_init__(self):
        if self.form not in ("explicit", "implicit"):
            raise ModelError(f"IndexOneDAE has form='{self.form}'. Use 'explicit' (eq. 9) or 'implicit' (eq. 10).")

    def order(self, terms):
        return 5

    def func(self, terms, t0, y0, args):
        return terms.vf(t0, y0, args)

    def init(self, terms, t0, t1, y0, args):
        return Algebraic(jnp.ones((), bool), jnp.zeros_like(y0[1]), jnp.zeros_like(args.null.D))

    def step(self, terms, t0, t1, y0, args, solver_state: Algebraic, made_jump):
        field = field_of(terms)
        q0, v0, work, failure = y0
        t0, h = jnp.asarray(t0, float), jnp.asarray(t1 - t0, float)
        stage = _Stage(self.form, field, args, h)
        at_start = stage.terms(t0, q0, v0)
        fresh = solver_state.fresh | made_jump | field.stabilization.corrects
        begin = jax.lax.cond(fresh, lambda: stage.consistent(at_start), lambda: solver_state)
        units = jax.lax.stop_gradient(scaling(at_start.M, at_start.J, args.null))
        guess = stage.pack(units, begin)
        nothing = jnp.zeros((guess.size, guess.size))

        def near(z):
            return stage.residual(units, t0, q0, v0 - GAMMA * h * begin.a, z)

        factor = jsp.linalg.lu_factor(jax.lax.stop_gradient(jax.jacfwd(near)(guess)))

        def solve(carry, row):
            slopes, last = carry
            k, weights, c = row
            base_q, base_v = (y + h * jnp.tensordot(weights, s, 1) for y, s in zip((q0, v0), slopes[:2], strict=True))
            t = t0 + c * h
            z, outcome = newton(
                lambda z: stage.residual(units, t, base_q, base_v, z),
                stage.pack(units, last),
                nothing,
                first=factor,
                unit=units.unit,
                tolerance=self.tolerance,
                max_iterations=self.max_iterations,
            )
            q, v, found, at = stage.unpack(units, t, base_q, base_v, z)
            new = stage.slopes(q, v, found, at)
            slopes = tuple(s.at[k].set(x) for s, x in zip(slopes, new, strict=True))
            return (slopes, found), (q, v, outcome)

        first = stage.slopes(q0, v0, begin, at_start)
        slopes = tuple(jnp.zeros((STAGES, *jnp.shape(x))).at[0].set(x) for x in first)
        lower = np.zeros((STAGES - 1, STAGES))
        for k, row in enumerate(TABLEAU.a_lower):
            lower[k, : len(row)] = row
        rows = (np.arange(1, STAGES), lower, np.asarray(TABLEAU.c))
        (slopes, found), (qs, vs, outcome) = jax.lax.scan(solve, (slopes, begin), jax.tree.map(jnp.asarray, rows))
        q1, v1 = qs[-1], vs[-1]
        worst = jnp.max(outcome.status)
        b = h * jnp.asarray(TABLEAU.b_sol)
        y1 = (q1, v1, work + jnp.dot(b, slopes[2]), failure + h * worst)
        e_q, e_v = (h * jnp.tensordot(jnp.asarray(TABLEAU.b_error), s, 1) for s in slopes[:2])
        evaluations = jnp.sum(outcome.evaluations) + STAGES + guess.size
        k0, k1 = ((*(h * s[k] for s in slopes), jnp.zeros(())) for k in (0, -1))
        dense = {"y0": y0, "y1": y1, "k0": k0, "k1": k1}
        return y1, (e_q, e_v, evaluations, jnp.zeros(())), dense, found, diffrax.RESULTS.successful


class _Stage(eqx.Module):
    """The equations of one stage, base + gamma h (rates) = state, in the scaled unknowns z = (displacements, multipliers)."""

    form: str = eqx.field(static=True)
    field: Field
    carried: Carried
    h: Float[Array, ""]

    def terms(self, t, q, v):
        return with_nonideal(self.field.formulation, self.field.at(self.carried).terms(t, q, v), t, q, v)

    def consistent(self, terms) -> Algebraic:
        gamma = self.field.stabilization.bias(terms)
        out = Deflated().particular(terms.mass, terms.J, terms.Q, gamma, self.carried.null)
        return Algebraic(jnp.zeros((), bool), out.a, out.lam)

    def pack(self, units: Scaling, x: Algebraic) -> Float[Array, " k"]:
        return (GAMMA * self.h) ** 2 * jnp.concatenate([x.a / units.E, x.lam / units.D])

    def unpack(self, units: Scaling, t, base_q, base_v, z):
        c, n = GAMMA * self.h, base_v.size
        a, lam = units.E * z[:n] / c**2, units.D * z[n:] / c**2
        equations = self.field.at(self.carried)
        v = base_v + c * a
        q = base_q + _turned(lambda q: c * equations.qdot(q, v), base_q)
        at = self.terms(t, *self.field.stabilization.field(equations, t, q, v, self.carried.null, self.carried.memory))
        return q, v, Algebraic(jnp.zeros((), bool), a, lam), at

    def residual(self, units: Scaling, t, base_q, base_v, z):
        E, D, c2 = units.E, units.D, (GAMMA * self.h) ** 2
        _, _, x, at = self.unpack(units, t, base_q, base_v, z)
        gamma = self.field.stabilization.bias(at)
        if self.form == "explicit":
            M, c = augmented_mass(at.mass, at.J)
            a = jnp.linalg.solve(M, at.Q + c * (at.J.T @ gamma) - at.J.T @ x.lam)
            balance = (x.a - a) / E
        else:
            a = x.a
            balance = E * (at.M @ a + at.J.T @ x.lam - at.Q)
        rows = c2 * D * (at.J @ a - gamma) + units.fill @ z[base_v.size :]
        return jnp.concatenate([c2 * balance, rows])

    def slopes(self, q, v, x: Algebraic, at):
        power = at.power
        if self.field.equations.rheonomic:  # as in `Field`: moving constraints do work
            power = power - jnp.dot(x.lam, at.J @ v)
        return self.field.at(self.carried).qdot(q, v), x.a, power


def _turned(rate: Callable, base: Float[Array, " nq"]) -> Float[Array, " nq"]:
    """x = rate(base + x). Either the rates do not depend on the positions, or W = d rate/dq turns quaternions: then W^2 is minus
    a diagonal matrix, s2 for a body that spins by sqrt(s2), and (1 - W)^-1 = (1 + W) / (1 + s2)."""
    still = rate(jnp.zeros_like(base))

    def W(x):
        return rate(x) - still

    b = rate(base)
    return (b + W(b)) / (1.0 - W(W(jnp.ones_like(base))))
