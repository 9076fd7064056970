"""Answers that look right and are not. Each trap is sprung with plain JAX, and the formulation beside it avoids it."""

import jax
import jax.numpy as jnp
import numpy as np

from jaxmb.formulations.kkt import KKT
from jaxmb.formulations.kkt_pinv import KKTPinv
from jaxmb.formulations.least_squares1 import LeastSquares1
from jaxmb.formulations.null_space_qr import NullSpaceQR
from jaxmb.status import Status

from . import laws
from .systems import SMALL, WIDE, solution


def kkt(M, J):
    return jnp.block([[M, J.T], [J, jnp.zeros((len(J), len(J)))]])


def test_lu_of_a_singular_kkt_matrix_gives_arbitrary_multipliers():
    """The accelerations are right and nothing is NaN, unless a pivot happens to be zero exactly, which depends on the machine:
    rows are therefore mixed by several rotations, which turn the smallest multipliers along."""
    M, J, Q, gamma = laws.arrays(SMALL["redundant"].at())
    a, lam = solution(*SMALL["redundant"].at())
    sprung = 0
    for R in np.linalg.qr(np.random.default_rng(0).normal(size=(8, len(J), len(J))))[0]:
        x = np.asarray(jnp.linalg.solve(kkt(M, R @ J), jnp.concatenate([Q, R @ gamma])))
        if np.all(np.isfinite(x)):
            laws.assert_close(x[:6], a, 1e-6)
            sprung += np.max(np.abs(x[6:] - R @ lam)) > 0.1 * np.max(np.abs(lam))
    assert sprung >= 2
    laws.refuses(KKT(), "redundant", Status.redundant)


def test_least_squares_has_no_derivative_at_equal_singular_values():
    path = SMALL["repeated"]

    def plain(M, J, Q, gamma):
        x = jnp.linalg.lstsq(kkt(M, J), jnp.concatenate([Q, gamma]), rcond=1e-10)[0]
        return x[:6], x[6:]

    springs(plain, path, by=0.05)
    laws.differentiates(KKTPinv(), "repeated")


def test_autodiff_through_a_pivoted_qr_null_space_is_wrong():
    """Silently: the algorithm is the same, only the rule differs."""

    def plain(*system):
        out = NullSpaceQR(dof=3)._solve(*system)
        return out.a, out.lam

    springs(plain, SMALL["redundant"], by=0.1)
    laws.differentiates(NullSpaceQR(), "redundant")


def springs(plain, path, by):
    """The values are right, the derivative is NaN or wrong by more than the fraction `by`."""
    values, tangents = laws.compiled(lambda *x: jax.jvp(plain, *x))(laws.arrays(path.at()), laws.arrays(path.tangent()))
    laws.assert_solution(*values, path.at())
    found, expected = np.concatenate(tangents), np.concatenate(path.solution_tangent())
    assert not np.max(np.abs(found - expected)) < by * np.max(np.abs(expected))


def test_a_pseudoinverse_multiplied_out_loses_digits_with_unequal_inertias():
    M, J, Q, gamma = WIDE.at()
    a = solution(M, J, Q, gamma)[0]
    X, a_free = np.linalg.solve(M, J.T), np.linalg.solve(M, Q)
    W = np.linalg.pinv(J @ X, rcond=1e-12, hermitian=True)
    assert np.max(np.abs(a_free - X @ (W @ (J @ a_free - gamma)) - a)) > 1e-6 * np.max(np.abs(a))
    laws.solves_compiled(LeastSquares1(), WIDE, dof=4, tolerance=1e-7)
