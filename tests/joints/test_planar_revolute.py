"""The pin of planar mechanisms, on a double pendulum with textbook equations."""

import jax
import jax.numpy as jnp
import numpy as np

from jaxmb import Gravity, Planar, PlanarRevolute, System, rod

from ..oracles import accelerations, rank
from .frames import about, along, coordinates

G = 9.81
M1, M2, L1, L2 = 1.2, 0.7, 0.9, 0.6


def test_two_planar_rods_swing_as_the_double_pendulum_of_the_textbook():
    th1, th2, w1, w2 = 0.4, -1.1, 1.3, -2.0
    pin = L1 * np.array([np.cos(th1), np.sin(th1), 0.0])
    end = pin + L2 * np.array([np.cos(th2), np.sin(th2), 0.0])

    @jax.jit
    def terms():
        system = System(
            {"one": rod((0, 0, 0), pin, mass=M1), "two": rod(pin, end, mass=M2)},
            {
                "A": PlanarRevolute("ground", "one", point=(0, 0, 0)),
                "B": PlanarRevolute("one", "two", at="end", to="start"),
            },
            {"gravity": Gravity((0, -G, 0))},
            coordinates=Planar(),
        )
        spin1, spin2 = (jnp.array([0.0, 0.0, w]) for w in (w1, w2))
        v1, v2 = jnp.cross(spin1, pin / 2), jnp.cross(spin1, pin) + jnp.cross(spin2, (end - pin) / 2)
        state = system.state(omega={"one": spin1, "two": spin2}, velocity={"one": v1, "two": v2})
        return system.equations().terms(state.t, state.q, state.v)

    found = terms()
    np.testing.assert_allclose(found.Phi, 0.0, atol=1e-14)
    np.testing.assert_allclose(found.Phi_dot, 0.0, atol=1e-14)
    assert rank(found.J) == 4
    c, s = np.cos(th1 - th2), np.sin(th1 - th2)
    M = np.array([[(M1 / 3 + M2) * L1**2, M2 * L1 * L2 * c / 2], [M2 * L1 * L2 * c / 2, M2 * L2**2 / 3]])
    right = [
        -M2 * L1 * L2 * s * w2**2 / 2 - (M1 / 2 + M2) * G * L1 * np.cos(th1),
        M2 * L1 * L2 * s * w1**2 / 2 - M2 * G * L2 * np.cos(th2) / 2,
    ]
    np.testing.assert_allclose(accelerations(found)[[2, 5]], np.linalg.solve(M, right), rtol=1e-10)


def test_the_angle_is_about_z():
    np.testing.assert_allclose(
        coordinates(PlanarRevolute("a", "b"), about("z", -2.0), along(x=1.0)), [-2.0], atol=1e-14
    )
