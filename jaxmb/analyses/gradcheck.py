"""Whether the derivatives of a user's own function are right."""

import inspect
from collections.abc import Callable, Iterator
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree

from ..errors import ModelError
from .differences import FIRST, difference

OK, DISAGREES, NOT_FINITE, NOISY = "ok", "disagrees", "not finite", "differences too noisy to tell"
#: Differences less certain than this part of the derivative tell nothing.
TELLING = 1e-2


class GradRow(NamedTuple):
    """One derivative by three ways; `forward` is None where forward mode cannot be had."""

    name: str
    reverse: float
    forward: float | None
    difference: float
    uncertainty: float
    verdict: str


class GradCheck(NamedTuple):
    """What `gradcheck` found: a row for each direction. Print it."""

    rows: tuple[GradRow, ...]
    order: int
    rtol: float
    notes: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether every derivative was confirmed."""
        return all(row.verdict == OK for row in self.rows)

    def __str__(self):
        head = ("along", "reverse", "forward", "difference", "+-", "verdict")
        cells = [head, *(_cells(row) for row in self.rows)]
        widths = [max(len(line[k]) for line in cells) for k in range(len(head))]
        table = ["  ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)).rstrip() for line in cells]
        confirmed = sum(row.verdict == OK for row in self.rows)
        what = "derivatives" if self.order == 1 else "second derivatives"
        return "\n".join([*table, f"{confirmed} of {len(self.rows)} {what} confirmed.", *self.notes])


def gradcheck(
    function: Callable,
    parameters: PyTree,
    *,
    directions: int = 3,
    order: int = 1,
    seed: int = 0,
    step: float | None = None,
    rtol: float = 1e-6,
    batch: int = 0,
) -> GradCheck:
    """Compare the derivatives of `function(parameters)`, a scalar, by reverse mode, forward mode and differences.

    `parameters` is any pytree, a `System` or a neural network too. Its arrays of floats are varied, one after another: each
    entry of those with up to `directions` entries, others along so many random directions. `order=2` compares the derivatives
    of the gradient (of its component along a random vector) in the same way. `step` is the first, largest step of the
    differences (by default 1e-2 of the size of the parameter). With `batch=n`, gradients at n points nearby are taken in one
    `vmap` too, and compared with those taken alone.

    A derivative is "ok" where reverse and forward mode agree to `rtol` and differences to `rtol` and their own uncertainty.
    Runs with adaptive steps are functions with noise of the size of their tolerance; fixed steps (`dt=`) or smaller tolerances
    show more. A function with a keyword argument `gradient` is told "reverse", "forward" or, for the second order, "direct",
    to hand on to `simulate`. Not for use inside of jit.
    """
    _check_choices(directions, order, step, rtol, batch)
    moving, fixed = eqx.partition(parameters, eqx.is_inexact_array_like)
    moving = jax.tree.map(lambda x: jnp.asarray(x, float), moving)
    if not jax.tree.leaves(moving):
        raise ModelError(
            f"gradcheck was given parameters of type {type(parameters).__name__}, in which there is no float to vary. Give "
            "arrays or numbers of type float (1.0 instead of 1)."
        )
    told = "gradient" in inspect.signature(function).parameters

    def scalar(moving, gradient):
        out = function(eqx.combine(moving, fixed), **({"gradient": gradient} if told else {}))
        shape = getattr(out, "shape", ())
        if not isinstance(out, (float, np.floating, np.ndarray, jax.Array)) or shape != ():
            found = f"an array of shape {shape}" if shape else type(out).__name__
            raise ModelError(
                f"gradcheck differentiates a function with one number as its value, but this one returned {found}. Return a "
                "scalar, such as a sum or one entry."
            )
        return jnp.asarray(out, float)

    rng = np.random.default_rng(seed)
    reverse, forward = (lambda x: scalar(x, "reverse")), (lambda x: scalar(x, "forward"))
    if order == 2:
        weights = jax.tree.map(lambda x: jnp.asarray(_size(x) * rng.normal(size=x.shape)), moving)
        reverse = forward = lambda x: _dot(jax.grad(lambda y: scalar(y, "direct"))(x), weights)
    value, gradient = jax.jit(reverse), jax.jit(jax.grad(reverse))
    tangent = jax.jit(lambda x, d: jax.jvp(forward, (x,), (d,))[1])
    notes: list[str] = []
    size, slopes = abs(float(value(moving))), gradient(moving)
    rows = []
    for name, leaf, scale, direction in _directions(moving, directions, rng):
        # Of this leaf alone: NaN times the zeros of the others would be NaN.
        by_reverse = float(jnp.vdot(jax.tree.leaves(slopes)[leaf], jax.tree.leaves(direction)[leaf]))
        by_forward = None
        if not notes:
            try:
                by_forward = float(tangent(moving, direction))
                if not np.isfinite(by_forward):  # by another leaf, whose infinite derivative meets a tangent of zero?
                    by_forward = float(_alone(forward, moving, direction, leaf))
            except (ModelError, TypeError) as error:
                if not _lacks_forward_mode(error):
                    raise
                notes.append(
                    "Forward mode was not compared, for the function is prepared for reverse mode only. Where it calls simulate, "
                    "give it a keyword argument gradient and hand this on."
                )
        first = FIRST * scale if step is None else step
        along = lambda h, d=direction: value(jax.tree.map(lambda x, e: x + h * e, moving, d))  # noqa: E731
        found, uncertainty = difference(along, first)
        verdict = _verdict(by_reverse, by_forward, found, uncertainty, rtol, size / scale)
        rows.append(GradRow(name, by_reverse, by_forward, found, uncertainty, verdict))
    if batch:
        rows.append(_batched(reverse, gradient, moving, batch, rng, rtol))
    return GradCheck(tuple(rows), order, rtol, tuple(notes))


def _alone(function, moving, direction, leaf: int):
    """The derivative by forward mode where only one leaf is a variable."""
    leaves, structure = jax.tree.flatten(moving)

    def of(x):
        return function(jax.tree.unflatten(structure, [*leaves[:leaf], x, *leaves[leaf + 1 :]]))

    return jax.jvp(of, (leaves[leaf],), (jax.tree.leaves(direction)[leaf],))[1]


def _directions(moving, count: int, rng) -> Iterator[tuple[str, int, float, PyTree]]:
    """Name, number of the leaf, size of the parameter, and the direction as a tree that is zero but for this leaf."""
    leaves, structure = jax.tree.flatten(moving)
    paths = [jax.tree_util.keystr(path).lstrip(".") or "parameter" for path, _ in jax.tree.leaves_with_path(moving)]
    for k, (leaf, path) in enumerate(zip(leaves, paths, strict=True)):
        each = leaf.size <= count
        for number in range(min(count, leaf.size)):
            d = np.eye(leaf.size)[number] if each else rng.normal(size=leaf.size)
            d = (d / np.linalg.norm(d)).reshape(leaf.shape)
            place = (
                "".join(f"[{i}]" for i in np.unravel_index(number, leaf.shape)) if each else f" direction {number + 1}"
            )
            zeros = [jnp.zeros_like(other) for other in leaves]
            zeros[k] = jnp.asarray(d)
            yield path + place, k, _size(leaf), jax.tree.unflatten(structure, zeros)


def _verdict(reverse, forward, found, uncertainty, rtol, unit) -> str:
    modes = [reverse] if forward is None else [reverse, forward]
    if not np.all(np.isfinite(modes)):
        return NOT_FINITE
    largest = max(abs(found) if np.isfinite(found) else 0.0, *map(abs, modes))
    # Twice the rounding of sums of the size of the function is no disagreement of the two modes.
    if abs(modes[0] - modes[-1]) > rtol * largest + 1e-13 * unit:
        return DISAGREES
    # First: what is uncertain by chance differs by more than its uncertainty by chance too.
    if not np.isfinite(found) or uncertainty > max(TELLING * largest, rtol * unit):
        return NOISY
    return DISAGREES if abs(reverse - found) > rtol * largest + uncertainty else OK


def _batched(function, gradient, moving, count: int, rng, rtol: float) -> GradRow:
    """Gradients of several points in one vmap against those of each alone; the row has their largest entry that differs most."""
    points = [
        jax.tree.map(lambda x: x + 1e-3 * _size(x) * jnp.asarray(rng.normal(size=x.shape)), moving)
        for _ in range(count)
    ]
    together = jax.jit(jax.vmap(jax.grad(function)))(jax.tree.map(lambda *x: jnp.stack(x), *points))
    flat = [np.concatenate([np.ravel(x) for x in jax.tree.leaves(gradient(point))]) for point in points]
    alone = np.stack(flat)
    batched = np.concatenate([np.reshape(x, (count, -1)) for x in jax.tree.leaves(together)], axis=1)
    wrong = np.abs(batched - alone)
    worst = np.unravel_index(np.argmax(np.where(np.isnan(wrong), np.inf, wrong)), wrong.shape)
    scale = np.max(np.abs(alone))
    verdict = NOT_FINITE if not np.all(np.isfinite(wrong)) else OK if wrong[worst] <= rtol * scale else DISAGREES
    return GradRow(f"vmap of {count} (worst entry)", float(batched[worst]), None, float(alone[worst]), 0.0, verdict)


def _lacks_forward_mode(error: Exception) -> bool:
    return any(said in str(error) for said in ("custom_vjp", "forward mode", "forward-mode"))


def _size(x) -> float:
    size = float(jnp.sqrt(jnp.mean(jnp.asarray(x, float) ** 2))) if jnp.size(x) else 0.0
    return size if size > 0 and np.isfinite(size) else 1.0


def _dot(a, b):
    return sum((jnp.vdot(x, y) for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True)), jnp.zeros(()))


def _cells(row: GradRow) -> tuple[str, ...]:
    forward = "-" if row.forward is None else f"{row.forward:.9g}"
    return (row.name, f"{row.reverse:.9g}", forward, f"{row.difference:.9g}", f"{row.uncertainty:.1e}", row.verdict)


def _check_choices(directions, order, step, rtol, batch) -> None:
    if order not in (1, 2):
        raise ModelError(f"gradcheck was given order={order}. Use 1 for gradients or 2 for their derivatives.")
    if directions < 1:
        raise ModelError(f"gradcheck was given directions={directions}; at least 1 is needed.")
    if step is not None and not step > 0:
        raise ModelError(f"gradcheck was given step={step}; a step must be positive.")
    if not rtol > 0:
        raise ModelError(f"gradcheck was given rtol={rtol}; it must be positive.")
    if batch < 0:
        raise ModelError(f"gradcheck was given batch={batch}; give a number of points, or 0 for none.")
