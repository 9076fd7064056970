"""A pin in a slot, on the Scotch yoke."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmb import Body, ModelError, Planar, PlanarPrismatic, PlanarRevolute, PlanarSlot, System, rod
from jaxmb.joints.planar_slot import across
from jaxmb.spatial import Pose, frame_with_z

from ..oracles import accelerations, rank, turn


def test_the_yoke_follows_the_cosine_of_the_crank():
    r, m, m_yoke, phi, w = 0.3, 1.5, 2.0, 0.7, 4.0
    pin = r * np.array([np.cos(phi), np.sin(phi), 0.0])

    @jax.jit
    def terms():
        system = System(
            {"crank": rod((0, 0, 0), pin, mass=m), "yoke": Body(m_yoke, (1, 1, 1), position=(pin[0], 0, 0))},
            {
                "A": PlanarRevolute("ground", "crank", point=(0, 0, 0)),
                "guide": PlanarPrismatic("ground", "yoke", point=(0, 0, 0), axis="x"),
                "slot": PlanarSlot("yoke", "crank", to="end", axis="y"),
            },
            coordinates=Planar(),
        )
        spin = jnp.array([0.0, 0.0, w])
        yoke = jnp.array([-r * w * np.sin(phi), 0.0, 0.0])
        state = system.state(omega={"crank": spin}, velocity={"crank": jnp.cross(spin, pin / 2), "yoke": yoke})
        return system.equations().terms(state.t, state.q, state.v)

    found = terms()
    np.testing.assert_allclose(found.Phi, 0.0, atol=1e-14)
    np.testing.assert_allclose(found.Phi_dot, 0.0, atol=1e-14)
    assert rank(found.J) == 5
    # T = (m r^2 / 3) w^2 / 2 + m_yoke (r w sin)^2 / 2
    expected = -m_yoke * r**2 * np.sin(phi) * np.cos(phi) * w**2 / (m * r**2 / 3 + m_yoke * r**2 * np.sin(phi) ** 2)
    a = accelerations(found)
    assert a[2] == pytest.approx(expected, rel=1e-10)
    assert a[3] == pytest.approx(-r * np.sin(phi) * expected - r * np.cos(phi) * w**2, rel=1e-10)


def test_slide_and_turn_are_left_and_the_slide_is_measured():
    axis = np.array([0.6, 0.8, 0.0])
    F = Pose(jnp.array([1.0, 2.0, 0.0]), frame_with_z(jnp.array(axis)))
    joint = PlanarSlot("a", "b")
    G = Pose(F.p + jnp.array(-0.4 * axis), jnp.array(turn([0, 0, 1], 1.0)) @ F.R)
    np.testing.assert_allclose(joint.residual(F, G, jnp.zeros(())), [0.0], atol=1e-14)
    np.testing.assert_allclose(joint.measure(F, G), [-0.4], atol=1e-14)
    off = Pose(G.p + 0.1 * across(F), G.R)
    np.testing.assert_allclose(joint.residual(F, off, jnp.zeros(())), [0.1], atol=1e-14)


@pytest.mark.parametrize("make", [PlanarSlot, PlanarPrismatic])
@pytest.mark.parametrize("axis", ["z", (1, 0, 0.1)])
def test_an_axis_out_of_the_plane_is_refused(make, axis):
    with pytest.raises(
        ModelError, match=r"\('a', 'b'\) has axis .*, which leaves the plane z = 0. Give a direction in it"
    ):
        make("a", "b", axis=axis)
