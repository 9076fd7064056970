"""Derivatives by differences, with what is known of their error."""

from collections.abc import Callable

import numpy as np

#: Each step is this part of the one before; so many of them, the first as a part of the parameter.
RATIO, STEPS, FIRST = 0.25, 7, 1e-2


def difference(function: Callable[[float], float], step: float) -> tuple[float, float]:
    """The derivative of a function at 0 and its uncertainty, by central differences with steps from `step` downwards, each two of
    them extrapolated to none (Richardson).

    Three neighbors in the row of extrapolated values are within the error of large steps and the noise of small ones; the three
    that agree best give the value, and their spread the uncertainty. The noise is seen and not assumed: it is rounding for
    a formula, and the tolerance for a simulation with adaptive steps.
    """
    steps = step * RATIO ** np.arange(STEPS)
    ends = np.array([[float(function(h)), float(function(-h))] for h in steps])
    slopes = (ends[:, 0] - ends[:, 1]) / (2.0 * steps)
    finer = (slopes[1:] - RATIO**2 * slopes[:-1]) / (1.0 - RATIO**2)
    triples = np.lib.stride_tricks.sliding_window_view(finer, 3)
    spread = np.max(triples, axis=1) - np.min(triples, axis=1)
    # Values that agree by chance, or since they are all rounded to the same number, are no better than rounding allows.
    rounding = 4.0 * np.finfo(float).eps * np.max(np.abs(ends), axis=1)[1:-2] / steps[1:-2]
    uncertainty = np.where(np.isfinite(spread), spread + rounding, np.inf)
    best = int(np.argmin(uncertainty))
    if not np.isfinite(uncertainty[best]):
        return np.nan, np.inf
    return float(triples[best, 1]), float(uncertainty[best])
