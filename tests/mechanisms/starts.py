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
    """Accelerations at the start by NumPy alone, from M a + J' lam = Q and J a = gamma."""
    terms = at_start(name)
    M, J = np.asarray(terms.M), np.asarray(terms.J)
    m = J.shape[0]
    K = np.block([[M, J.T], [J, np.zeros((m, m))]])
    return np.linalg.lstsq(K, np.concatenate([terms.Q, terms.gamma]), rcond=1e-12)[0][: J.shape[1]]
