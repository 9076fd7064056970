"""A step size controller that remembers why the last attempt failed."""

from typing import Any

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool


class NoticingState(eqx.Module):
    inner: Any
    not_finite: Bool[Array, ""]
    """Whether the last attempted step met NaN or infinity."""


class Noticing(diffrax.AbstractStepSizeController):
    """Steps as `inner` does. diffrax turns NaN into an infinite error and tries smaller steps; whether a run that ended so met
    NaN or was merely stiff is known here only."""

    inner: diffrax.AbstractStepSizeController

    def wrap(self, direction):
        return Noticing(self.inner.wrap(direction))

    def init(self, terms, t0, t1, y0, dt0, args, func, error_order):
        t1, state = self.inner.init(terms, t0, t1, y0, dt0, args, func, error_order)
        return t1, NoticingState(state, jnp.zeros((), bool))

    def adapt_step_size(self, t0, t1, y0, y1_candidate, args, y_error, error_order, controller_state):
        keep, t0, t1, jump, inner, result = self.inner.adapt_step_size(
            t0, t1, y0, y1_candidate, args, y_error, error_order, controller_state.inner
        )
        finite = jnp.all(jnp.stack([jnp.all(jnp.isfinite(x)) for x in jax.tree.leaves((y1_candidate, y_error))]))
        return keep, t0, t1, jump, NoticingState(inner, ~finite), result
