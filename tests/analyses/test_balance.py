"""Whether forces balance."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmb as mb
from jaxmb.analyses import balance, tangent
from jaxmb.analyses.balance import BALANCED, NEUTRAL, ROUNDING, imbalance
from tests.models import spatial_loop

# One program each instead of one for every operation.
no_stiffness, reach, relative, release = map(
    eqx.filter_jit, (balance.no_stiffness, balance.reach, balance.relative, tangent.release)
)
ZERO = jnp.zeros(())
G = 9.81


def hanging(*, mass=2.0, stiffness=100.0, sag=0.3):
    """A ball on a vertical rail and a spring, with another ball beside it that rests in its joint."""
    system = mb.System(
        {
            "ball": mb.sphere((0.0, -sag, 0.0), radius=0.1, mass=mass),
            "fixed": mb.sphere((3.0, 4.0, 0.0), radius=0.1, mass=1.0),
        },
        {
            "rail": mb.Prismatic("ground", "ball", at=(0, 0, 0), to=(0, 0, 0), axis="y"),
            "weld": mb.Fixed("ground", "fixed", point=(3.0, 4.0, 0.0)),
        },
        {"gravity": mb.Gravity((0, -G, 0)), "spring": mb.joint_spring("rail", stiffness=stiffness)},
    )
    return system, system.state()


def test_forces_count_one_by_one_and_rounding_by_the_reach():
    """The weight and the spring, which cancel at rest, and the reaction of the weld are all present."""
    mass, stiffness, sag = 2.0, 100.0, 0.3
    system, state = hanging(mass=mass, stiffness=stiffness, sag=sag)
    equations = system.equations()
    at = release(equations, ZERO, state.q)
    left = abs(mass * G - stiffness * sag) / np.sqrt(mass)
    present = np.sqrt(mass) * G + G + stiffness * sag / np.sqrt(mass) + G
    far = reach(equations, state.q)
    np.testing.assert_allclose(far, 5.0, rtol=1e-12)
    np.testing.assert_allclose(relative(equations, ZERO, state.q, at, ZERO, far), left / present, rtol=1e-9)
    turning = present / np.sqrt(mass + 1.0) / float(at.scaling.length)
    found = no_stiffness(equations, ZERO, state.q, at, jnp.asarray(7.0))
    np.testing.assert_allclose(found, NEUTRAL * (7.0 + turning), rtol=1e-9)
    stiffest = stiffness / mass
    present += ROUNDING / BALANCED * stiffest * np.sqrt(mass + 1.0) * 5.0
    found = relative(equations, ZERO, state.q, at, jnp.asarray(stiffest), far)
    np.testing.assert_allclose(found, left / present, rtol=1e-9)


def test_what_is_left_over_has_no_units():
    """The redundant loop in other units of length and mass is as far out of balance."""

    def left(length, mass):
        rods = {"crank": 1.0, "coupler": 1.5, "rocker": 1.2}
        system, state = spatial_loop()
        big = mb.System(
            {name: mb.rod(length=length * x, mass=mass * x) for name, x in rods.items()},
            {
                "A": mb.Revolute("ground", "crank", at=(0, 0, 0), to="start"),
                "B": mb.Revolute("crank", "coupler", at="end", to="start"),
                "C": mb.Revolute("coupler", "rocker", at="end", to="end"),
                "D": mb.Revolute("ground", "rocker", at=(1.6 * length, 0, 0), to="start"),
            },
            {"gravity": mb.Gravity((0, -G * length, 0))},
        )
        poses = system.equations().poses(state.q)
        q = state.q.reshape(3, 7).at[:, :3].set(length * poses.p[:-1]).reshape(-1)
        equations = big.equations()
        return relative(equations, ZERO, q, release(equations, ZERO, q), jnp.asarray(10.0), reach(equations, q))

    small, large = left(1.0, 1.0), left(1e3, 1e-6)
    assert 0.01 < float(small) < 1.0
    np.testing.assert_allclose(large, small, rtol=1e-9)


def test_the_body_out_of_balance_is_named_with_its_force():
    system, state = hanging()
    assert imbalance(system, ZERO, state.q) == "body 'ball' stays out of balance by 10.4 N and 0 N m"


def test_of_generalised_coordinates_the_worst_is_named():
    system = mb.GeneralizedSystem(
        lambda q, v, p: 0.5 * (v[0] ** 2 + 2 * v[1] ** 2), lambda q, p: 3.0 * q[0] + q[1] ** 2, coordinates=("x", "y")
    )
    q = jnp.array([4.0, 1.0])
    assert imbalance(system, ZERO, q) == "coordinate 'x' stays out of balance by a generalised force of -3"
    assert float(reach(system, q)) == pytest.approx(5.0)
    left = relative(system, ZERO, q, release(system, ZERO, q), jnp.asarray(1.0), reach(system, q))
    np.testing.assert_allclose(left, np.sqrt(9 + 2) / (ROUNDING / BALANCED * np.sqrt(3.0) * 5.0), rtol=1e-9)
