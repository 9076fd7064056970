"""A step size controller that remembers why the last attempt failed."""

from typing import Any

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..status import Status, as_number


class NoticingState(eqx.Module):
    inner: Any
    failure: Float[Array, ""]
    """Number of the status of the last attempted step."""


class Noticing(diffrax.AbstractStepSizeController):
    """Steps as `inner` does. diffrax turns NaN into an infinite error and tries smaller steps; whether a run that ended so met
    NaN, had a formulation that failed, or was merely stiff is known here only.

    The last entry of the state is the integral of the formulation's status number: a step of a formulation that fails at every
    stage changes it by dt times that number.
    """

    inner: diffrax.AbstractStepSizeController

    def wrap(self, direction):
        return Noticing(self.inner.wrap(direction))

    def init(self, terms, t0, t1, y0, dt0, args, func, error_order):
        t1, state = self.inner.init(terms, t0, t1, y0, dt0, args, func, error_order)
        return t1, NoticingState(state, jnp.zeros(()))

    def adapt_step_size(self, t0, t1, y0, y1_candidate, args, y_error, error_order, controller_state):
        failure = (y1_candidate[-1] - y0[-1]) / (t1 - t0)
        keep, t0, t1, jump, inner, result = self.inner.adapt_step_size(
            t0, t1, y0, y1_candidate, args, y_error, error_order, controller_state.inner
        )
        finite = jnp.all(jnp.stack([jnp.all(jnp.isfinite(x)) for x in jax.tree.leaves((y1_candidate, y_error))]))
        failure = jnp.where(finite | (failure > 0), failure, as_number(Status.not_finite))
        return keep, t0, t1, jump, NoticingState(inner, failure), result
