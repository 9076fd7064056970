"""Adams-Bashforth-Moulton methods of variable order and step."""

from collections.abc import Callable
from typing import ClassVar

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import optimistix as optx
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, ArrayLike, Bool, Float, Int

from ..errors import ModelError
from .adams_control import (
    AdamsController,
    Differences,
    encode,
    repeat_factor,
    settled,
    starting,
)
from .adams_interpolation import AdamsInterpolation
from .differences import differences, growth, integrals, powers, rounding, truncation
from .extrapolation import evaluations, extrapolate
from .field import Carried

Scalar = Float[Array, ""]

#: Right-hand sides are trusted to this part of their size.
ROUNDING = 1e-13


class AdamsState(eqx.Module):
    """The past of a run; the solver's state."""

    stars: Float[Array, "K n"]
    """Phi*_j at the start of the last step."""
    noise: Float[Array, " K"]
    """A bound of their rounding errors, in tolerances."""
    distances: Float[Array, " past"]
    """Time (s) since the starts of the last steps."""
    known: Int[Array, ""]
    """How many of them have been."""
    order: Int[Array, ""]
    """Order k of the next step."""
    equal: Int[Array, ""]
    """Number of equal steps up to now."""
    starts: Bool[Array, ""]
    """Whether order and step still grow as fast as they can."""
    orders: Int[Array, " K"]
    """Accepted steps taken with the orders 1, 2, ...; the order history."""


