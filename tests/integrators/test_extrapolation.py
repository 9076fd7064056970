import jax.numpy as jnp
import numpy as np
import pytest

from jaxmb.integrators.extrapolation import evaluations, extrapolate


@pytest.mark.parametrize(
    ("columns", "sizes"), [(1, (0.1, 0.05)), (2, (0.2, 0.1)), (3, (0.2, 0.1)), (5, (0.8, 0.6)), (7, (1.5, 1.2))]
)
def test_order(columns, sizes):
    """The error of one step of y' = y (written with time, so that its times matter) has the order 2 columns + 1."""

    def f(t, y):
        return 0.9 * y + 0.1 * jnp.exp(t)

    errors = []
    for h in sizes:
        y1, slopes = extrapolate(f, jnp.zeros(()), jnp.ones(1), jnp.ones(1), jnp.asarray(h), columns)
        assert slopes.shape == (evaluations(columns), 1)
        errors.append(abs(float(y1[0]) - np.exp(h)))
    order = np.log(errors[0] / errors[1]) / np.log(sizes[0] / sizes[1])
    assert abs(order - (2 * columns + 1)) < 0.2
