"""The equations of a mechanism at its start, shared by the tests of this folder."""

import functools

import equinox as eqx
import numpy as np

from jaxmb.mechanisms import get_mechanism


@functools.cache
def at_start(name):
    """Terms at the start."""
    system, state = get_mechanism(name).build()
    return eqx.filter_jit(lambda system, x: system.equations().terms(x.t, x.q, x.v))(system, state)


def accelerations(name):
    """Accelerations at the start by NumPy alone, from M a + J' lam = Q and J a = gamma.

    Speeds and rows are scaled to unit mass: with grams beside metres the equations themselves would cost five digits.
    """
    terms = at_start(name)
    M, J = np.asarray(terms.M), np.asarray(terms.J)
    m = J.shape[0]
    K = np.block([[M, J.T], [J, np.zeros((m, m))]])
    speeds = 1 / np.sqrt(np.diag(M))
    D = np.concatenate([speeds, 1 / np.linalg.norm(J * speeds, axis=1)])
    b = np.concatenate([terms.Q, terms.gamma])
    return (D * np.linalg.lstsq(D[:, None] * K * D, D * b, rcond=1e-12)[0])[: J.shape[1]]
