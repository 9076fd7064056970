"""Gears over many turns, a planetary set by Willis' formula, and racks."""

import jax
import numpy as np
import pytest

from jaxmb import Body, Coupler, Cylindrical, Gear, ModelError, Prismatic, Revolute, System

from ..oracles import rank
from .frames import F, T, about, along


def bodies(names):
    return {name: Body(1.0, (1, 1, 1), position=(k, 0, 0)) for k, name in enumerate(names)}


def attached(element):
    joints = {
        "A": Revolute("ground", "a", point=(0, 0, 0)),
        "B": Revolute("ground", "b", point=(0, 0, 0)),
        "S": Prismatic("ground", "b", point=(0, 0, 0)),
        "C": Cylindrical("ground", "a", point=(0, 0, 0)),
    }
    return System(bodies("ab"), joints | {"G": element}).joints["G"]


def row(element, first, second):
    return float(element.residual(F, F @ first, F, F @ second, T)[0])


@pytest.mark.parametrize("turn", [-30.0, -1.0, 0.0, 3.5, 50.0])
def test_meshing_wheels_turn_against_each_other_over_many_turns(turn):
    outer, inner = attached(Gear("A", "B", teeth=(17, 40))), attached(Gear("A", "B", teeth=(17, 40), internal=True))
    assert abs(row(outer, about("z", turn), about("z", -turn * 17 / 40))) < 1e-12
    assert abs(row(inner, about("z", turn), about("z", turn * 17 / 40))) < 1e-12
    # the error of the first wheel, as an angle
    assert row(outer, about("z", turn + 0.01), about("z", -turn * 17 / 40)) == pytest.approx(0.01, abs=1e-10)


def test_a_gear_has_an_offset():
    gear = attached(Gear("A", "B", teeth=(10, 20), offset=0.6))
    assert abs(row(gear, about("z", 0.06), about("z", 0.0))) < 1e-14
    assert abs(row(gear, about("z", 0.0), about("z", 0.03))) < 1e-14


@pytest.mark.parametrize("turn", [-20.0, 0.0, 1.0, 12.0])
def test_a_rack_moves_by_the_pitch_radius_over_many_turns(turn):
    radius = 0.05
    for rack, moves in (
        (Coupler("S", "A", ratio=radius), (along(z=radius * turn), about("z", turn))),
        (Coupler("A", "S", ratio=1 / radius), (about("z", turn), along(z=radius * turn))),
    ):
        assert abs(row(attached(rack), *moves)) < 1e-12
    # the row is in the unit of the first coordinate
    assert row(
        attached(Coupler("S", "A", ratio=radius)), along(z=radius * turn + 0.01), about("z", turn)
    ) == pytest.approx(0.01)


def test_a_coupler_ties_chosen_coordinates_with_ratio_and_offset():
    angles = attached(Coupler("A", "B", ratio=0.4, offset=0.1))
    assert abs(row(angles, about("z", 0.5), about("z", 1.0))) < 1e-14
    distances = attached(Coupler("C", "S", ratio=-2.0, offset=0.3, coordinates=("distance", None)))
    assert abs(row(distances, along(z=0.3 - 2 * 5.0), along(z=5.0))) < 1e-12
    assert row(distances, along(z=0.0), along(z=5.0)) == pytest.approx(9.7)


def test_a_planetary_set_turns_by_willis():
    """Sun in, ring held, carrier out: w_carrier / w_sun = z_sun / (z_sun + z_ring)."""
    sun, planet = 20, 15
    ring = sun + 2 * planet

    @jax.jit
    def terms():
        system = System(
            bodies(["carrier", "sun", "planet"]),
            {
                "S": Revolute("carrier", "sun", point=(0, 0, 0)),
                "P": Revolute("carrier", "planet", point=(0.35, 0, 0)),
                "R": Revolute("carrier", "ground", point=(0, 0, 0)),
                "outer": Gear("S", "P", teeth=(sun, planet)),
                "inner": Gear("P", "R", teeth=(planet, ring), internal=True),
            },
        )
        state = system.state()
        return system.equations().terms(state.t, state.q, state.v)

    found = terms()
    J = np.asarray(found.J)
    assert J.shape == (17, 18) and rank(J) == 17
    np.testing.assert_allclose(found.Phi, 0.0, atol=1e-14)
    motion = np.linalg.svd(J)[2][-1].reshape(3, 6)
    w = motion[:, 5] / motion[1, 5]
    assert w[0] == pytest.approx(sun / (sun + ring))
    # relative to the carrier the planet meshes with the sun
    assert w[2] - w[0] == pytest.approx(-sun / planet * (1 - w[0]))


@pytest.mark.parametrize("teeth", [(17, 0), (17, 4.5), (17,), (-3, 4)])
def test_teeth_are_whole_and_positive(teeth, without_type_checks):
    with pytest.raises(
        ModelError, match=r"Gear\('A', 'B'\) has teeth .*; give two positive whole numbers, or use Coupler"
    ):
        Gear("A", "B", teeth=teeth)


def test_bad_couplings_are_explained():
    with pytest.raises(
        ModelError, match=r"Coupler\('A', 'B'\) has ratio 0, which does not couple the joints. Give c1 / c2"
    ):
        Coupler("A", "B", ratio=0)
    with pytest.raises(
        ModelError, match=r"Joint 'G' asks for 'angle' of joint 'S' \(Prismatic\). Choose one of: distance."
    ):
        attached(Gear("A", "S", teeth=(1, 2)))
    with pytest.raises(ModelError, match="Joint 'G' refers to joint 'X', which is not in the system"):
        attached(Coupler("A", "X", ratio=1.0))
