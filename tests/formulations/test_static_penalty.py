import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmb.formulations.static_penalty import StaticPenalty
from jaxmb.status import Status

from . import laws
from .systems import NO_ROWS, SMALL, solution


@jax.jit
def solve(formulation, system):
    return formulation.solve(*system)


@pytest.mark.parametrize("name", ["independent", "redundant", "repeated", "singular mass"])
def test_error_is_proportional_to_the_inverse_of_mu(name):
    system = SMALL[name].at()
    a, lam = solution(*system)
    mus = np.array([1e4, 1e5, 1e6])
    outs = [solve(StaticPenalty(mu=jnp.array(mu)), laws.arrays(system)) for mu in mus]
    for errors in ([np.linalg.norm(o.a - a) for o in outs], [np.linalg.norm(o.lam - lam) for o in outs]):
        slope = np.polyfit(np.log(mus), np.log(errors), 1)[0]
        assert slope == pytest.approx(-1, abs=0.05)


def test_is_the_formula():
    M, J, Q, gamma = SMALL["redundant"].at()
    out = solve(StaticPenalty(mu=20.0), laws.arrays((M, J, Q, gamma)))
    a = np.linalg.solve(M + 20 * J.T @ J, Q + 20 * J.T @ gamma)
    np.testing.assert_allclose(out.a, a, rtol=1e-12)
    np.testing.assert_allclose(out.lam, 20 * (J @ a - gamma), rtol=1e-10)


def test_automatic_penalty_ignores_units():
    errors = []
    for name in ("redundant", *(name for name in SMALL if name.startswith("redundant, 1e"))):
        out = solve(StaticPenalty(), laws.arrays(SMALL[name].at()))
        a, lam = solution(*SMALL[name].at())
        errors.append(
            (np.linalg.norm(out.a - a) / np.linalg.norm(a), np.linalg.norm(out.lam - lam) / np.linalg.norm(lam))
        )
    assert np.max(errors) < 1e-3
    np.testing.assert_allclose(errors, errors[:1] * len(errors), rtol=1e-3)


def test_differentiates_the_penalized_problem():
    path = SMALL["redundant"]

    def formula(p):
        M, J, Q, gamma = path.at(p)
        return np.linalg.solve(M + 20 * J.T @ J, Q + 20 * J.T @ gamma)

    _, found = jax.jvp(
        lambda *s: StaticPenalty(mu=20.0).solve(*s).a, laws.arrays(path.at()), laws.arrays(path.tangent())
    )
    np.testing.assert_allclose(found, (formula(1e-5) - formula(-1e-5)) / 2e-5, rtol=1e-6, atol=1e-8)


def test_vmap_equals_loop():
    names = ["redundant", "repeated", "massless"]
    system = laws.stack(SMALL[name].at() for name in names)
    out = laws.compiled(jax.vmap(StaticPenalty(mu=1e3).solve))(*system)
    for k, name in enumerate(names):
        alone = solve(StaticPenalty(mu=1e3), laws.arrays(SMALL[name].at()))
        np.testing.assert_allclose(out.a[k], alone.a, rtol=1e-9)
        np.testing.assert_allclose(out.lam[k], alone.lam, rtol=1e-9)


def test_refuses_a_motion_without_inertia():
    out = solve(StaticPenalty(), laws.arrays(SMALL["massless"].at()))
    assert out.status == Status.not_unique
    assert np.all(np.isnan(out.a)) and np.all(np.isnan(out.lam))


def test_no_rows():
    M, _, Q, _ = NO_ROWS.at()
    np.testing.assert_allclose(solve(StaticPenalty(), laws.arrays(NO_ROWS.at())).a, np.linalg.solve(M, Q), rtol=1e-12)


def test_rejects_a_penalty_that_is_not_positive():
    with pytest.raises(ValueError, match=r"StaticPenalty\(mu=-1.0\) needs a positive mu, but -1.0 was given. Give"):
        StaticPenalty(mu=-1.0)
