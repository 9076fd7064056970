"""A user's own constraint: any number of rows, static or with parameters, and a clear word on wrong shapes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmb import ModelError, UserJoint

from .frames import F, T, along


def test_rows_are_those_of_the_function():
    joint = UserJoint("a", "b", lambda F, G, t: jnp.stack([jnp.dot(F.x, G.p - F.p) - t, jnp.dot(F.z, G.z)]))
    assert joint.nrows == 2 and joint.rheonomic
    np.testing.assert_allclose(joint.residual(F, F @ along(x=0.3), T + 0.1), [0.2, 1.0], atol=1e-14)


def test_parameters_of_a_callable_pytree_are_leaves():
    def near(length, F, G, t):
        d = G.p - F.p
        return (jnp.dot(d, d) - length**2)[None]

    joint = UserJoint("a", "b", jax.tree_util.Partial(near, 0.5))
    assert joint.nrows == 1
    rate = jax.grad(lambda joint: joint.residual(F, F @ along(x=0.3), T)[0])(joint)
    np.testing.assert_allclose(jax.tree.leaves(rate.function), [-1.0])


@pytest.mark.parametrize("function", [lambda F, G, t: jnp.dot(F.x, G.z), lambda F, G, t: G.R])
def test_other_shapes_are_refused(function):
    with pytest.raises(
        ModelError, match=r"UserJoint\('a', 'b'\) has a function that returns shape .*Wrap a scalar with"
    ):
        UserJoint("a", "b", function)
