"""Scalar laws by their values, and their energies as integrals of their forces."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import quad

from jaxmb import Actuator, Branches, Linear, ModelError, Table, UserLaw
from jaxmb.forces.laws import Sum, as_law

T = jnp.asarray(0.5, float)


def at(law, x, xdot=0.0, t=T):
    return float(law(jnp.asarray(x, float), jnp.asarray(xdot, float), t))


def test_linear_is_stiffness_damping_and_preload():
    law = Linear(stiffness=10.0, damping=2.0, free=0.3, preload=1.0)
    assert at(law, 0.5, -3.0) == pytest.approx(10 * 0.2 - 6.0 + 1.0)
    assert at(Linear(), 0.5, -3.0) == 0.0


def test_table_runs_through_its_points_and_on_beyond_the_ends():
    law = Table([0.0, 1.0, 3.0], [2.0, 4.0, 3.0])
    found = [at(law, x) for x in (-1.0, 0.0, 0.5, 1.0, 2.0, 3.0, 5.0)]
    np.testing.assert_allclose(found, [0.0, 2.0, 3.0, 4.0, 3.5, 3.0, 2.0], atol=1e-14)


def test_table_over_the_rate_sees_the_rate_and_has_no_energy():
    law = Table([-1.0, 0.0, 1.0], [-5.0, 0.0, 2.0], of="rate")
    assert at(law, 100.0, 0.5) == pytest.approx(1.0)
    assert at(law, 100.0, -0.5) == pytest.approx(-2.5)
    assert float(law.energy(jnp.asarray(3.0))) == 0.0


@pytest.mark.parametrize(
    "law",
    [Linear(10.0, 2.0, 0.3, 1.0), Table([0.0, 1.0, 3.0], [2.0, 4.0, 3.0]), Linear(2.0) + Table([0.0, 1.0], [0.0, 5.0])],
    ids=["Linear", "Table", "Sum"],
)
def test_energy_is_the_integral_of_the_force(law):
    def energy(x):
        return float(law.energy(jnp.asarray(x, float)))

    for a, b in ((-1.5, 0.4), (0.4, 2.0), (2.0, 5.0), (-2.0, 6.0)):
        work = quad(lambda x: at(law, x), a, b, points=[p for p in (0.0, 1.0, 3.0) if a < p < b])[0]
        assert energy(b) - energy(a) == pytest.approx(work, rel=1e-9)


def test_branches_change_at_their_bounds():
    law = Branches([0.0, 1.0], [Linear(1.0), lambda x, xdot, t: 10.0 + xdot + t, 7.0])
    assert at(law, -2.0) == -2.0
    assert at(law, 0.0) == 0.0  # a bound belongs to the branch below it
    assert at(law, 0.5, 3.0) == pytest.approx(13.5)
    assert at(law, 1.0, 3.0) == pytest.approx(13.5)
    assert at(law, 1.5) == 7.0
    assert float(law.energy(jnp.asarray(1.0))) == 0.0  # its work is declared as power instead


def test_actuator_and_user_law():
    assert at(Actuator(lambda t: 4.0 * t), 9.0, 9.0) == 2.0
    assert at(Actuator(-3.0), 9.0, 9.0) == -3.0
    assert at(UserLaw(lambda x, xdot, t: x + 10 * xdot + 100 * t), 1.0, 2.0) == 71.0


def test_sum_and_conversion():
    both = Linear(2.0) + UserLaw(lambda x, xdot, t: xdot)
    assert isinstance(both, Sum) and at(both, 3.0, 4.0) == 10.0
    assert at(as_law(lambda x, xdot, t: -x), 3.0) == -3.0
    law = Linear(2.0)
    assert as_law(law) is law


def test_numbers_are_leaves_with_derivatives():
    law = Linear(10.0, 2.0, 0.3, 1.0)
    rate = jax.grad(lambda law: law(jnp.asarray(0.5), jnp.asarray(-3.0), T))(law)
    np.testing.assert_allclose([rate.stiffness, rate.damping, rate.free, rate.preload], [0.2, -3.0, -10.0, 1.0])
    table = jax.grad(lambda law: law(jnp.asarray(0.25), jnp.asarray(0.0), T))(Table([0.0, 1.0], [2.0, 4.0]))
    np.testing.assert_allclose(table.force, [0.75, 0.25])


@pytest.mark.parametrize(
    ("make", "phrase"),
    [
        (lambda: Table([0.0, 1.0], [1.0]), "Table needs two lists of equal length, at least 2, but got (2,) and (1,)"),
        (lambda: Table([0.0], [1.0]), "Table needs two lists of equal length"),
        (
            lambda: Table([0.0, 0.0], [1.0, 2.0]),
            "Table has positions [0.0, 0.0]; they must increase strictly. Sort them.",
        ),
        (
            lambda: Table([0.0, 1.0], [1.0, 2.0], of="speed"),
            "Table is over of='speed', which is neither 'position' nor 'rate'",
        ),
        (lambda: Branches([0.0], [Linear()]), "Branches has 1 laws and 1 bounds; n bounds separate n + 1 laws."),
        (lambda: Branches([1.0, 0.0], [Linear()] * 3), "Branches has bounds [1.0, 0.0]; they must increase strictly"),
    ],
)
def test_bad_laws_are_explained(make, phrase):
    with pytest.raises(ModelError) as refusal:
        make()
    assert phrase in str(refusal.value)
