"""What came out of an identification."""

import dataclasses
from typing import NamedTuple

import numpy as np
from jaxtyping import PyTree
from scipy import stats

from .identifiability import Identifiability

#: Lags of the test for independence.
LAGS = 10


class ResidualTests(NamedTuple):
    """Probabilities to find residuals at least as strange as these where the model is right. Below 0.01 it is likely wrong."""

    mean: float
    """That their mean is zero (t test)."""
    independence: float
    """That they are not correlated with those before (Ljung and Box, in the order in which they come)."""
    normality: float
    """That they are normally distributed (D'Agostino and Pearson)."""


@dataclasses.dataclass(frozen=True)
class Fit:
    """The parameters that fit best, how well they are known, and what cannot be known. Print it."""

    value: PyTree
    """The fitted parameters, in the form in which they were given."""
    standard_error: PyTree
    """Their standard deviations, in the same form; 0 for fixed ones, infinite for those that cannot be told."""
    names: tuple[str, ...]
    """Of the free parameters, in the order of the arrays below."""
    covariance: np.ndarray
    correlation: np.ndarray
    """NaN where a parameter cannot be told."""
    residuals: np.ndarray
    """Those that depend on data, in units in which they were returned."""
    noise: float
    """Standard deviation of the residuals, estimated, or 1 where it was given to be known."""
    unidentifiable: tuple[str, ...]
    """A sentence for each parameter or combination of parameters that the data do not tell."""
    at_bounds: tuple[str, ...]
    """Parameters that a bound holds back."""
    converged: bool
    """Whether another step would change the parameters by less than a hundredth of their uncertainty, bounds considered."""
    message: str
    evaluations: int
    starts: tuple[float, ...]
    """Half the sum of squares reached from each start, infinite for those that failed."""
    _found: np.ndarray = dataclasses.field(repr=False)
    _identifiability: Identifiability = dataclasses.field(repr=False)

    @property
    def cost(self) -> float:
        """Half the sum of squares, of the priors too."""
        return min(self.starts)

    @property
    def sensitivity(self) -> dict[str, float]:
        """How much a relative change of each parameter changes the residuals, largest first."""
        return self._ranked(self._identifiability.sensitivity)

    @property
    def collinearity(self) -> dict[str, float]:
        """How well other parameters can stand in for each one, best first: 1 not at all, infinite completely; from 10 to 15 on
        it is better to fix one of them."""
        return self._ranked(self._identifiability.collinearity)

    def residual_tests(self) -> ResidualTests:
        """Whether the residuals look like noise."""
        r = self.residuals
        if r.size <= 2 * LAGS:
            return ResidualTests(np.nan, np.nan, np.nan)
        centered = r - np.mean(r)
        lags = np.arange(1, LAGS + 1)
        rho = np.array([np.dot(centered[k:], centered[:-k]) for k in lags]) / np.dot(centered, centered)
        portmanteau = r.size * (r.size + 2) * np.sum(rho**2 / (r.size - lags))
        mean, normality = (np.asarray(test)[1] for test in (stats.ttest_1samp(r, 0.0), stats.normaltest(r)))
        return ResidualTests(float(mean), float(stats.chi2.sf(portmanteau, LAGS)), float(normality))

    def __str__(self):
        errors = np.sqrt(np.diagonal(self.covariance))
        rows = [("parameter", "value", "+-")]
        for name, x, error in zip(self.names, self._found, errors, strict=True):
            mark = "  at its bound" if name in self.at_bounds else ""
            rows.append((name, f"{x:.8g}", ("cannot be told" if np.isinf(error) else f"{error:.2g}") + mark))
        widths = [max(len(row[k]) for row in rows) for k in range(2)]
        table = [f"{a.ljust(widths[0])}  {b.ljust(widths[1])}  {c}" for a, b, c in rows]
        known = [f"Not identifiable: {sentence}." for sentence in self.unidentifiable]
        return "\n".join([*table, *known, f"Noise of the residuals: {self.noise:.3g}. {self.message}"])

    def _ranked(self, values: np.ndarray) -> dict[str, float]:
        return {self.names[k]: float(values[k]) for k in np.argsort(-values)}
