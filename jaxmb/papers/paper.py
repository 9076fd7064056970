"""What the papers share: how an experiment is named, and how its numbers stand beside the published ones."""

import dataclasses
from collections.abc import Callable, Iterable, Sequence

import equinox as eqx
import numpy as np

from ..errors import ModelError, did_you_mean
from ..studies.comparison import Cell, Comparison
from ..view.report import Grid, Report


@dataclasses.dataclass(frozen=True)
class Paper:
    """A paper as a command."""

    key: str
    """As on the command line."""
    title: str
    experiment: Callable[[bool], Report]
    """Runs it, with a progress bar or without."""


def find(papers: dict[str, Paper], key: str) -> Paper:
    """A paper by its key."""
    if key not in papers:
        listing = ", ".join(f"{paper.key} ({paper.title})" for paper in papers.values())
        raise ModelError(f"Asked for paper '{key}', which is not here. Papers: {listing}.{did_you_mean(key, papers)}")
    return papers[key]


def ratios(values: Sequence[float] | np.ndarray) -> list[float]:
    """Relative to the first one: machines differ, ratios do not."""
    return [x / values[0] for x in values]


def beside(published: Iterable[float], ours: Iterable[float]) -> list[str]:
    """Pairs "published | ours" of ratios."""
    return [f"{p:.2f} | {o:.2f}" for p, o in zip(published, ours, strict=True)]


def corrections(rows: Sequence[Sequence[str]]) -> Grid:
    """Where the paper is wrong, what is right, and the number that shows it."""
    caption = "What print or program has, and what is right. M a + J' lam = Q, J a = gamma; numbers were computed in this run."
    return Grid(caption, ("where", "printed", "right", "number"), rows, words=True)


def passages(caption: str, comparison: Comparison) -> Grid:
    """Who passes a singular configuration on the right branch: the error, or how the run ended."""
    columns = list(dict.fromkeys((cell.stabilization, cell.tolerance) for cell in comparison.cells))
    rows = []
    for formulation in comparison.names("formulation"):
        cells = [comparison.select(formulation=formulation, stabilization=s, tolerance=t)[0] for s, t in columns]
        rows.append([formulation, *(f"{c.error:.0e}" if c.ok else ended(c) for c in cells)])
    return Grid(caption, ("formulation", *(f"{s}, {t:g}" for s, t in columns)), rows)


def ended(cell: Cell) -> str:
    """How and when a failed run ended."""
    return f"{cell.status.replace('_', ' ')} at {cell.reached:.2f} s"


def growth(norm: np.ndarray, floor: float = 0.0) -> float:
    """How much larger a norm is in the last fifth of a run than in the first; below `floor` it is rounding."""
    norm = np.maximum(norm[np.isfinite(norm)], floor)
    fifth = len(norm) // 5
    return float(np.max(norm[-fifth:]) / np.max(norm[1 : fifth + 1]))


@dataclasses.dataclass(frozen=True)
class Instant:
    """The equations at one instant as NumPy arrays, for formulas tried out by hand."""

    M: np.ndarray
    J: np.ndarray
    Q: np.ndarray
    gamma: np.ndarray

    @property
    def accelerations(self) -> np.ndarray:
        """By least squares on M a + J' lam = Q, J a = gamma."""
        m = len(self.gamma)
        K = np.block([[self.M, self.J.T], [self.J, np.zeros((m, m))]])
        return np.linalg.lstsq(K, np.concatenate([self.Q, self.gamma]), rcond=1e-12)[0][: len(self.Q)]


def instant(system, t, q, v) -> Instant:
    """The equations of a system at a time and state."""
    terms = eqx.filter_jit(lambda s, t, q, v: s.equations().terms(t, q, v))(system, t, q, v)
    return Instant(*(np.asarray(x) for x in (terms.M, terms.J, terms.Q, terms.gamma)))


def distance(found, right) -> float:
    """Difference relative to the size of what is right."""
    return float(np.linalg.norm(np.asarray(found) - right) / np.linalg.norm(right))
