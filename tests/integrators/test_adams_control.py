"""What comes next: factors and orders where the errors are known in advance."""

import diffrax
import jax.numpy as jnp
import numpy as np
import optimistix as optx
import pytest

from jaxmb.integrators.adams_control import (
    AIM,
    GRID,
    AdamsController,
    Differences,
    encode,
    repeat_factor,
    settled,
    starting,
)
from jaxmb.integrators.differences import integrals, powers, span, truncation

K = 12
CONTROLLER = AdamsController(1e-6, 1e-6, 1e-10, optx.rms_norm)


def seen(h, tolerance, rate=1.0, known=K, a=None):
    """The differences of exp(rate t) over steps of length h: the j-th derivative is rate^j, and Phi_j follows from it."""
    a = jnp.arange(1.0 * K) if a is None else a
    j = np.arange(K + 1)
    factorial = np.cumprod(np.maximum(j, 1.0))
    size = h * span(a) * (rate * h) ** j / factorial / tolerance
    error = jnp.where((j >= 1) & (j <= known), size * truncation(integrals(powers(a))), jnp.inf)
    return Differences(size, error, a)


@pytest.mark.parametrize(
    ("success", "factor"), [*((True, x) for x in (0.5, 0.9, 1.0, 2.0, 10.0)), *((False, x) for x in (0.01, 0.5, 0.9))]
)
def test_the_controller_takes_the_step_it_was_told(success, factor):
    y = jnp.array([1.0, -3.0])
    direction = jnp.array([1.0, 0.5]) * (1e-6 + 1e-6 * jnp.abs(y))
    error = direction / jnp.sqrt(jnp.mean(jnp.array([1.0, 0.25]))) * encode(jnp.asarray(success), jnp.asarray(factor))
    keep, t0, t1, jump, _, result = CONTROLLER.adapt_step_size(1.0, 1.5, y, y, None, error, 1, None)
    assert bool(keep) == success and not jump and result == diffrax.RESULTS.successful
    taken = 2.0 ** (np.floor(GRID * np.log2(factor) + 1e-3) / GRID)
    assert (
        taken > 0.95 * factor and abs(float(t1 - t0) - 0.5 * taken) < 1e-15 and float(t0) == (1.5 if success else 1.0)
    )


def test_somebody_else_may_reject_and_steps_may_collapse():
    y = jnp.ones(2)
    for size in (1e6, jnp.inf):
        keep, t0, t1, _, _, _ = CONTROLLER.adapt_step_size(1.0, 1.5, y, jnp.nan * y, None, size * y, 1, None)
        assert not bool(keep) and float(t1 - t0) == 0.125
    *_, result = CONTROLLER.adapt_step_size(1.0, 1.0 + 2e-10, y, y, None, 1e6 * y, 1, None)
    assert result == diffrax.RESULTS.dt_min_reached
    with pytest.raises(ValueError, match="needs a first step"):
        CONTROLLER.init(None, 0.0, 1.0, y, None, None, None, 1)


def test_an_order_and_step_settle_where_the_error_is_what_was_aimed_at():
    """For exp(t) at 1e-8: a step that stays as it is could not grow by a fifth, and no neighbouring order reaches farther."""
    h, k = 0.05, jnp.asarray(5)
    for _ in range(60):
        k, factor = settled(k, seen(h, 1e-8), jnp.asarray(5))
        h *= float(factor)
    error = np.asarray(seen(h, 1e-8).error)
    assert int(k) > 6 and AIM / 1.2 ** (int(k) + 1) < error[int(k)] <= AIM
    reach = [(AIM / error[j]) ** (1 / (j + 1)) for j in range(1, K + 1)]
    assert reach[int(k) - 1] >= max(reach[int(k) - 2 : int(k) + 1])


def test_an_order_is_not_raised_on_unequal_steps():
    unequal, _ = settled(jnp.asarray(5), seen(0.05, 1e-8), jnp.asarray(1))
    equal, _ = settled(jnp.asarray(5), seen(0.05, 1e-8), jnp.asarray(3))
    assert int(unequal) == 5 and int(equal) == 6


def test_growing_differences_lower_the_order():
    """With |lambda| h = 5 every difference is larger than the one before: stability bounds the step."""
    k, _ = settled(jnp.asarray(6), seen(0.05, 1.0, rate=100.0), jnp.asarray(9))
    assert int(k) == 5


def test_the_start_grows_by_more_than_two_and_keeps_its_promise():
    """From two steps of 1e-3 of exp(t): the raised order with the factor it was given has an error below 1."""
    h = 1e-3
    a = jnp.arange(1.0 * K)
    k, factor = starting(jnp.asarray(2), seen(h, 1e-8, known=2, a=a))
    ratio = float(factor)
    assert int(k) == 3 and ratio > 4
    ahead = seen(h * ratio, 1e-8, a=jnp.concatenate([jnp.zeros(1), 1.0 + a[:-1]]) / ratio)
    assert float(ahead.error[3]) < 0.2
    # Equal steps of that length would fail.
    assert float(seen(h * ratio, 1e-8).error[3]) > 2 * float(ahead.error[3])


def test_failures():
    def failed(k, error):
        return float(
            repeat_factor(
                jnp.asarray(k), Differences(0.5 ** jnp.arange(K + 1.0) / 3, jnp.full(K + 1, error), jnp.arange(1.0 * K))
            )
        )

    assert abs(failed(3, 4.0) - (AIM / 4.0) ** 0.25) < 1e-12
    assert failed(3, 1e9) == 0.1 and failed(1, 1e9) == 0.01 and failed(3, jnp.nan) == 0.1


def test_a_kink_shows_its_jump():
    """All differences are as large as the jump, so the error is half of the step times it, whatever the formula says."""
    jump = Differences(jnp.full(K + 1, 40.0), jnp.full(K + 1, 1e-3), jnp.arange(1.0 * K))
    k = jnp.asarray(7)
    assert bool(jump.rough(k)) and float(jump.honest(k)) == 20.0
    smooth = seen(0.1, 1e-8)
    assert not bool(smooth.rough(k)) and float(smooth.honest(k)) == float(smooth.error[7])
