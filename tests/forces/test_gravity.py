"""Weight: one acceleration for all bodies, at their centres of mass, with the energy m g h."""

import equinox as eqx
import numpy as np
import pytest

from jaxmb import Body, Gravity, ModelError, System
from jaxmb.forces.gravity import total

from ..oracles import rotation_matrices


def test_weight_acts_at_the_centre_of_mass_and_has_the_energy_of_height():
    R = rotation_matrices(1, seed=95)[0]
    bodies = {
        "a": Body(2.0, (1, 1, 1), com=(0, 0, 0.5), position=(1, 2, 3), rotation=R),
        "b": Body(3.0, (1, 1, 1), position=(0, 0, -1)),
    }
    system = System(bodies, forces={"g": Gravity((0, 1.0, -9.0)), "more": Gravity((1.0, 0, 0))})

    @eqx.filter_jit
    def run(system):
        equations, state = system.equations(), system.state()
        return equations.terms(state.t, state.q, state.v), equations.energies(state.q, state.v)

    terms, (kinetic, potential) = run(system)
    np.testing.assert_allclose(terms.Q, [2, 2, -18, 0, 0, 0, 3, 3, -27, 0, 0, 0], atol=1e-14)
    com = np.array([1, 2, 3]) + R @ [0, 0, 0.5]
    assert float(potential) == pytest.approx(-2.0 * com @ [1, 1, -9] - 3.0 * 9.0)
    assert float(kinetic) == 0.0 and float(terms.power) == 0.0


def test_the_default_is_the_earths_and_none_is_zero():
    np.testing.assert_array_equal(Gravity().acceleration, [0, 0, -9.81])
    np.testing.assert_array_equal(total([]), np.zeros(3))


def test_three_numbers_are_needed():
    with pytest.raises(ModelError, match="Gravity needs three numbers"):
        Gravity(9.81)
