import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmb.formulations.index2_lagrange import Index2Lagrange
from jaxmb.status import Status

from . import laws
from .systems import DISTURBED, NO_ROWS, SMALL

V, DV = np.random.default_rng(5).normal(size=(2, 6))


@jax.jit
def rates(system, v, tangent, v_tangent):
    """Phi_dot = J v, and the derivative of everything."""

    def run(system, v):
        out = Index2Lagrange().rates(*system, jnp.zeros(4), system[1] @ v)
        return (out.dv, out.a, out.lam), out.status

    return jax.jvp(run, (system, v), (tangent, v_tangent), has_aux=True)


def truth(path, p=0.0):
    """The whole system of 2n + 2m equations at once, by least squares of minimum norm."""
    M, J, Q, gamma = path.at(p)
    v, O = V + p * DV, np.zeros
    K = np.block(
        [
            [M, O((6, 6)), J.T, O((6, 4))],
            [O((6, 6)), np.eye(6), O((6, 4)), J.T],
            [J, O((4, 6)), O((4, 4)), O((4, 4))],
            [O((4, 6)), J, O((4, 4)), O((4, 4))],
        ]
    )
    x = np.linalg.lstsq(K, np.concatenate([Q, v, gamma, np.zeros(4)]), rcond=1e-10)[0]
    return x[6:12] - v, x[:6], x[12:16]


@pytest.mark.parametrize("name", ["independent", "redundant", "repeated", "singular mass"])
def test_solves_and_differentiates_the_whole_system(name):
    path = SMALL[name]
    value, tangents, status = rates(
        laws.arrays(path.at()), jnp.asarray(V), laws.arrays(path.tangent()), jnp.asarray(DV)
    )
    assert status == Status.successful
    for found, expected in zip(value, truth(path), strict=True):
        laws.assert_close(found, expected, 1e-10)
    for found, plus, minus in zip(tangents, truth(path, 1e-5), truth(path, -1e-5), strict=True):
        laws.assert_close(found, (plus - minus) / 2e-5, 1e-6)
    laws.assert_solution(value[1], value[2], path.at())
    laws.assert_close(path.at()[1] @ (V + value[0]) + 1, np.ones(4), 1e-12)


def test_no_rows():
    M, J, Q, gamma = NO_ROWS.at()
    out = Index2Lagrange().rates(*laws.arrays((M, J, Q, gamma, gamma, gamma)))
    np.testing.assert_allclose(out.a, np.linalg.solve(M, Q), rtol=1e-12)
    np.testing.assert_array_equal(out.dv, 0)


@pytest.mark.parametrize(
    ("system", "status"),
    [(SMALL["massless"].at(), Status.not_unique), (DISTURBED["force is NaN"], Status.not_finite)],
    ids=["massless", "NaN"],
)
def test_refuses(system, status):
    out = Index2Lagrange().rates(*laws.arrays((*system, np.ones(4), np.ones(4))))
    assert out.status == status
    assert all(np.all(np.isnan(x)) for x in (out.dv, out.a, out.lam))


def test_vmap_equals_loop():
    names = ["redundant", "repeated"]
    systems = [(*SMALL[name].at(), np.arange(4.0), np.ones(4)) for name in names]
    out = laws.compiled(jax.vmap(Index2Lagrange().rates))(*laws.stack(systems))
    for k, system in enumerate(systems):
        alone = Index2Lagrange().rates(*laws.arrays(system))
        for found, expected in zip((out.dv[k], out.a[k], out.lam[k]), (alone.dv, alone.a, alone.lam), strict=True):
            laws.assert_close(found, expected, 1e-10)
