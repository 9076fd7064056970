"""Trees to vectors and back; names, and what is wrong with them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmb as mb
from jaxmb.studies.parameters import Parameters

TREE = {"spring": {"stiffness": 20.0, "count": 3}, "offset": np.array([0.1, 0.2])}


def test_names_are_paths_and_entries():
    free = Parameters(TREE, ("offset[0]",), {"spring.stiffness": (0.0, None)}, {"offset[1]": (0.3, 0.1)})
    assert free.names == ("offset[1]", "spring.stiffness")
    np.testing.assert_array_equal(free.start, [0.2, 20.0])
    np.testing.assert_array_equal(free.lower, [-np.inf, 0.0])
    np.testing.assert_array_equal(free.upper, [np.inf, np.inf])
    np.testing.assert_array_equal(free.prior_deviation, [0.1, np.inf])


def test_the_tree_has_the_form_it_was_given_and_is_differentiable():
    free = Parameters(TREE, ("offset[0]",), {}, {})
    tree = free.tree(jnp.array([5.0, 7.0]))
    assert tree["spring"]["count"] == 3 and float(tree["spring"]["stiffness"]) == 7.0
    np.testing.assert_array_equal(tree["offset"], [0.1, 5.0])
    slope = jax.grad(lambda x: jnp.sum(free.tree(x)["offset"] ** 2))(jnp.array([5.0, 7.0]))
    np.testing.assert_array_equal(slope, [10.0, 0.0])


def test_numbers_of_free_parameters_in_that_form():
    out = Parameters(TREE, ("offset",), {}, {}).like(np.array([0.5]), 0.0)
    assert out["spring"] == {"stiffness": 0.5, "count": None}
    np.testing.assert_array_equal(out["offset"], [0.0, 0.0])


@pytest.mark.parametrize(
    "arguments, phrase",
    [
        (
            (("stifness",), {}, {}),
            "fixed for 'stifness', which is not a parameter. Parameters: offset, spring.stiffness",
        ),
        (((), {"ofset": (0, 1)}, {}), "Did you mean 'offset'"),
        ((("offset", "spring.stiffness"), {}, {}), "none is free"),
        (((), {"offset": (1.0, 0.0)}, {}), "nothing"),
        (((), {"spring.stiffness": (30.0, 40.0)}, {}), "starts at spring.stiffness = 20, which is outside"),
        ((("offset",), {"offset[1]": (0.0, 1.0)}, {}), r"'offset\[1\]', which is fixed"),
        (((), {}, {"offset": (0.0, 0.0)}), "must be positive"),
    ],
)
def test_bad_input_is_named(arguments, phrase):
    with pytest.raises(mb.ModelError, match=phrase):
        Parameters(TREE, *arguments)
