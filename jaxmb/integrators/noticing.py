"""A step size controller that counts, lands on events, and remembers why the last attempt failed."""

from typing import Any

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..status import Status, as_number

Scalar = Float[Array, ""]


class NoticingState(eqx.Module):
    inner: Any
    failure: Scalar
    """Number of the status of the last attempted step."""
    evaluations: Scalar
    """Right-hand sides so far, those of rejected steps among them."""
    target: Scalar
    """End of the step that was cut short to land on an event, -inf if there is none."""


class Noticing(diffrax.AbstractStepSizeController):
    """Steps as `inner` does. diffrax turns NaN into an infinite error and tries smaller steps; whether a run that ended so met
    NaN, had a formulation that failed, or was merely stiff is known here only.

    The state ends with the integral of the formulation's status number: a step of a formulation that fails at every stage
    changes it by dt times that number. The error estimate of these two entries (`work`, `failure`) is no error: it carries
    what only the solver knows, the number of evaluations of this attempt, and, as a part of the step, where to land instead.
    """

    inner: diffrax.AbstractStepSizeController

    def wrap(self, direction):
        return Noticing(self.inner.wrap(direction))

    def init(self, terms, t0, t1, y0, dt0, args, func, error_order):
        t1, state = self.inner.init(terms, t0, t1, y0, dt0, args, func, error_order)
        zero = jnp.zeros(())
        return t1, NoticingState(state, zero, zero, -jnp.inf * jnp.ones(()))

    def adapt_step_size(self, t0, t1, y0, y1_candidate, args, y_error, error_order, controller_state):
        told: Any = y_error
        evaluations, landing = (jax.lax.stop_gradient(x) for x in told[-2:])
        failure = (y1_candidate[-1] - y0[-1]) / (t1 - t0)
        keep, next_t0, next_t1, jump, inner, result = self.inner.adapt_step_size(
            t0, t1, y0, y1_candidate, args, y_error, error_order, controller_state.inner
        )
        finite = jnp.all(jnp.stack([jnp.all(jnp.isfinite(x)) for x in jax.tree.leaves((y1_candidate, told[:-2]))]))
        failure = jnp.where(finite | (failure > 0), failure, as_number(Status.not_finite))
        early = landing > 0
        keep, target = jnp.asarray(keep), controller_state.target
        landed = keep & ~early & (target > t1)  # the rest of a step that was cut short is still to be done
        on_grid = landed & isinstance(self.inner, diffrax.ConstantStepSize)
        old = early | on_grid
        inner = jax.tree.map(lambda new, before: jnp.where(old, before, new), inner, controller_state.inner)
        cut = t0 + landing * (t1 - t0)
        next_t1 = jnp.where(landed, jnp.where(on_grid, target, jnp.maximum(next_t1, target)), next_t1)
        next_t1 = jnp.where(early, jnp.where(keep, cut, jnp.minimum(cut, next_t1)), next_t1)
        next_t0 = jnp.where(early, t0, next_t0)
        # However short a step to an event is, it is no collapse.
        result = diffrax.RESULTS.where(early | landed, diffrax.RESULTS.successful, result)
        target = jnp.where(early, jnp.maximum(target, t1), jnp.where(keep, -jnp.inf, target))
        state = NoticingState(inner, failure, controller_state.evaluations + evaluations, target)
        return keep & ~early, next_t0, next_t1, jump, state, result
