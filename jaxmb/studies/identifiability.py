"""What a set of residuals can tell of its parameters, and in words what it cannot."""

from typing import NamedTuple

import numpy as np
from scipy.linalg import qr

#: Directions (in relative changes of the parameters) in which the residuals change by less than this part of the most are not
#: seen: derivatives through runs with the default tolerances have errors of about 1e-8.
UNSEEN = 1e-6
#: Parameters with less than this part of an unseen direction are not in it.
TAKES_PART = 1e-3


class Identifiability(NamedTuple):
    """What the Jacobian of the residuals at the fit says; parameters are counted in units of their own size."""

    sensitivity: np.ndarray
    """Norm of the change of all residuals per relative change of each parameter."""
    collinearity: np.ndarray
    """For each parameter, how well the others can stand in for it: 1 not at all, infinite completely [Brun et al. 2001]."""
    unseen: np.ndarray
    """Directions that change nothing, one per row, each in as few parameters as possible, with a largest entry of 1."""
    covariance: np.ndarray
    """Of the parameters for residuals with a variance of 1; infinite on the diagonal, NaN beside it, where there is none."""

    def words(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Each unseen direction in a sentence."""
        return tuple(_sentence(direction, names) for direction in self.unseen)


def identifiability(J: np.ndarray, size: np.ndarray) -> Identifiability:
    """Of the Jacobian of residuals on parameters that have the given sizes."""
    scaled = J * size
    _, sigma, Vt = np.linalg.svd(np.linalg.qr(scaled, mode="r"), full_matrices=True)
    sigma = np.concatenate([sigma, np.zeros(size.size - sigma.size)])
    seen = sigma > UNSEEN * np.max(sigma, initial=0.0)
    unseen = _sparse(Vt[~seen])
    kept = Vt[seen] / sigma[seen][:, None]
    covariance = size[:, None] * (kept.T @ kept) * size
    blind = np.any(np.abs(unseen) > TAKES_PART, axis=0)
    covariance[blind, :] = covariance[:, blind] = np.nan
    covariance[blind, blind] = np.inf
    norms = np.linalg.norm(scaled, axis=0)
    # Of the part of each column that the others cannot make; the inverse of the columns' Gram matrix has it on its diagonal.
    with np.errstate(invalid="ignore"):
        collinearity = norms * np.sqrt(np.diagonal(covariance)) / size
    collinearity[norms == 0.0] = np.inf
    return Identifiability(norms, collinearity, unseen, covariance)


def _sparse(basis: np.ndarray) -> np.ndarray:
    """The same space by vectors in few parameters: each has one that no other has."""
    if not len(basis):
        return basis
    chosen = np.asarray(qr(basis, pivoting=True, mode="r")[-1])[: len(basis)]
    basis = np.linalg.solve(basis[:, chosen], basis)
    return basis / np.max(np.abs(basis), axis=1, keepdims=True)


def _sentence(direction: np.ndarray, names: tuple[str, ...]) -> str:
    takes_part = np.flatnonzero(np.abs(direction) > TAKES_PART)
    if takes_part.size == 1:
        return f"the data do not depend on {names[takes_part[0]]}"
    first = takes_part[0]
    changes = [f"{names[k]} by {direction[k] / direction[first]:+.3g} %" for k in takes_part]
    together = ", ".join(names[k] for k in takes_part)
    return f"only a combination of {together} can be told: changing {', '.join(changes)} changes nothing"
