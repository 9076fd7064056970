"""The solve by blocks against the dense one, values and derivatives, on redundant mechanisms."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmb as mb
from jaxmb.analyses import choices
from jaxmb.formulations.deflated import Deflated, null_space
from jaxmb.formulations.pivots import find_pivots
from jaxmb.mechanisms.n_four_bar import n_four_bar, n_four_bar_start


def ladder(count=4, length=1.0, mass=1.0):
    """Planar four-bars in a row with spatial hinges: 3 redundant rows for each."""
    bodies = {f"crank{k}": mb.rod((k, 0, 0), (k, length, 0), mass=mass) for k in range(count + 1)}
    bodies |= {f"bar{k}": mb.rod((k, length, 0), (k + 1, length, 0), mass=1.0) for k in range(count)}
    joints = {f"A{k}": mb.Revolute("ground", f"crank{k}", point=(k, 0, 0)) for k in range(count + 1)}
    for k in range(count):
        joints[f"B{k}"] = mb.Revolute(f"crank{k}", f"bar{k}", point=(k, length, 0))
        joints[f"C{k}"] = mb.Revolute(f"bar{k}", f"crank{k + 1}", point=(k + 1, length, 0))
    system = mb.System(bodies, joints, {"gravity": mb.Gravity((1.0, -9.81, 0))})
    return system, system.state()


def test_rank_and_accelerations_are_those_of_the_dense_solve():
    system, state = ladder()
    terms = system.equations().terms(state.t, state.q, state.v)
    null, pivots = null_space(terms.J), find_pivots(terms.jacobian)
    assert int(pivots.deficiency) == int(null.deficiency) == 12
    assert 0.1 < float(pivots.smallest) / float(null.smallest) < 20
    dense, blocks = (
        Deflated().particular(terms.mass, terms.jacobian, terms.Q, terms.gamma, nearby) for nearby in (null, pivots)
    )
    np.testing.assert_allclose(blocks.a, dense.a, atol=1e-10)
    np.testing.assert_allclose(terms.J.T @ blocks.lam, terms.J.T @ dense.lam, atol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("gradient", ["reverse", "forward"])
def test_runs_and_gradients_are_those_of_the_dense_solve(gradient, monkeypatch):
    """Twelve redundant rows, derivatives by a length and a mass, single and in a batch."""

    def end(x, large):
        monkeypatch.setattr(choices, "LARGE", large)
        system, state = ladder(length=x[0], mass=x[1])
        sol = mb.simulate(system, state, t1=0.3, rtol=1e-11, atol=1e-11, gradient=gradient, throw=False)
        return sol.final.point("bar1", "middle")[1]

    x = jnp.array([1.1, 0.8])
    differentiate = jax.jacrev if gradient == "reverse" else jax.jacfwd
    results = []
    for large in (0, 10**6):
        f = functools.partial(end, large=large)
        results.append((jax.jit(f)(x), jax.jit(differentiate(f))(x)))
    (value, slope), (dense_value, dense_slope) = results
    assert abs(value - dense_value) < 1e-10
    np.testing.assert_allclose(slope, dense_slope, atol=1e-8)
    if gradient == "forward":
        batch = jax.jit(jax.vmap(functools.partial(end, large=0)))(jnp.stack([x, x + 0.1]))
        assert abs(batch[0] - value) < 1e-10
        h = 1e-5
        ends = [jax.jit(functools.partial(end, large=0))(x + jnp.array([s * h, 0.0])) for s in (1, -1)]
        assert abs((ends[0] - ends[1]) / (2 * h) - slope[0]) < 1e-6


def test_a_large_mechanism_stops_at_its_singular_configuration():
    """The uprights of A02 lie down after 0.72 s; the pivots tell."""
    system = n_four_bar(windows=12)
    sol = mb.simulate(system, n_four_bar_start(system), t1=2.0, throw=False)
    assert sol.status in (mb.Status.singular_configuration, mb.Status.rank_change)
    assert abs(float(sol.reached) - 0.7206) < 0.01
    assert float(jnp.max(sol.weakest)) > 0
