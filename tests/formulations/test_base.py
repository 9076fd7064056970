import inspect

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmb.formulations.augmented_lagrangian import AugmentedLagrangian
from jaxmb.formulations.base import first_failure, implicit, mask, minimum_norm, require_positive
from jaxmb.formulations.kkt import KKT
from jaxmb.formulations.udwadia_kalaba import UdwadiaKalaba
from jaxmb.status import Status

from . import laws
from .systems import SMALL, solution

PATH = SMALL["redundant"]


def along(p):
    """`Path.at` for JAX."""
    M, C, A, Q, x = (
        jnp.asarray(value) + p * jnp.asarray(slope) for value, slope in (PATH.M, PATH.C, PATH.A, PATH.Q, PATH.x)
    )
    return M, C @ A, Q, C @ A @ x


def both(p):
    out = UdwadiaKalaba().solve(*along(p))
    return jnp.concatenate([out.a, out.lam])


def truth(p):
    return np.concatenate(solution(*PATH.at(p)))


@pytest.mark.parametrize(("outer", "inner"), [(jax.jacfwd, jax.jacrev), (jax.jacrev, jax.jacfwd)])
def test_second_derivatives(outer, inner):
    h = 1e-3
    expected = sum(c * truth(k * h) for k, c in zip(range(-2, 3), (-1, 16, -30, 16, -1), strict=True)) / (12 * h**2)
    laws.assert_close(laws.compiled(outer(inner(both)))(0.0), expected, 1e-5)


def test_jit_vmap_and_eager_agree():
    points = jnp.linspace(-0.1, 0.1, 3)
    mapped, single = jax.jit(jax.vmap(both))(points), jax.jit(both)
    for k, p in enumerate(points):
        for found in (mapped[k], single(p), both(p)):
            laws.assert_close(found, truth(float(p)), 1e-11)


def test_status_is_not_batched_where_the_system_is_not():
    """jacfwd maps over tangents only and must find a plain status; custom_linear_solve with has_aux made it a batch."""

    def solve(Q):
        out = UdwadiaKalaba().solve(*along(0.0)[:2], Q, along(0.0)[3])
        return out.a, out.status

    derivative, status = laws.compiled(jax.jacfwd(solve, has_aux=True))(along(0.0)[2])
    assert derivative.shape == (6, 6)
    assert status == Status.successful


def test_minimum_norm_multipliers_need_the_projection_for_their_derivative():
    expected = PATH.solution_tangent()[1]

    def raw(p):
        return implicit(UdwadiaKalaba()._solve, *along(p)).lam

    def pair(p):
        return raw(p), minimum_norm(along(p)[1], raw(p))

    values, (unprojected, projected) = laws.compiled(lambda p: jax.jvp(pair, (p,), (1.0,)))(0.0)
    for lam in values:
        laws.assert_close(lam, solution(*PATH.at())[1], 1e-11)
    assert np.max(np.abs(unprojected - expected)) > 0.01 * np.max(np.abs(expected))
    laws.assert_close(projected, expected, 1e-8)


def test_projection_costs_nothing_if_multipliers_are_not_used():
    """AugmentedLagrangian itself has no SVD."""

    def count(output):
        program = jax.jit(lambda p: output(AugmentedLagrangian().solve(*along(p)))).lower(0.0).compile()
        return program.as_text().count("gesdd")

    assert count(lambda out: out.a) == 0
    assert count(lambda out: out.lam) > 0


def test_arrays_of_a_formulation_may_be_traced():
    """Here the rule is used after the trace in which it was made has ended."""

    @jax.jit
    def solve(formulation, p):
        return formulation.solve(*along(p)).a

    formulation = AugmentedLagrangian(alpha=jnp.array(1e4))
    _, found = jax.jvp(lambda p: solve(formulation, p), (0.0,), (1.0,))
    laws.assert_close(found, PATH.solution_tangent()[0], 1e-7)
    by_alpha = eqx.filter_grad(lambda formulation: jnp.sum(solve(formulation, 0.0)))(formulation)
    assert by_alpha.alpha == 0  # an exact result does not depend on the way to it


def test_first_failure_wins():
    yes, no = jnp.array(True), jnp.array(False)
    assert first_failure((yes, Status.redundant)) == Status.successful
    assert first_failure((yes, Status.redundant), (no, Status.not_unique)) == Status.not_unique
    assert first_failure((no, Status.redundant), (no, Status.not_unique)) == Status.redundant
    assert first_failure((yes, Status.redundant), otherwise=Status.not_converged) == Status.not_converged


def test_mask_hides_values_and_derivatives_of_failures():
    for status, expected in ((Status.successful, 1.0), (Status.redundant, np.nan)):
        value, tangent = jax.jvp(lambda x: mask(status, x), (jnp.ones(2),), (jnp.ones(2),))  # noqa: B023
        np.testing.assert_array_equal(value, expected)
        np.testing.assert_array_equal(tangent, expected)


def test_positive_fields():
    for value in (1, 1.0, jnp.array(2.0), None):
        require_positive(KKT(), "mu", value)
    jax.jit(lambda value: require_positive(KKT(), "mu", value))(-1.0)  # not known, so not rejected
    for value in (0, -1.0, jnp.array(-2.0), np.nan):
        with pytest.raises(ValueError, match=r"^KKT\(mu=.*\) needs a positive mu, but .* was given. Give a positive"):
            require_positive(KKT(), "mu", value)


def test_docstrings_name_their_source():
    import jaxmb.formulations as formulations

    for formulation in formulations.ALL_FORMULATIONS:
        if type(formulation).__name__ != "Deflated":  # ours
            text = inspect.getdoc(type(formulation)) or ""
            assert any(name in text for name in ("Pekal", "Park", "Carvalho", "Newhart", "Kurz")) and "eq." in text
            assert "Use it" in text
