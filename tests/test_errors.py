"""The phrases of messages about names, and what counts as known."""

import jax
import jax.numpy as jnp
import pytest

from jaxmb.errors import ModelError, SimulationError, did_you_mean, is_concrete, unknown_name


def test_a_near_name_is_suggested_and_a_far_one_is_not():
    assert did_you_mean("couplr", ["crank", "coupler"]) == " Did you mean 'coupler'?"
    assert did_you_mean("xyz", ["crank", "coupler"]) == ""


def test_unknown_name_says_who_asked_what_there_is_and_what_was_meant():
    error = unknown_name("Joint 'C' connects to body", "Bodies", "couplr", iter(["ground", "crank", "coupler"]))
    assert str(error) == (
        "Joint 'C' connects to body 'couplr', which is not in the system. Bodies: ground, crank, coupler. "
        "Did you mean 'coupler'?"
    )
    assert str(unknown_name("Asked for joint", "Joints", "A", [])).endswith("Joints: none.")


def test_errors_can_be_caught_as_what_they_are():
    with pytest.raises(ValueError):
        raise ModelError("bad")
    with pytest.raises(RuntimeError):
        raise SimulationError("bad")


def test_values_are_concrete_outside_of_transformations_only():
    seen = []

    def f(x):
        seen.append(is_concrete({"a": x, "b": 1.0}))
        return x

    f(jnp.ones(()))
    jax.jit(f)(1.0)
    jax.grad(f)(1.0)
    jax.vmap(f)(jnp.ones(2))
    assert seen == [True, False, False, False]
    assert is_concrete("text", None, 1.0, jnp.ones(2))
