"""Many runs: the same as one after another, in any number of threads and bundles, and differentiable."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmb as mb

from ..models import spatial_loop


def swing(p):
    """Height of a redundant loop after a while, and how many steps it took."""
    system, state = spatial_loop(mass=p["mass"], length=p["length"])
    sol = mb.simulate(system, state, t1=0.2, rtol=1e-6, atol=1e-6)
    return {"height": sol.final.point("coupler", "middle")[1], "steps": sol.stats.steps}


def samples(count):
    rng = np.random.default_rng(5)
    return {"mass": rng.uniform(0.5, 2.0, count), "length": rng.uniform(1.4, 1.6, count)}


@pytest.mark.parametrize("workers, bundle", [(1, None), (2, None), (2, 3)])
def test_is_the_loop(workers, bundle):
    """More samples than a portion, and a last portion that is not full."""
    rows = samples(21)
    out = mb.map_runs(swing, rows, workers=workers, bundle=bundle)
    one = jax.jit(swing)
    expected = [one({name: x[k] for name, x in rows.items()}) for k in range(21)]
    np.testing.assert_allclose(out["height"], [x["height"] for x in expected], atol=1e-9)
    np.testing.assert_array_equal(out["steps"], [x["steps"] for x in expected])


def test_keeps_order_and_shapes():
    x = jnp.arange(100.0).reshape(50, 2)
    out = mb.map_runs(lambda row: (row[::-1], jnp.sum(row)), x, workers=2)
    np.testing.assert_array_equal(out[0], x[:, ::-1])
    np.testing.assert_array_equal(out[1], jnp.sum(x, axis=1))


def test_derivatives_and_jit_go_through_it():
    x = jnp.linspace(0.1, 1.0, 5)
    grad = jax.jit(jax.grad(lambda x: jnp.sum(mb.map_runs(jnp.sin, x) ** 2)))(x)
    np.testing.assert_allclose(grad, 2 * jnp.sin(x) * jnp.cos(x), atol=1e-14)


@pytest.mark.parametrize(
    "call, phrase",
    [
        (lambda: mb.map_runs(jnp.sin, 1.0), "one row per sample"),
        (lambda: mb.map_runs(jnp.sin, jnp.zeros(0)), "at least one"),
        (lambda: mb.map_runs(lambda p: p["a"], {"a": jnp.zeros(3), "b": jnp.zeros(4)}), r"\(3,\), \(4,\)"),
        (lambda: mb.map_runs(jnp.sin, jnp.zeros(3), bundle=0), "bundle=0"),
        (lambda: mb.map_runs(jnp.sin, jnp.zeros(3), workers=-1), "workers=-1"),
    ],
)
def test_bad_input_is_named(call, phrase):
    with pytest.raises(mb.ModelError, match=phrase):
        call()
