"""RATTLE: a time-symmetric method for long runs of mechanisms that conserve energy."""

from typing import ClassVar

import diffrax
import equinox as eqx
import jax.numpy as jnp

from ..formulations.choice import with_nonideal
from ..formulations.deflated import Deflated
from .newton import field_of, newton, scaling


class Rattle(diffrax.AbstractSolver):
    """M(q0) (v - v0) = h/2 (Q(t0, q0, v) - J(q0)' lam),  q1 = q0 * exp(h v),  Phi(q1) = 0,
    M(q1) (v1 - v) = h/2 (Q(t1, q1, v) - J(q1)' mu),  Phi_dot(q1, v1) = 0
    with the speeds v at half the step [Andersen 1983; Hairer, Lubich and Wanner, Geometric Numerical Integration, VII.1.4].

    Exchanging the ends of a step gives the same step with -h, on any coordinates. So a conservative mechanism, which runs
    backwards as well as forwards, keeps its energy within a band of width O(h2) for ever, where other methods gain or lose
    some in every step. With constant M and forces of position it is symplectic too. Positions and speeds are on the constraints,
    redundant or not. Second order for all forces; steps are fixed (`simulate(..., dt=h)`), because steps that follow an error
    estimate would break the symmetry. For forces that are stiff or damp strongly use `GeneralizedAlpha`.
    """

    tolerance: float = eqx.field(static=True, default=1e-15)
    max_iterations: int = eqx.field(static=True, default=50)

    keeps_constraints: ClassVar[bool] = True
    term_structure: ClassVar = diffrax.AbstractTerm
    interpolation_cls: ClassVar = diffrax.ThirdOrderHermitePolynomialInterpolation

    def order(self, terms):
        return 2

    def func(self, terms, t0, y0, args):
        return terms.vf(t0, y0, args)

    def init(self, terms, t0, t1, y0, args):
        return None

    def step(self, terms, t0, t1, y0, args, solver_state, made_jump):
        field, null = field_of(terms), args.null
        equations = field.at(args)
        q0, v0, work, failure = y0
        t0, t1 = (jnp.asarray(t, float) for t in (t0, t1))
        h, n = t1 - t0, v0.size

        def at(t, q, v):
            return with_nonideal(field.formulation, equations.terms(t, q, v), t, q, v)

        before = at(t0, q0, v0)
        units = scaling(before.M, before.J, null)
        E, D = units.E, units.D

        def middle(z):
            """Speeds and multipliers of the first half, and where they lead."""
            v = v0 + E * z[:n] / h
            return v, 2 * D * z[n:] / h**2, equations.retract(q0, h * v)

        def residual(z):
            v, lam, q1 = middle(z)
            first = at(t0, q0, v)
            kick = h * (first.M @ (v - v0)) - h**2 / 2 * (first.Q - first.J.T @ lam)
            return jnp.concatenate([E * kick, D * equations.terms(t1, q1, v).Phi])

        def matrix(z):
            # Exact but for speeds in the forces and the turn of rotations within the step, both O(h).
            v, _, q1 = middle(z)
            J0, J1 = (D[:, None] * J * E[None, :] for J in (before.J, equations.terms(t1, q1, v).J))
            return jnp.block([[E[:, None] * before.M * E[None, :], J0.T], [J1, jnp.zeros((D.size, D.size))]])

        fill = jnp.zeros((n + D.size, n + D.size)).at[n:, n:].set(units.fill)
        z, outcome = newton(
            residual,
            jnp.zeros(n + D.size),
            fill,
            matrix=matrix,
            columns=1,
            cost=2,
            unit=units.unit,
            tolerance=self.tolerance,
            max_iterations=self.max_iterations,
        )
        v, lam, q1 = middle(z)
        first, second = at(t0, q0, v), at(t1, q1, v)
        kick = Deflated().particular(second.mass, second.J, h / 2 * second.Q, -second.Phi_dot, null)
        v1 = v + kick.a
        power = [first.power, second.power]
        if equations.rheonomic:  # as in `Field`: moving constraints do work
            pairs = ((first, lam), (second, 2 / h * kick.lam))
            power = [p - jnp.dot(x, terms.J @ v) for p, (terms, x) in zip(power, pairs, strict=True)]
        y1 = (q1, v1, work + h / 2 * (power[0] + power[1]), failure + h * outcome.status)
        error = (jnp.zeros_like(q0), jnp.zeros_like(v0), outcome.evaluations + 3, jnp.zeros(()))
        zero = jnp.zeros(())
        slopes = [
            (h * equations.qdot(q, speeds), 2 * (end - start), h * p, zero)
            for q, speeds, start, end, p in ((q0, v0, v0, v, power[0]), (q1, v1, v, v1, power[1]))
        ]
        dense = {"y0": y0, "y1": y1, "k0": slopes[0], "k1": slopes[1]}
        return y1, error, dense, None, diffrax.RESULTS.successful
