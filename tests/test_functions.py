"""Functions as parts of a model: equal when they do the same, never equal when they do not."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from jaxmb import Driver
from jaxmb.errors import ModelError
from jaxmb.functions import Constant, Tabulated, as_function, of_time

from .oracles import jacobian

SPEED = 1.0
T = jnp.array(2.0)


def structure(f):
    return jax.tree.structure(as_function(f))


def same(f, g) -> bool:
    equal = structure(f) == structure(g)
    if equal:
        assert hash(structure(f)) == hash(structure(g))
    return equal


def closing_over(w):
    return lambda t: w * t


def test_a_builder_called_twice_gives_equal_structures():
    def build():
        return Driver("A", lambda t: 2.0 * t)

    assert jax.tree.structure(build()) == jax.tree.structure(build())
    assert same(closing_over(2.0), closing_over(2.0))


def test_a_builder_called_twice_compiles_once():
    traces = []

    @jax.jit
    def run(f, t):
        traces.append(1)
        return f(t)

    for _ in range(3):
        assert run(as_function(closing_over(3.0)), T) == 6.0
    assert len(traces) == 1
    assert run(as_function(closing_over(4.0)), T) == 8.0
    assert len(traces) == 2


def reads_default(w):
    def f(t, w=w):
        return w * t

    return f


def reads_keyword_default(w):
    def f(t, *, w=w):
        return w * t

    return f


class Profile:
    def __init__(self, w):
        self.w = w

    def angle(self, t):
        return self.w * t


@pytest.mark.parametrize("make", [closing_over, reads_default, reads_keyword_default, lambda w: Profile(w).angle])
def test_functions_that_read_different_values_differ(make):
    assert not same(make(1.0), make(2.0))


def helper(t):
    return SPEED * t


def reads_global():
    return lambda t: SPEED * t


def reads_global_inside():
    return lambda t: (lambda s: SPEED * s)(t)


def reads_through_helper():
    return lambda t: helper(t)


@pytest.mark.parametrize("make", [reads_global, reads_global_inside, reads_through_helper])
def test_a_changed_global_makes_a_different_function(make, monkeypatch):
    """As in a notebook in which a cell with a lambda is run again after a number has been changed."""
    before = structure(make())
    assert structure(make()) == before
    monkeypatch.setitem(globals(), "SPEED", 5.0)
    assert structure(make()) != before
    assert as_function(make())(T) == 10.0


def test_recursive_functions_are_compared():
    def make():
        def power(t, n=3):
            return t if n == 1 else t * power(t, n - 1)

        return power

    assert same(make(), make())
    assert as_function(make())(T) == 8.0


@pytest.mark.parametrize("array", [np.arange(3.0), jnp.arange(3.0)])
def test_closures_over_arrays_do_not_raise(array):
    f = closing_over(array)
    g = closing_over(array + 1.0)
    assert same(f, f)
    assert same(closing_over(array), closing_over(array))
    assert not same(f, g)
    np.testing.assert_array_equal(as_function(f)(T), 2 * np.arange(3.0))


def test_closures_over_traced_values_are_never_taken_for_each_other():
    """Two traces of one number have equal values; a program compiled for the first must not serve the second."""

    @jax.jit
    def run(f, t):
        return f(t)

    def value(w):
        return run(as_function(closing_over(w)), T)

    for _ in range(2):
        assert jax.grad(value)(3.0) == 2.0
        assert jax.jit(value)(3.0) == 6.0
    np.testing.assert_array_equal(jax.vmap(value)(jnp.arange(3.0)), 2.0 * np.arange(3.0))


class Sine(eqx.Module):
    amplitude: float
    rate: jax.Array
    harmonics: int = eqx.field(static=True, default=1)

    def __call__(self, t):
        return self.amplitude * jnp.sin(self.harmonics * self.rate * t)


def test_callable_pytrees_keep_their_leaves_as_arrays():
    sine = as_function(Sine(2.0, jnp.array(0.5)))
    partial = as_function(jax.tree_util.Partial(lambda w, t: w * t, 3.0))
    for f, leaves in ((sine, [2.0, 0.5]), (partial, [3.0])):
        found = jax.tree.leaves(f)
        assert all(isinstance(leaf, jax.Array) for leaf in found)
        np.testing.assert_array_equal(found, leaves)
    assert sine(T) == pytest.approx(2.0 * np.sin(1.0))
    assert partial(T) == 6.0
    assert jax.grad(lambda f: f(T))(partial).args[0] == 2.0


def test_partials_of_one_lambda_are_equal_up_to_their_numbers():
    def make(w):
        return jax.tree_util.Partial(lambda w, t: w * t, w)

    assert same(make(1.0), make(2.0))
    assert as_function(make(2.0))(T) == 4.0


def test_a_number_is_a_constant_function():
    constant = as_function((1, 2, 3))
    assert isinstance(constant, Constant)
    np.testing.assert_array_equal(constant(T), [1.0, 2.0, 3.0])
    assert constant(T).dtype == jnp.float64


def test_objects_without_a_hash_are_functions_too():
    class Unhashable:
        __hash__ = None

        def __call__(self, t):
            return 2 * t

    f = Unhashable()
    assert same(f, f)
    assert not same(f, Unhashable())


def test_of_time_checks_the_shape():
    assert of_time(lambda t: 2 * t, (), "Driver('A') function")(T) == 4.0
    np.testing.assert_array_equal(of_time((1, 2, 3), (3,), "Applied")(T), [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(of_time(lambda t: (0, t, 1), (3,), "Applied")(T), (0.0, 2.0, 1.0))
    with pytest.raises(ModelError, match=r"Applied force on 'a' has shape \(2,\). Give 3 numbers, or a function"):
        of_time((1.0, 2.0), (3,), "Applied force on 'a'")
    with pytest.raises(ModelError, match=r"Driver\('A'\) function has shape \(1,\). Give one number"):
        of_time(lambda t: t[None], (), "Driver('A') function")


TIMES = np.array([0.0, 0.3, 0.45, 1.0, 1.2, 2.0, 2.1])
VALUES = np.array([1.0, -0.5, 0.2, 0.9, 2.0, 1.5, 1.7])


def test_a_table_is_the_spline_of_scipy_up_to_its_accelerations():
    table, spline = Tabulated(TIMES, VALUES), CubicSpline(TIMES, VALUES)
    ts = np.concatenate([TIMES, np.linspace(0.0, 2.1, 50)])
    for f, order in ((table, 0), (jax.grad(table), 1), (jax.grad(jax.grad(table)), 2)):
        np.testing.assert_allclose(jax.vmap(f)(ts), spline(ts, order), rtol=1e-11, atol=1e-11)


def test_a_table_has_no_value_beyond_its_ends():
    table = Tabulated(TIMES, VALUES)
    for t in (-0.01, 2.11):
        assert np.isnan(table(t))
        assert np.isnan(jax.grad(table)(t))
    assert table(np.nextafter(2.1, 3.0)) == pytest.approx(1.7), "an end missed by rounding is inside"


def test_derivatives_by_the_points_of_a_table_are_exact():
    """By the values the spline is linear: its derivatives are the splines of unit vectors."""
    t, units = 1.1, np.eye(TIMES.size)
    rate = jax.grad(lambda table: jax.grad(table)(t))(Tabulated(TIMES, VALUES))
    np.testing.assert_allclose(rate.x, [CubicSpline(TIMES, e)(t, 1) for e in units], rtol=1e-10, atol=1e-12)
    by_time = jacobian(lambda times: CubicSpline(times, VALUES)(t, 1)[None], TIMES, h=1e-4)[0]
    np.testing.assert_allclose(rate.t, by_time, atol=1e-6)


@pytest.mark.parametrize(
    ("times", "values", "phrase"),
    [
        (TIMES[::-1], VALUES, "times that do not increase"),
        ([0.0, 1.0, 1.0, 2.0], [0.0, 1.0, 2.0, 3.0], "keep one of equal ones"),
        (TIMES, VALUES[:-1], "times of shape (7,) and values of shape (6,)"),
        (TIMES[:3], VALUES[:3], "at least 4, but got times of shape (3,)"),
        (TIMES, np.stack([VALUES, VALUES], axis=1), "values of shape (7, 2)"),
    ],
)
def test_bad_tables_are_explained(times, values, phrase):
    with pytest.raises(ModelError) as refusal:
        Tabulated(times, values)
    assert phrase in str(refusal.value)


def test_tables_of_equal_size_share_a_program():
    assert same(Tabulated(TIMES, VALUES), Tabulated(TIMES + 1.0, 2 * VALUES))
    assert len(jax.tree.leaves(as_function(Tabulated(TIMES, VALUES)))) == 2
