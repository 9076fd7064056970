"""Every suggested change of joints is made, and the mechanism counted again."""

import numpy as np
import pytest

import jaxmb as mb

from ..models import spatial_loop
from .labelled import MECHANISMS

LABELLED = {mechanism.name: mechanism for mechanism in MECHANISMS}
#: Mechanisms and how many of their suggestions are tried. Each is compiled anew.
DEFAULT = {"door_on_two_hinges": 2, "table_on_four_legs": 1, "planar_wedges": 1}
SLOW = {
    "three_cranks": 2,
    "three_cranks_in_space": 2,
    "four_bar_in_space": 2,
    "door_on_three_hinges": 1,
    "hinge_of_parts": 1,
    "rigid_axle_on_two_arms": 2,
    "screw_jack": 1,
    "double_hooke_shaft": 1,
    "bennett_loop": 1,
    "bricard_loop": 1,
    "sarrus_with_three_legs": 1,
    "planetary_gear_with_three_planets": 1,
    "crossed_square": 1,
    "portal_frame": 1,
    "guided_peaucellier": 1,
}
CASES = [*DEFAULT.items(), *(pytest.param(*case, marks=pytest.mark.slow) for case in SLOW.items())]


@pytest.mark.parametrize("name, tried", CASES)
def test_suggestions_remove_the_redundancy_and_keep_the_freedom(name, tried):
    """At a pose and at another one, where the changed joints are not as they were looked at."""
    mechanism = LABELLED[name]
    system, state = mechanism.build(0)
    other = mechanism.build(1)[1]
    (options,) = mb.redundancy(system, state).relaxations
    assert len(options) >= tried
    # Not only the first ones, which are alike.
    for option in [options[k] for k in np.linspace(0, len(options) - 1, tried).astype(int)]:
        changed = option.applied_to(system)
        for at in (state, other):
            after = mb.redundancy(changed, at)
            assert (after.redundant, after.dof, after.exit_code) == (0, mechanism.dof, 0), str(option)


def test_a_loop_is_made_determinate_by_a_ball_joint_among_others():
    """Three rows too many: a ball joint instead of a hinge releases two tilts, a cylindrical joint the slide, a ball in a groove
    all of them."""
    system, state = spatial_loop()
    (options,) = mb.redundancy(system, state).relaxations
    texts = [str(option) for option in options]
    assert texts[:4] == [f"make {name} InLine" for name in "ABCD"], "one joint is enough"
    assert texts[4] == "make A Cylindrical and B Spherical"
    assert all(sum(change.released for change in option.changes) == 3 for option in options)


def test_independent_loops_are_advised_each_on_its_own():
    def hung(name, x):
        body = mb.box((x, 0, 1.0), (x + 0.9, 0, 1.0), width=0.04, height=2.0, mass=30.0)
        hinges = {f"{name}{k}": mb.Revolute("ground", name, point=(x, 0, z)) for k, z in enumerate((0.4, 1.6))}
        return {name: body}, hinges

    (left, left_hinges), (right, right_hinges) = hung("left", 0.0), hung("right", 3.0)
    system = mb.System(left | right, left_hinges | right_hinges)
    report = mb.redundancy(system, system.state())
    assert len(report.relaxations) == 2
    for options, joints in zip(report.relaxations, (left_hinges, right_hinges), strict=True):
        assert {change.joint for option in options for change in option.changes} == set(joints)


def test_a_pin_becomes_a_slot_in_the_plane():
    mechanism = LABELLED["three_cranks"]
    system, state = mechanism.build(0)
    (options,) = mb.redundancy(system, state).relaxations
    assert all(len(option.changes) == 1 for option in options)
    assert {change.kind for option in options for change in option.changes} == {mb.PlanarSlot}


def test_no_joint_is_left_out_that_has_several_rows():
    """A door would hang on one hinge, but it was to have two bearings."""
    system, state = LABELLED["door_on_two_hinges"].build(0)
    (options,) = mb.redundancy(system, state).relaxations
    assert all(change.kind is not None for option in options for change in option.changes)
    assert "make hinge0 Spherical and hinge1 InLine" in map(str, options)
