"""Generalised coordinates against trusted trajectories of the papers and closed forms."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmb as mb


def crank_and_slider(mass=1.0, length=2.0):
    """Two rods and a slider in relative angles (from the downward vertical), closed by two constraints."""

    def positions(q, p):
        a, b, x = q
        first = p["L"] / 2 * jnp.stack([jnp.sin(a), -jnp.cos(a)])
        second = 2 * first + p["L"] / 2 * jnp.stack([jnp.sin(a + b), -jnp.cos(a + b)])
        return first, second, x

    def kinetic(q, v, p):
        _, (first, second, slider) = jax.jvp(lambda q: positions(q, p), (q,), (v,))
        turn = p["m"] * p["L"] ** 2 / 12 * (v[0] ** 2 + (v[0] + v[1]) ** 2)
        return 0.5 * p["m"] * (first @ first + second @ second + slider**2) + 0.5 * turn

    def potential(q, p):
        first, second, _ = positions(q, p)
        return p["m"] * 9.81 * (first[1] + second[1])

    def constraint(q, t, p):
        a, b, x = q
        return p["L"] * jnp.stack([jnp.sin(a) + jnp.sin(a + b) - x / p["L"], -jnp.cos(a) - jnp.cos(a + b)])

    return mb.GeneralizedSystem(
        kinetic, potential, constraint, None, {"m": mass, "L": length}, coordinates=("theta1", "theta2", "x3")
    )


def test_agrees_with_the_one_degree_of_freedom_form():
    """theta2 = pi - 2 theta1, x3 = 4 sin theta1 and V = -2 m g cos theta1: energy gives the rate in closed form."""
    system = crank_and_slider()
    angle = 3 * np.pi / 4
    sol = mb.simulate(
        system, system.state([angle, -np.pi / 2, 4 * np.sin(angle)]), t1=1.5, dt_save=0.1, rtol=1e-11, atol=1e-11
    )
    theta, rate = np.asarray(sol.coordinate("theta1")), np.asarray(sol.v[:, 0])
    assert np.max(np.abs(sol.coordinate("theta2") - (np.pi - 2 * theta))) < 1e-9
    assert np.max(np.abs(sol.coordinate("x3") - 4 * np.sin(theta))) < 1e-9
    # T = 1/2 I(theta) rate^2: both rods turn about moving points, the slider moves by 4 cos(theta) rate.
    first = np.ones_like(theta)
    second = (3 * np.cos(theta)) ** 2 + np.sin(theta) ** 2
    inertia = first + second + 2 / 3 + (4 * np.cos(theta)) ** 2
    energy = 0.5 * inertia * rate**2 - 2 * 9.81 * np.cos(theta)
    assert np.max(np.abs(energy - energy[0])) < 1e-8


def test_mass_matrix_is_the_textbook_one():
    q, v = jnp.array([0.3, 0.7, 1.0]), jnp.array([0.1, -0.4, 0.2])
    M = crank_and_slider().terms(jnp.zeros(()), q, v).M
    c = np.cos(0.7)
    expected = [[20 / 3 + 4 * c, 4 / 3 + 2 * c, 0], [4 / 3 + 2 * c, 4 / 3, 0], [0, 0, 1]]
    assert np.allclose(M, expected)


@pytest.mark.slow
def test_redundant_constraints_and_gradients():
    """A particle on a circle whose equation is written twice: the derivative of its path is that of the simple one."""

    def end(radius, rows):
        system = mb.GeneralizedSystem(
            lambda q, v, p: 0.5 * v @ v,
            lambda q, p: 9.81 * q[1],
            lambda q, t, p: jnp.stack([q @ q - p**2] * rows),
            parameters=radius,
            coordinates=("x", "y"),
        )
        state = system.state(jnp.stack([radius, jnp.zeros(())]))
        return mb.simulate(system, state, t1=0.4, dt=0.02, max_steps=64).q[-1]

    once, twice = (jax.jacrev(lambda r, rows=rows: end(r, rows))(1.0) for rows in (1, 2))
    assert np.allclose(once, twice, atol=1e-9)
    assert np.allclose(twice, (end(1.0 + 1e-5, 2) - end(1.0 - 1e-5, 2)) / 2e-5, atol=1e-7)


@pytest.mark.parametrize(
    ("make", "phrase"),
    [
        (lambda: mb.GeneralizedSystem(lambda q, v, p: v, coordinates=("x",)), "an energy is a scalar"),
        (lambda: mb.GeneralizedSystem(lambda q, v, p: v @ v, coordinates=("x", "x")), "each once"),
        (
            lambda: mb.GeneralizedSystem(lambda q, v, p: v @ v, None, lambda q, t, p: q[0], coordinates=("x",)),
            "a vector",
        ),
        (lambda: mb.GeneralizedSystem(lambda q, v, p: v @ v, coordinates=("x",)).state([1.0, 2.0]), "have shapes"),
    ],
)
def test_bad_functions_are_refused(make, phrase):
    with pytest.raises(mb.ModelError, match=phrase):
        make()
