"""Parameters from measured motion, by nonlinear least squares with derivatives through the simulation."""

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Float, PyTree
from rich.console import Console
from scipy.optimize import least_squares
from scipy.stats import qmc

from ..errors import ModelError
from .fit import Fit
from .identifiability import UNSEEN, identifiability
from .parameters import Bounds, Parameters, Priors

#: A fit has converged where a further step would be less than this part of a standard error, or, for data without noise, would
#: reduce the residuals by less than this part of those at the start.
NEGLIGIBLE, NEGLIGIBLE_PART = 1e-2, 1e-6
#: A parameter this near to a bound, as a part of its size, is at it.
TOUCHES = 1e-6


def misfit(predicted: PyTree, measured: PyTree, sigma: PyTree | ArrayLike = 1.0) -> Float[Array, " n"]:
    """(predicted - measured) / sigma as one vector; 0 where `measured` is NaN, a sample that is missing.

    Both are arrays or trees of arrays of one form; `sigma`, the standard deviation of the measurements, is such a tree or one
    number.
    """
    one = jnp.ndim(sigma) == 0 if not isinstance(sigma, dict | tuple | list) else False
    sigma = jax.tree.map(lambda _: sigma, measured) if one else sigma

    def part(predicted, measured, sigma):
        predicted, measured = jnp.asarray(predicted), jnp.asarray(measured)
        if predicted.shape != measured.shape:
            raise ModelError(
                f"misfit was given predictions of shape {predicted.shape} for measurements of shape {measured.shape}. Save the "
                "run at the times of the measurements (ts=times)."
            )
        missing = jnp.isnan(measured)
        return jnp.where(missing, 0.0, (predicted - jnp.where(missing, 0.0, measured)) / sigma).reshape(-1)

    return jnp.concatenate(jax.tree.leaves(jax.tree.map(part, predicted, measured, sigma)))


def identify(
    residual: Callable,
    parameters: PyTree,
    data: PyTree = None,
    *,
    bounds: Bounds | None = None,
    fixed: Sequence[str] = (),
    priors: Priors | None = None,
    noise_known: bool = False,
    starts: int = 1,
    seed: int = 0,
    max_steps: int = 50,
    progress: bool = False,
) -> Fit:
    """The parameters with the smallest sum of squares of `residual(parameters, data)`, and how well they are known.

    `parameters` is any tree (dictionaries, arrays, modules) with the values to start from. Its floats are named by their paths
    (`spring.stiffness`, `offset[1]`); `bounds` are pairs by name, either of them None, and are never left, not even on trial;
    `fixed` are names; `priors` are pairs (mean, standard deviation) by name. `residual` returns an array or a tree of them,
    from one experiment or many; see `misfit` for weights and missing samples. It is differentiated in forward mode: runs in it
    need gradient="forward". Runs that fail are NaN, and steps that lead there are taken again, smaller.

    The residuals are taken to be in units of an unknown common standard deviation, which is estimated; with
    `noise_known=True`, as with priors, in units of the known one. With `starts` above 1, further starts are spread between the
    bounds (Sobol numbers by `seed`), and the best fit is returned.

    The steps are those of scipy's trust-region method, a relative of Levenberg and Marquardt's that respects bounds and steps
    back from what is not finite, with residuals and derivatives as one compiled program. Not for use inside of jit.
    """
    if starts < 1 or max_steps < 1:
        raise ModelError(f"identify was given starts={starts} and max_steps={max_steps}; both must be at least 1.")
    free = Parameters(parameters, fixed, bounds or {}, priors or {})
    known = noise_known or bool(priors)
    program = _program(residual, free)
    best, costs, evaluations = None, [], 0
    for x in _starts(free, starts, seed):
        run = _descend(program, free, x, data, max_steps, progress)
        evaluations += run.evaluations
        costs.append(run.cost)
        if best is None or run.cost < best.cost:
            best = run
    if best is None or not np.isfinite(best.cost):
        raise ModelError(
            f"identify cannot start: the residuals at the given parameters ({_listed(free, free.start)}) are not finite. Run the "
            "simulation there with throw=True to see why, or start elsewhere."
        )
    return _judge(free, best, known, tuple(costs), evaluations)


class Run(NamedTuple):
    """The end of one descent."""

    x: np.ndarray
    r: np.ndarray
    J: np.ndarray
    first: float
    """Norm of the residuals at the start."""
    stopped: bool
    """By the number of steps."""
    evaluations: int

    @property
    def cost(self) -> float:
        size = float(np.sum(self.r**2))
        return 0.5 * size if np.isfinite(size) else np.inf


def _program(residual: Callable, free: Parameters) -> Callable[[Array, Any], tuple[Array, Array]]:
    """Residuals, those of the priors after them, and their derivatives. One program and not two: a trial step that is not taken
    wastes its derivatives, but most are taken, and compilation costs more."""
    weighted = np.flatnonzero(np.isfinite(free.prior_deviation))

    def vector(x, data):
        out = jax.tree.leaves(residual(free.tree(x), data))
        prior = (x - free.prior_mean)[weighted] / free.prior_deviation[weighted]
        r = jnp.concatenate([*(jnp.ravel(jnp.asarray(part, float)) for part in out), prior])
        return r, r

    def both(x, data):
        J, r = jax.jacfwd(vector, has_aux=True)(x, data)
        return r, J

    if len(inspect.signature(residual).parameters) == 1:
        raise ModelError(
            "identify calls residual(parameters, data), but this function takes one argument. Write it with two; data is None "
            "where none is given."
        )
    return jax.jit(both)


