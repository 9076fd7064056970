"""Functions of time (or of length and rate) as parts of a model.

A function with parameters of its own should be a callable pytree (an `equinox.Module`, `jax.tree_util.Partial(f, p)`):
its numbers are then leaves that can be differentiated and changed without recompiling. A plain Python function is
static.
"""

from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .errors import ModelError, is_concrete


class _ByCode:
    """Compares a function by its code and the values it reads instead of by identity, so that a builder that is called
    again with the same lambda in it does not compile again."""

    def __init__(self, f: Callable):
        self.f = f
        self.key = _key(f, [])

    def __eq__(self, other):
        if not isinstance(other, _ByCode):
            return NotImplemented
        if self is other:
            return True
        try:
            return bool(self.key == other.key)
        except Exception:  # closed-over arrays have no truth value: then the functions count as different
            return False

    def __hash__(self):
        return hash(self.key[0])


def _key(f: Callable, seen: list[Callable]) -> tuple:
    """The code of a function and all it reads: the object it is bound to, defaults, closure and globals, and the same
    of the functions of its own module among these."""
    if not hasattr(f, "__code__"):
        return type(f), f
    if f in seen:
        return (seen.index(f),)
    seen.append(f)
    cells = [cell.cell_contents for cell in f.__closure__ or ()]
    read = [f.__globals__[name] for name in _names(f.__code__) if name in f.__globals__]
    values = [getattr(f, "__self__", None), f.__defaults__, f.__kwdefaults__, *cells, *read]
    if not is_concrete(values):
        # Traced values may compare as equal by their numbers, yet belong to different traces.
        return f.__code__, object()
    own = [isinstance(v, FunctionType) and v.__globals__ is f.__globals__ for v in values]
    return f.__code__, *(_key(v, seen) if mine else v for v, mine in zip(values, own, strict=True))


def _names(code: CodeType) -> list[str]:
    """Names of globals (and attributes) that the code and the functions written inside it use."""
    inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return [*code.co_names, *(name for part in inner for name in _names(part))]


class Static(eqx.Module):
    """A plain Python function as part of a model."""

    f: _ByCode = eqx.field(static=True)

    def __call__(self, *args) -> Any:
        return self.f.f(*args)


class Constant(eqx.Module):
    """The function that is always `value`."""

    value: Float[Array, "..."]

    def __call__(self, *args) -> Float[Array, "..."]:
        return self.value


class Tabulated(eqx.Module):
    """A function of time through the points (t, x), for drivers and given forces: a cubic spline with continuous speed and
    acceleration (not-a-knot at its ends). From 4 points on; times must increase.

    Outside of the table it is NaN, so that a motion ends there with a status instead of going on with an extrapolation.
    Derivatives with respect to the table are exact.
    """

    # Written out because the splines at hand (diffrax) are Hermite ones, whose accelerations jump. The points are the only
    # leaves, and the slopes follow from them in each call, so that a table with other numbers is never half old.
    t: Float[Array, " n"]
    x: Float[Array, " n"]

    def __init__(self, t, x):
        self.t, self.x = jnp.asarray(t, float), jnp.asarray(x, float)
        if self.t.ndim != 1 or self.t.shape != self.x.shape or self.t.size < 4:
            raise ModelError(
                f"Tabulated needs two lists of equal length, at least 4, but got times of shape {self.t.shape} and values of "
                f"shape {self.x.shape}. Give one value for each time."
            )
        if is_concrete(self.t) and not np.all(np.diff(np.asarray(self.t)) > 0):
            raise ModelError(
                "Tabulated has times that do not increase from each to the next. Sort them, and keep one of equal ones."
            )

    def __call__(self, t) -> Float[Array, ""]:
        first, last = self.t[0], self.t[-1]
        # A time that misses an end by rounding is inside. A factor, so that rates are NaN outside as well.
        slack = 1e-9 * (last - first)
        inside = jnp.where((t >= first - slack) & (t <= last + slack), 1.0, jnp.nan)
        slopes = self._slopes()
        i = jnp.clip(jnp.searchsorted(self.t, t, side="right") - 1, 0, self.t.size - 2)
        h, s = self.t[i + 1] - self.t[i], t - self.t[i]
        secant = (self.x[i + 1] - self.x[i]) / h
        bend = (slopes[i] + slopes[i + 1] - 2 * secant) / h
        return inside * (self.x[i] + s * (slopes[i] + s * ((secant - slopes[i]) / h + bend * (s / h - 1.0))))

    def _slopes(self) -> Float[Array, " n"]:
        """Slopes at the points, with which the second derivative is continuous at all, and the third at the second and the last
        but one."""
        h = jnp.diff(self.t)
        secant = jnp.diff(self.x) / h

        def end(h0, h1, s0, s1):
            return h1, h0 + h1, ((3 * h0 + 2 * h1) * h1 * s0 + h0**2 * s1) / (h0 + h1)

        d0, u0, b0 = end(h[0], h[1], secant[0], secant[1])
        d1, l1, b1 = end(h[-1], h[-2], secant[-1], secant[-2])
        zero = jnp.zeros(())
        lower = jnp.concatenate([jnp.stack([zero]), h[1:], jnp.stack([l1])])
        middle = jnp.concatenate([jnp.stack([d0]), 2 * (h[:-1] + h[1:]), jnp.stack([d1])])
        upper = jnp.concatenate([jnp.stack([u0]), h[:-1], jnp.stack([zero])])
        right = jnp.concatenate([jnp.stack([b0]), 3 * (h[1:] * secant[:-1] + h[:-1] * secant[1:]), jnp.stack([b1])])
        return jax.lax.linalg.tridiagonal_solve(lower, middle, upper, right[:, None])[:, 0]


def as_function(f) -> Callable:
    """A number, a plain function or a callable pytree, as a callable pytree whose numbers are arrays."""
    if not callable(f):
        return Constant(jnp.asarray(f, float))
    if jax.tree_util.all_leaves([f]):
        return Static(_ByCode(f))
    if isinstance(f, jax.tree_util.Partial) and jax.tree_util.all_leaves([f.func]):
        f = jax.tree_util.Partial(Static(_ByCode(f.func)), *f.args, **f.keywords)
    # Not eqx.is_inexact_array_like, which fails on tracers: their __jax_array__ is None.
    return jax.tree.map(lambda x: jnp.asarray(x) if isinstance(x, float) or eqx.is_inexact_array(x) else x, f)


def of_time(f, shape: tuple[int, ...], what: str) -> Callable:
    """A function of time with values of the given shape; `what` begins the error message."""
    function = as_function(f)
    found = jax.eval_shape(lambda t: jnp.asarray(function(t), float), jnp.zeros(())).shape
    if found != shape:
        wanted = f"{shape[0]} numbers" if shape else "one number"
        raise ModelError(f"{what} has shape {found}. Give {wanted}, or a function of time that returns {wanted}.")
    return function
