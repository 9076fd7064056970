import diffrax
import jax.numpy as jnp

from jaxmb.integrators.noticing import Noticing


def solve(field):
    return diffrax.diffeqsolve(
        diffrax.ODETerm(field), diffrax.Tsit5(), 0.0, 1.0, 0.1, jnp.ones(()), throw=False, max_steps=4096,
        stepsize_controller=Noticing(diffrax.PIDController(rtol=1e-6, atol=1e-6, dtmin=1e-10)),
        saveat=diffrax.SaveAt(t1=True, controller_state=True),
    )  # fmt: skip


def test_nan_is_noticed_and_a_good_run_is_not_accused():
    good = solve(lambda t, y, args: -y)
    assert not bool(good.controller_state.not_finite) and abs(good.ys[0] - jnp.exp(-1.0)) < 1e-5
    bad = solve(lambda t, y, args: jnp.where(t > 0.5, jnp.nan, -y))
    assert bool(bad.controller_state.not_finite) and bad.result != diffrax.RESULTS.successful
