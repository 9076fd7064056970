"""Right derivatives are confirmed, wrong ones are found and named: formulas, custom rules, simulations of redundant loops."""

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmb as mb

from ..models import parallelogram, spatial_loop


@jax.custom_jvp
def wrong_rule(x):
    return jnp.sin(x)


@wrong_rule.defjvp
def _(primals, tangents):
    return jnp.sin(primals[0]), 1.01 * jnp.cos(primals[0]) * tangents[0]


@jax.custom_vjp
def only_reverse(x):
    return x**2


only_reverse.defvjp(lambda x: (x**2, x), lambda x, bar: (2 * x * bar,))


def rows(check):
    return {row.name: row for row in check.rows}


def test_a_smooth_function_of_a_tree_is_confirmed():
    parameters = {"mass": 2.0, "table": jnp.arange(1.0, 7.0), "point": jnp.array([0.3, -0.2]), "count": 3}

    def function(p):
        return p["count"] * jnp.sin(p["mass"]) * jnp.sum(jnp.cos(p["table"]) ** 2) + p["point"][0] * p["point"][1] ** 3

    check = mb.gradcheck(function, parameters, batch=3)
    assert check.ok, str(check)
    assert [row.name for row in check.rows] == [
        "['mass']", "['point'][0]", "['point'][1]", *(f"['table'] direction {k}" for k in (1, 2, 3)), "vmap of 3 (worst entry)",
    ]  # fmt: skip
    assert rows(check)["['point'][1]"].reverse == pytest.approx(0.3 * 3 * 0.04, rel=1e-12)
    assert "7 of 7 derivatives confirmed" in str(check)
    second = mb.gradcheck(function, parameters, order=2)
    assert second.ok and "second derivatives" in str(second), str(second)


def test_a_wrong_rule_is_found_and_named():
    check = mb.gradcheck(lambda p: wrong_rule(p["bad"]) + jnp.sin(p["good"]), {"bad": 0.4, "good": 0.4})
    assert not check.ok
    assert {name: row.verdict for name, row in rows(check).items()} == {"['bad']": "disagrees", "['good']": "ok"}
    assert rows(check)["['bad']"].difference == pytest.approx(np.cos(0.4), abs=1e-10)
    assert "['bad']" in str(check) and "disagrees" in str(check)


def test_a_wrong_second_derivative_is_found_where_the_first_is_right():
    @jax.custom_jvp
    def slope(x):
        return jnp.cos(x)

    slope.defjvp(lambda primals, tangents: (jnp.cos(primals[0]), -0.9 * jnp.sin(primals[0]) * tangents[0]))

    @jax.custom_jvp
    def sine(x):
        return jnp.sin(x)

    sine.defjvp(lambda primals, tangents: (jnp.sin(primals[0]), slope(primals[0]) * tangents[0]))
    assert mb.gradcheck(sine, 0.7).ok
    (row,) = mb.gradcheck(sine, 0.7, order=2).rows
    assert row.verdict == "disagrees"


def test_nan_is_named_even_where_the_function_is_smooth():
    """|x| at 0 by a square root; and x^2, of which a careless derivative is NaN."""
    check = mb.gradcheck(lambda p: jnp.sqrt(p["x"] ** 2) ** 2 + p["y"], {"x": 0.0, "y": 1.0})
    assert {name: row.verdict for name, row in rows(check).items()} == {"['x']": "not finite", "['y']": "ok"}


def test_noise_larger_than_the_derivative_is_said():
    def function(x):
        return 1e-5 * jnp.sin(x) + jax.lax.stop_gradient(jnp.sin(1e9 * x))

    (row,) = mb.gradcheck(function, 0.5).rows
    assert row.verdict == "differences too noisy to tell"


def test_without_forward_mode_reverse_is_compared_with_differences():
    check = mb.gradcheck(lambda x: only_reverse(x), 1.5)
    assert check.ok and check.rows[0].forward is None
    assert "Forward mode was not compared" in str(check)


def test_a_module_is_varied_in_its_arrays():
    network = eqx.nn.MLP(1, 1, 4, 1, activation=jnp.tanh, key=jax.random.key(0))
    check = mb.gradcheck(lambda net: net(jnp.array([0.3]))[0], network, batch=2)
    assert check.ok, str(check)
    assert any("layers[0].weight" in row.name for row in check.rows)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mb.gradcheck(lambda x: x, jnp.ones(2)), r"one number.*shape \(2,\)"),
        (lambda: mb.gradcheck(lambda x: {"a": x}, 1.0), "one number.*returned dict"),
        (lambda: mb.gradcheck(lambda x: x, {"n": 1}), "no float to vary"),
        (lambda: mb.gradcheck(jnp.sin, 1.0, order=3), "order=3"),
        (lambda: mb.gradcheck(jnp.sin, 1.0, directions=0), "directions=0"),
        (lambda: mb.gradcheck(jnp.sin, 1.0, step=0.0), "step=0.0"),
        (lambda: mb.gradcheck(jnp.sin, 1.0, rtol=-1.0), "rtol=-1.0"),
        (lambda: mb.gradcheck(jnp.sin, 1.0, batch=-1), "batch=-1"),
    ],
)
def test_what_cannot_be_checked_is_said(call, message):
    with pytest.raises(mb.ModelError, match=message):
        call()


MODELS = {"redundant": (spatial_loop, (1.0, 1.5, 20.0, 1.2)), "symmetric": (parallelogram, (1.0, 1.0, 20.0, -0.9))}


def outcome(build, t1):
    def run(p, gradient="reverse"):
        options = dict(t1=t1, dt=0.025, solver=diffrax.Dopri5(), max_steps=16)
        sol = mb.simulate(*build(*(p[k] for k in sorted(p))), gradient=gradient, **options)
        x = sol.final.point("coupler", "end")
        return x[0] + 2.0 * x[1]

    return run


@pytest.mark.parametrize("name", MODELS)
def test_simulation_of_a_redundant_mechanism(name):
    """A loop of 20 rows and rank 17; and three equal cranks, doubly redundant, with repeated singular values."""
    build, values = MODELS[name]
    p = dict(zip(("a_mass", "b_length", "c_stiffness", "d_angle"), values, strict=True))
    check = mb.gradcheck(outcome(build, 0.1), p)
    assert check.ok, str(check)
    assert all(row.forward is not None and abs(row.reverse) > 1e-6 for row in check.rows)
