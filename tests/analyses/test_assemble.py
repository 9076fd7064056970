import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmb as mb

from ..models import spatial_loop


def test_closes_the_loop_with_the_held_angle():
    system, _ = spatial_loop()
    state = mb.assemble_state(system, hold={"A": 1.2})
    terms = system.equations().terms(state.t, state.q, state.v)
    assert np.max(np.abs(terms.Phi)) < 1e-12
    tip = np.array([np.cos(1.2), np.sin(1.2)])
    sol_point = mb.simulate(system, state, t1=1e-6)[0].point("crank", "end")
    assert np.allclose(sol_point, [*tip, 0.0], atol=1e-12)


@pytest.mark.slow
def test_derivative_is_that_of_the_closed_form():
    """Elbow of the loop: intersection of two circles, differentiated by hand with respect to the coupler's length."""

    def joint_c(length):
        system, state = spatial_loop(length=length)
        poses = system.equations().poses(state.q)
        k = list(system.bodies).index("rocker")
        return poses.p[k] + poses.R[k] @ system.bodies["rocker"].points["end"]

    def circles(length):
        b, d = np.array([np.cos(1.2), np.sin(1.2)]), np.array([1.6, 0.0])
        along = d - b
        distance = np.hypot(*along)
        a = (length**2 - 1.2**2 + distance**2) / (2 * distance)
        h = np.sqrt(length**2 - a**2)
        across = np.array([-along[1], along[0]]) / distance
        return [b + a * along / distance + sign * h * across for sign in (1, -1)]

    found = np.asarray(joint_c(1.5))[:2]
    branch = int(np.argmin([np.hypot(*(found - c)) for c in circles(1.5)]))
    assert np.allclose(found, circles(1.5)[branch], atol=1e-10)
    slope = (circles(1.5 + 1e-6)[branch] - circles(1.5 - 1e-6)[branch]) / 2e-6
    assert np.allclose(jax.jacfwd(joint_c)(1.5)[:2], slope, atol=1e-8)
    assert np.allclose(jax.jacrev(joint_c)(1.5)[:2], slope, atol=1e-8)


def test_rates_are_met_and_consistent():
    system, state = spatial_loop()
    moving = mb.assemble_state(system, state, rates={"A": 2.0})
    terms = system.equations().terms(moving.t, moving.q, moving.v)
    assert np.max(np.abs(terms.Phi_dot)) < 1e-12
    assert abs(mb.simulate(system, moving, t1=1e-6).joint("A").angle_rate[0] - 2.0) < 1e-10


def test_what_cannot_be_closed_names_the_joint():
    with pytest.raises(mb.ModelError, match=r"could not close joint '[A-D]': row .* stays open by .*\(held: A\)"):
        spatial_loop(length=0.1)
    inside = jax.jit(lambda length: spatial_loop(length=length)[1].q)(0.1)
    assert np.all(np.isnan(inside)), "inside jit the failure is NaN, never a plausible state"


def test_bad_names_are_refused():
    system, _ = spatial_loop()
    with pytest.raises(mb.ModelError, match="Asked for joint 'Q'"):
        mb.assemble_state(system, hold={"Q": 1.0})
    ball = mb.System(
        {"a": mb.sphere((0, 0, 0), radius=1.0, mass=1.0)}, {"s": mb.Spherical("ground", "a", point=jnp.zeros(3))}
    )
    with pytest.raises(mb.ModelError, match="a Spherical without coordinates"):
        mb.assemble_state(ball, hold={"s": 1.0})
