import diffrax
import jax.numpy as jnp
import pytest

from jaxmb.integrators.noticing import Noticing
from jaxmb.status import NAMES, Status, as_number, from_number


class Telling(diffrax.Tsit5):
    """Tells the controller, as `Stabilized` does, that a step took seven evaluations."""

    def step(self, *args, **kwargs):
        y1, error, *rest = super().step(*args, **kwargs)
        return y1, (error[0], jnp.asarray(7.0), jnp.zeros(())), *rest


def solve(field):
    """y = (a number, work, failure)."""
    return diffrax.diffeqsolve(
        diffrax.ODETerm(lambda t, y, args: (*field(t, y, args)[:1], jnp.zeros(()), *field(t, y, args)[1:])),
        Telling(), 0.0, 1.0, 0.1, (jnp.ones(()), jnp.zeros(()), jnp.zeros(())), throw=False, max_steps=4096,
        stepsize_controller=Noticing(
            diffrax.PIDController(rtol=1e-6, atol=1e-6, dtmin=1e-10, force_dtmin=False, norm=lambda y: jnp.abs(y[0]))
        ),
        saveat=diffrax.SaveAt(t1=True, controller_state=True),
    )  # fmt: skip


def test_evaluations_are_counted_for_rejected_steps_too():
    out = solve(lambda t, y, args: (-1000.0 * (y[0] - jnp.cos(t)), jnp.zeros(())))
    assert out.stats["num_rejected_steps"] > 0
    assert out.controller_state.evaluations == 7.0 * out.stats["num_steps"]


def test_nan_is_noticed_and_a_good_run_is_not_accused():
    good = solve(lambda t, y, args: (-y[0], jnp.zeros(())))
    assert from_number(good.controller_state.failure) == Status.successful and abs(good.ys[0][0] - jnp.exp(-1.0)) < 1e-5
    bad = solve(lambda t, y, args: (jnp.where(t > 0.5, jnp.nan, -y[0]), jnp.zeros(())))
    assert from_number(bad.controller_state.failure) == Status.not_finite and bad.result != diffrax.RESULTS.successful


def test_a_formulation_that_fails_is_named():
    failing = solve(lambda t, y, args: (jnp.nan * y[0], as_number(Status.redundant)))
    assert (
        from_number(failing.controller_state.failure) == Status.redundant
        and failing.result != diffrax.RESULTS.successful
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_status_survives_as_a_number(name):
    status = getattr(Status, name)
    assert from_number(as_number(status)) == status