def _starts(free: Parameters, count: int, seed: int) -> list[np.ndarray]:
    open_ended = [
        name for name, *x in zip(free.names, free.lower, free.upper, strict=True) if not np.all(np.isfinite(x))
    ]
    if count > 1 and open_ended:
        raise ModelError(
            f"identify was asked for {count} starts, but '{open_ended[0]}' has no bounds to spread them between. Give bounds "
            "for every free parameter."
        )
    if count == 1:
        return [free.start]
    spread = qmc.Sobol(free.start.size, rng=seed).random(1 << (count - 2).bit_length())[: count - 1]
    return [free.start, *(free.lower + spread * (free.upper - free.lower))]


def _descend(program, free: Parameters, start: np.ndarray, data, max_steps: int, progress: bool) -> Run:
    console = Console(stderr=True)
    shown = progress and console.is_terminal
    evaluations = 0

    @functools.lru_cache(maxsize=2)  # scipy asks for residuals and derivatives one after the other
    def at(key: bytes):
        nonlocal evaluations
        evaluations += 1
        r, J = (np.asarray(part) for part in program(jnp.asarray(np.frombuffer(key)), data))
        if shown:
            console.print(f"identify: evaluation {evaluations}, half the sum of squares {0.5 * np.sum(r**2):.6g}")
        return r, J

    r, J = at(start.tobytes())
    first = float(np.linalg.norm(r))
    if not np.isfinite(first) or not np.all(np.isfinite(J)):
        return Run(start, np.full(1, np.inf), J, first, False, evaluations)
    derivatives: Any = lambda x: at(x.tobytes())[1]  # noqa: E731 (scipy's annotations know names of methods only)
    out = least_squares(
        lambda x: at(x.tobytes())[0],
        start,
        derivatives,
        (free.lower, free.upper),
        x_scale="jac",
        ftol=1e-14,
        xtol=1e-10,
        gtol=1e-14,
        max_nfev=max_steps,
    )
    return Run(out.x, *at(out.x.tobytes()), first, out.status == 0, evaluations)


def _judge(free: Parameters, run: Run, known: bool, costs: tuple[float, ...], evaluations: int) -> Fit:
    x, r, J = run.x, run.r, run.J
    size = np.where(x != 0, np.abs(x), np.where(np.isfinite(free.prior_deviation), free.prior_deviation, 1.0))
    gradient = J.T @ r
    near = TOUCHES * np.maximum(size, 1e-300)
    held = ((x - free.lower < near) & (gradient > 0)) | ((free.upper - x < near) & (gradient < 0))
    told = identifiability(J, size)
    # Rows that are zero whatever the parameters are, such as missing samples, are no data.
    data = (r != 0) | np.any(J != 0, axis=1)
    freedom = int(np.sum(data)) - (free.start.size - len(told.unseen))
    noise = 1.0 if known else float(np.sqrt(2 * run.cost / freedom)) if freedom > 0 else np.nan
    remaining = _decrement(J[:, ~held] * size[~held], r)
    converged = bool(remaining <= max(NEGLIGIBLE * np.nan_to_num(noise), NEGLIGIBLE_PART * run.first))
    covariance = noise**2 * told.covariance
    errors = np.sqrt(np.diagonal(covariance))
    with np.errstate(invalid="ignore"):
        correlation = covariance / (errors[:, None] * errors)
    priors = int(np.sum(np.isfinite(free.prior_deviation)))
    why = (
        " Give a larger max_steps."
        if run.stopped
        else " The residuals may be noisy: try smaller tolerances in the runs."
    )
    message = "Converged." if converged else f"NOT converged: a step would still matter.{why}"
    return Fit(
        value=free.tree(jnp.asarray(x)),
        standard_error=free.like(errors, 0.0),
        names=free.names,
        covariance=covariance,
        correlation=correlation,
        residuals=(r[: r.size - priors])[data[: r.size - priors]],
        noise=noise,
        unidentifiable=told.words(free.names),
        at_bounds=tuple(np.array(free.names)[held].tolist()),
        converged=converged,
        message=message,
        evaluations=evaluations,
        starts=costs,
        _found=x,
        _identifiability=told,
    )


def _decrement(J: np.ndarray, r: np.ndarray) -> float:
    """By how much a further step would change the residuals, in their units: the part of them that the parameters can make."""
    U, sigma, _ = np.linalg.svd(J, full_matrices=False)
    return float(np.linalg.norm(U[:, sigma > UNSEEN * np.max(sigma, initial=0.0)].T @ r))


def _listed(free: Parameters, x: np.ndarray) -> str:
    return ", ".join(f"{name} = {value:.6g}" for name, value in zip(free.names, x, strict=True))
