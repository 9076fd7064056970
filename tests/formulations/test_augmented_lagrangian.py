import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmb.formulations.augmented_lagrangian import AugmentedLagrangian
from jaxmb.status import Status

from . import laws
from .systems import LARGE, NO_FREEDOM, NO_ROWS, SMALL, WIDE, solution


@pytest.mark.parametrize(
    "name",
    ["independent", "redundant", "repeated", "empty row", "rank two", "singular mass", "independent, singular mass"],
)
def test_solves(name):
    laws.solves(AugmentedLagrangian(), name)
    laws.differentiates(AugmentedLagrangian(), name)


@pytest.mark.parametrize(
    ("name", "status"),
    [("massless", Status.not_unique), ("force is NaN", Status.not_finite), ("row is infinite", Status.not_finite)],
)
def test_refuses(name, status):
    laws.refuses(AugmentedLagrangian(), name, status)


def test_survives_drift():
    laws.survives_drift(AugmentedLagrangian())


def test_ignores_units():
    laws.ignores_units(AugmentedLagrangian(), "redundant")


@pytest.mark.parametrize("path", [NO_ROWS, NO_FREEDOM], ids=["no rows", "no freedom"])
def test_solves_alone(path):
    laws.solves_alone(AugmentedLagrangian(), path)


def test_solves_large():
    laws.solves_compiled(AugmentedLagrangian(), LARGE, dof=4)


@jax.jit
def solve(formulation, system):
    return formulation.solve(*system)


def test_penalty_decides_speed_but_not_the_result():
    """Also where round-off would spoil the iteration as the paper writes it."""
    M, J, Q, gamma = system = SMALL["redundant"].at()
    for alpha in (1e3, 1e6, 1e10):
        out = solve(AugmentedLagrangian(alpha=jnp.array(alpha)), laws.arrays(system))
        assert out.status == Status.successful
        laws.assert_solution(out.a, out.lam, system)
    a = np.linalg.solve(M, Q)
    for _ in range(8):
        a = np.linalg.solve(M + 1e10 * J.T @ J, M @ a + 1e10 * J.T @ gamma)
    assert np.max(np.abs(a - solution(*system)[0])) > 1e-8


def test_ends_although_the_state_has_drifted():
    """Without a look at where dlam lies, dependent rows that do not quite fit would be pulled at for ever."""
    M, J, Q, gamma = LARGE.at()
    noise = np.random.default_rng(9).normal(size=(31, 31))
    system = M, J + 1e-6 * noise[:, :30], Q, gamma + 1e-4 * noise[:, 30]
    out = solve(AugmentedLagrangian(), laws.arrays(system))
    assert out.status == Status.successful
    laws.assert_close(out.a, solution(*system)[0], 1e-3)


def test_unequal_inertias():
    laws.solves_compiled(AugmentedLagrangian(), WIDE, dof=4)


@pytest.mark.parametrize("max_iterations", [1, 3])
def test_too_few_iterations_are_told(max_iterations):
    out = solve(AugmentedLagrangian(alpha=1.0, max_iterations=max_iterations), laws.arrays(SMALL["redundant"].at()))
    assert out.status == Status.not_converged
    assert np.all(np.isnan(out.a)) and np.all(np.isnan(out.lam))


def test_tolerance_is_kept():
    system = SMALL["redundant"].at()
    lam = solution(*system)[1]
    force = np.linalg.norm(system[2]) + np.linalg.norm(system[1].T @ lam)
    for tolerance in (1e-2, 1e-5, 1e-8):
        slow = AugmentedLagrangian(alpha=jnp.array(0.05), tolerance=jnp.array(tolerance), max_iterations=2000)
        error = np.linalg.norm(system[1].T @ (solve(slow, laws.arrays(system)).lam - lam)) / force
        assert 0.1 * tolerance < error < 1.5 * tolerance  # neither missed nor bought with needless iterations


@pytest.mark.parametrize("field", [{"alpha": 0.0}, {"alpha": -1.0}, {"tolerance": 0.0}, {"max_iterations": 0}])
def test_rejects_fields(field):
    with pytest.raises(
        ValueError, match=r"AugmentedLagrangian\(.*needs a positive .* was given. Give a positive number"
    ):
        AugmentedLagrangian(**field)
