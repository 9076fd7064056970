import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmb.formulations.index2_penalty import Index2Penalty
from jaxmb.status import Status

from . import laws, pendulum
from .systems import DISTURBED, NO_ROWS, SMALL, solution

Z = np.random.default_rng(5).normal(size=(2, 4))


def test_is_the_formula():
    M, J, Q, gamma = SMALL["redundant"].at()
    Phi, Phi_dot = Z
    out = Index2Penalty(mu=20.0).rates(*laws.arrays((M, J, Q, gamma, Phi, Phi_dot)))
    np.testing.assert_allclose(out.a, np.linalg.solve(M, Q - 20 * J.T @ Phi_dot), rtol=1e-11)
    np.testing.assert_allclose(out.lam, 20 * Phi_dot, rtol=1e-12)
    np.testing.assert_allclose(out.dv, -20 * J.T @ Phi, rtol=1e-12)


def test_balance_of_penalty_and_reaction_is_the_constrained_motion():
    """Where mu Phi_dot equals the multipliers, the accelerations are those of the constrained system."""
    system = SMALL["redundant"].at()
    a, lam = solution(*system)
    unbalanced = np.zeros(4)
    Phi, Phi_dot = unbalanced, lam / 1e3
    out = Index2Penalty(mu=1e3).rates(*laws.arrays((*system, Phi, Phi_dot)))
    laws.assert_close(out.a, a, 1e-10)


def test_error_is_proportional_to_the_inverse_of_mu():
    mus = [1e3, 3e3, 1e4]
    position, violation = pendulum.slopes([Index2Penalty(mu=jnp.array(mu)) for mu in mus], mus)
    assert position == pytest.approx(-1, abs=0.1)
    assert violation == pytest.approx(-2, abs=0.1)


def test_differentiates():
    path = SMALL["redundant"]

    def formula(p):
        M, J, Q, _ = path.at(p)
        return np.linalg.solve(M, Q - 20 * J.T @ Z[1])

    def rates(*system):
        return Index2Penalty(mu=20.0).rates(*system, *jnp.asarray(Z)).a

    _, found = jax.jvp(rates, laws.arrays(path.at()), laws.arrays(path.tangent()))
    np.testing.assert_allclose(found, (formula(1e-5) - formula(-1e-5)) / 2e-5, rtol=1e-6, atol=1e-6)


def test_rejects_a_penalty_that_is_not_positive():
    with pytest.raises(ValueError, match=r"Index2Penalty\(mu=0\) needs a positive mu, but 0 was given. Give"):
        Index2Penalty(mu=0)


def test_no_rows():
    M, J, Q, gamma = NO_ROWS.at()
    out = Index2Penalty().rates(*laws.arrays((M, J, Q, gamma, gamma, gamma)))
    np.testing.assert_allclose(out.a, np.linalg.solve(M, Q), rtol=1e-12)
    np.testing.assert_array_equal(out.dv, 0)


@pytest.mark.parametrize(
    ("system", "status"),
    [(SMALL["singular mass"].at(), Status.singular_mass), (DISTURBED["force is NaN"], Status.not_finite)],
    ids=["singular mass", "NaN"],
)
def test_refuses(system, status):
    out = Index2Penalty().rates(*laws.arrays((*system, np.ones(4), np.ones(4))))
    assert out.status == status
    assert all(np.all(np.isnan(x)) for x in (out.dv, out.a, out.lam))


def test_vmap_equals_loop():
    names = ["redundant", "repeated"]
    systems = [(*SMALL[name].at(), np.arange(4.0), np.ones(4)) for name in names]
    out = laws.compiled(jax.vmap(Index2Penalty().rates))(*laws.stack(systems))
    for k, system in enumerate(systems):
        alone = Index2Penalty().rates(*laws.arrays(system))
        for found, expected in zip((out.dv[k], out.a[k], out.lam[k]), (alone.dv, alone.a, alone.lam), strict=True):
            laws.assert_close(found, expected, 1e-10)
