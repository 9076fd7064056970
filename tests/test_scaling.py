"""Lengths against angles: scaled equations are the same in every unit of length."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmb as mb
from jaxmb.scaling import scaling_of


def crank_and_weight(length):
    """A spatial bar on a hinge, a ball on a rod, a planar disk: translations and rotations of three kinds of coordinates."""
    return mb.System(
        {
            "bar": mb.Body(1.0, (0.1 * length**2,) * 3, position=(0.5 * length, 0, 0)),
            "disk": mb.Body(1.0, (0.1 * length**2,) * 3, position=(2 * length, 0, 0)),
            "ball": mb.point_mass((length, length, 0), mass=1.0),
        },
        {
            "hinge": mb.Revolute("ground", "bar", point=(0, 0, 0)),
            "pin": mb.PlanarRevolute("ground", "disk", point=(1.5 * length, 0, 0)),
            "rod": mb.Distance("bar", "ball", at=(0.5 * length, 0, 0), to=(0, 0, 0), length=length),
        },
        coordinates={"bar": mb.Quaternion(), "disk": mb.Planar(), "ball": mb.PointMass()},
    )


def scaled(system, factor=1.0):
    state = system.state()
    equations = system.equations()
    terms = equations.terms(state.t, state.q, state.v)
    scaling = scaling_of(equations, state.q, terms.J)
    J, D = scaling.jacobian(terms.J)
    open_by = jnp.where(scaling.lengths(terms.J), 0.01 * factor, 0.01)
    lengths, residual = scaling.lengths(terms.J), scaling.residual(terms.J, open_by)
    return jax.tree.map(np.asarray, (scaling.length, scaling.columns, lengths, J, D, residual))


@pytest.fixture(scope="module")
def metres():
    return scaled(crank_and_weight(1.0))


def test_the_size_is_that_of_the_ports(metres):
    """By hand: arms on bodies of 0.5, 0.5, 0.5 and 0 m among six ports, and ports at (0, 0), (0, 0), (1.5, 0) twice, (1,
    0) and (1, 1)."""
    ports = np.array([(0, 0), (0, 0), (1.5, 0), (1.5, 0), (1, 0), (1, 1)], float)
    spread = np.mean(np.sum((ports - ports.mean(axis=0)) ** 2, axis=1))
    arms = (0.5**2 + 0.5**2 + 0.5**2) / 6
    assert metres[0] == pytest.approx(np.sqrt(spread + arms), rel=1e-12)


def test_translations_count_by_the_size_and_rotations_by_one(metres):
    length, columns, *_ = metres
    by_body = {"bar": columns[:6], "disk": columns[6:9], "ball": columns[9:]}
    np.testing.assert_array_equal(by_body["bar"], [length] * 3 + [1] * 3)
    np.testing.assert_array_equal(by_body["disk"], [length, length, 1])
    np.testing.assert_array_equal(by_body["ball"], [length] * 3)


def test_rows_that_translations_change_are_lengths(metres):
    # x, y, z and two tilts of the hinge, x and y of the pin, the rod
    assert metres[2].tolist() == [True] * 3 + [False] * 2 + [True] * 3


@pytest.mark.parametrize("factor", [1e-3, 1e3])
def test_scaled_equations_do_not_know_the_unit(metres, factor):
    length, columns, lengths, J, _, residual = scaled(crank_and_weight(factor), factor)
    assert length == pytest.approx(factor * metres[0], rel=1e-12)
    np.testing.assert_array_equal(columns == length, metres[1] == metres[0])
    np.testing.assert_array_equal(lengths, metres[2])
    np.testing.assert_allclose(J, metres[3], atol=1e-12)
    np.testing.assert_allclose(residual, metres[5], rtol=1e-12)


def test_scaled_rows_have_unit_length(metres):
    np.testing.assert_allclose(np.linalg.norm(metres[3], axis=1), 1.0, rtol=1e-12)


def test_a_wheel_on_its_hub_has_the_size_of_its_radius_of_gyration():
    wheel = mb.Body(2.0, (0.5, 0.5, 1.0), position=(0, 0, 0))
    system = mb.System({"wheel": wheel}, {"hub": mb.Revolute("ground", "wheel", point=(0, 0, 0))})
    assert scaled(system)[0] == pytest.approx(np.sqrt((0.5 + 0.5 + 1.0) / 2.0), rel=1e-12)


def test_the_scaling_has_no_derivative():
    def size(length):
        system = crank_and_weight(length)
        state = system.state()
        equations = system.equations()
        return scaling_of(equations, state.q, equations.terms(state.t, state.q, state.v).J).length

    assert jax.grad(size)(1.0) == 0.0


def test_generalised_coordinates_get_columns_of_equal_weight():
    system = mb.GeneralizedSystem(
        kinetic=lambda q, v, p: 0.5 * jnp.sum(v**2),
        constraint=lambda q, t, p: jnp.stack([1000.0 * q[0] + 0.1 * q[1]]),
        coordinates=("x", "angle"),
    )
    J = system.terms(jnp.zeros(()), jnp.zeros(2), jnp.zeros(2)).J
    np.testing.assert_allclose(J * scaling_of(system, jnp.zeros(2), J).columns[None, :], [[1.0, 1.0]])