class Adams(diffrax.AbstractAdaptiveSolver):
    """Predictor of order k (Adams-Bashforth), evaluation, corrector of order k + 1 (Adams-Moulton), evaluation, in modified
    divided differences on the grid of steps as it comes [Shampine and Gordon; Hairer, Norsett and Wanner I, III.5]:

        p = y_n + h sum_{j<k} g_j Phi*_j(n),    y_{n+1} = p + h g_k Phi_k(n+1) with f(x_{n+1}, p) for f_{n+1}.

    Two evaluations a step whatever the order, so it is cheapest where right-hand sides are dear, motions smooth and tolerances
    tight. Order and step are those that reach farthest; `orders` in its state counts the steps by k. The second evaluation is
    made at the start of the next step, where the state has been corrected; a jump forgets the past.

    With `order=k` the order is fixed, for fixed steps; the first k - 1 are made by extrapolation, so that results converge with
    order k + 1 (values between these first steps are less accurate).
    """

    max_order: int = eqx.field(static=True, default=12)
    fixed_order: int | None = eqx.field(static=True, default=None)
    rtol: ArrayLike | None = None
    atol: ArrayLike | None = None

    term_structure: ClassVar = diffrax.ODETerm
    interpolation_cls: ClassVar[Callable] = AdamsInterpolation
    keeps_constraints: ClassVar[bool] = False

    def __init__(self, max_order: int = 12, *, order: int | None = None, rtol=None, atol=None):
        for name, value in {"max_order": max_order, "order": order}.items():
            if value is not None and not 1 <= value <= 12:
                raise ModelError(f"Adams was given {name}={value}. Use an order from 1 to 12.")
        # Estimates need two orders at least.
        self.max_order = max(max_order if order is None else order, 2)
        self.fixed_order = max_order if max_order == 1 and order is None else order
        self.rtol, self.atol = rtol, atol

    def at_tolerances(self, rtol, atol) -> "Adams":
        """The order that reaches farthest depends on them."""
        if self.fixed_order is not None:
            return self
        # As arrays, because numbers would be compiled in.
        return Adams(self.max_order, rtol=jnp.asarray(rtol, float), atol=jnp.asarray(atol, float))

    def controller(self, rtol, atol, dtmin, norm=optx.rms_norm, force_dtmin=False) -> AdamsController:
        """The step size controller that understands the errors of `at_tolerances(rtol, atol)`."""
        if self.fixed_order is not None:
            raise ModelError(
                f"Adams(order={self.fixed_order}) takes fixed steps, but none were given. Give dt, or leave order out."
            )
        return AdamsController(rtol, atol, dtmin, norm)

    def order(self, terms):
        return (self.fixed_order or self.max_order) + 1

    def error_order(self, terms):
        # Of the estimate as it is without tolerances: the fixed order, or one in the middle.
        return (self.fixed_order or 5) + 1

    def func(self, terms, t0, y0, args):
        return terms.vf(t0, y0, args)

    def init(self, terms, t0, t1, y0, args) -> AdamsState:
        K = self.max_order
        h = jnp.asarray(t1 - t0, float)
        h = jnp.where(h == 0, 1.0, h)
        return AdamsState(
            stars=jnp.zeros((K, ravel_pytree(y0)[0].size)),
            noise=jnp.zeros(K),
            distances=h * jnp.arange(1.0, K),
            known=jnp.zeros((), int),
            order=jnp.asarray(self.fixed_order or 1),
            equal=jnp.zeros((), int),
            starts=jnp.ones((), bool),
            orders=jnp.zeros(K, int),
        )

    def step(self, terms, t0, t1, y0, args, solver_state: AdamsState, made_jump):
        past = jax.tree.map(
            lambda fresh, old: jnp.where(made_jump, fresh, old), self.init(terms, t0, t1, y0, args), solver_state
        )
        past = eqx.tree_at(lambda s: s.orders, past, solver_state.orders)
        y, unravel = ravel_pytree(y0)
        t0, h = jnp.asarray(t0, float), jnp.asarray(t1 - t0, float)
        one = terms.contr(0.0, 1.0)  # -1 backwards in time

        def f(t, y):
            return ravel_pytree(terms.vf_prod(t, unravel(y), args, one))[0]

        def size(rows, y1):
            """In tolerances; work and status do not steer the steps."""
            motion = y.size - 2 if isinstance(args, Carried) else y.size
            return jnp.sqrt(jnp.mean((rows / self._allowed(y, y1)[None])[:, :motion] ** 2, axis=1))

        k = past.order
        # A lane of a batch that has ended makes steps of no length, which must not spoil derivatives.
        a = jnp.concatenate([jnp.zeros(1), past.distances]) / jnp.where(h == 0, 1.0, h)
        P = powers(a)
        g = integrals(P)
        slope = f(t0, y)
        beta = growth(a)
        stars = beta[:, None] * differences(slope, past.stars)[:-1]
        rough = ROUNDING * size(slope[None], y)[0]
        noise = beta * rounding(rough, past.noise)[:-1]
        j = jnp.arange(self.max_order + 1)
        padded = jnp.concatenate([stars, jnp.zeros_like(y)[None]])

        def polynomial(last, order):
            """Coefficients of the step with Phi*_0 ... Phi*_{order-1} and the last difference."""
            d = jnp.where((j < order)[:, None], padded, jnp.where((j == order)[:, None], last, 0.0))
            return h * (P / (j + 1.0)[None, :]).T @ d

        def predict_and_correct():
            p = y + jnp.sum(polynomial(0.0, k), axis=0)
            at_p = f(t1, p)
            Phi = differences(at_p, stars)
            coefficients = polynomial(Phi, k)
            y1 = y + jnp.sum(coefficients, axis=0)
            sizes = jnp.abs(h) * jnp.maximum(size(Phi, y1), rounding(rough, noise))
            known = (j >= 1) & (j <= past.known + 1)
            seen = Differences(sizes, jnp.where(known, sizes * truncation(g), jnp.inf), a)
            failure = jnp.maximum(slope[-1], at_p[-1])
            error = h * (g[k] - g[k - 1]) * Phi[k]
            return y1, coefficients, failure, error, seen, jnp.asarray(2.0)

        def start():
            columns = (self.max_order + 2) // 2
            y1, slopes = extrapolate(f, t0, y, slope, h, columns)
            coefficients = polynomial(0.0, past.known + 1)
            rest = y1 - y - jnp.sum(coefficients, axis=0)
            coefficients = coefficients + jnp.where((j == past.known + 1)[:, None], rest[None], 0.0)
            failure = jnp.maximum(slope[-1], jnp.max(slopes[:, -1]))
            seen = Differences(jnp.zeros(j.size), jnp.zeros(j.size), a)
            return y1, coefficients, failure, jnp.zeros_like(y), seen, jnp.asarray(1.0 + evaluations(columns))

        if self.fixed_order is None:
            out = predict_and_correct()
        else:
            out = jax.lax.cond(past.known < self.fixed_order - 1, start, predict_and_correct)
        y1, coefficients, failure, error, seen, count = out
        if isinstance(args, Carried):
            y1 = y1.at[-1].set(y[-1] + h * failure)
        state, told = self._next(past, h, jax.lax.stop_gradient(seen))
        state = eqx.tree_at(lambda s: (s.stars, s.noise), state, (stars, jax.lax.stop_gradient(noise)))
        error = unravel(jax.lax.stop_gradient(error if told is None else told * self._allowed(y, y1)))
        if isinstance(args, Carried):
            error = (*error[:2], count, jnp.zeros(()))
        y1 = unravel(y1)
        dense = {"y0": y0, "y1": y1, "coefficients": coefficients}
        return y1, error, dense, state, diffrax.RESULTS.successful

    def _allowed(self, y, y1):
        """The error that the tolerances allow."""
        rtol, atol = (1.0 if x is None else x for x in (self.rtol, self.atol))
        return atol + rtol * jnp.maximum(jnp.abs(y), jnp.abs(y1))

    def _next(self, past: AdamsState, h, seen: Differences) -> tuple[AdamsState, Scalar | None]:
        """The state after the step, and the error that tells the controller how to go on; None if that is its own choice."""
        K, k = self.max_order, past.order
        same = jnp.abs(h - past.distances[0]) <= 1e-6 * jnp.abs(h)
        equal = jnp.where(same & (past.known > 0), past.equal + 1, 1)
        known = jnp.minimum(past.known + 1, K - 1)
        distances = h + jnp.concatenate([jnp.zeros(1), past.distances[:-1]])
        order, starts, told = k, past.starts, None
        if self.fixed_order is None and self.rtol is None:
            order = self._smallest(past, seen)
        elif self.fixed_order is None:
            order, factor = settled(k, seen, equal)
            fast_order, fast_factor = jax.lax.cond(starts, lambda: starting(k, seen), lambda: (order, factor))
            starts = starts & ((fast_order > k) | (k == 1))
            order, factor = jnp.where(starts, fast_order, order), jnp.where(starts, fast_factor, factor)
            # With a kink in it the past is worth nothing.
            forget = seen.rough(k)
            order, known = jnp.where(forget, 1, order), jnp.where(forget, 0, known)
            starts = (starts & (order < K)) | forget
            success = seen.honest(k) < 1.0
            factor = jnp.where(success, jnp.where(forget, 1.0, factor), repeat_factor(k, seen))
            told = encode(success, factor)
        orders = past.orders.at[k - 1].add(1)
        return AdamsState(past.stars, past.noise, distances, known, order, equal, starts, orders), told

    def _smallest(self, past: AdamsState, seen: Differences) -> Int[Array, ""]:
        k = past.order
        j = jnp.arange(seen.error.size)
        # As long as an order more has not been tried, there is no reason not to.
        best = jnp.argmin(jnp.where(jnp.abs(j - k) <= 1, seen.error, jnp.inf))
        untried = (past.known < k) & (k < self.max_order)
        return jnp.where(untried, k + 1, best)
