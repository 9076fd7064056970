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
