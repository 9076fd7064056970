"""Every way out of redundancy that is proposed really is one."""

import pytest

import jaxmb as mb

from .labelled import MECHANISMS

LABELLED = {mechanism.name: mechanism for mechanism in MECHANISMS}
DEFAULT = ("door_on_two_hinges", "three_cranks")
SLOW = ("four_bar_in_space", "hooke_shaft", "bennett_loop", "sarrus_loop", "wedges_in_space", "rigid_axle_on_two_arms")


@pytest.mark.parametrize("name", [*DEFAULT, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)])
def test_the_first_ways_out_remove_the_redundancy_and_keep_the_freedom(name):
    system, state = LABELLED[name].build(0)
    report = mb.redundancy(system, state)
    assert report.relaxations and all(report.relaxations)
    for options in report.relaxations:
        for option in options[:2]:
            assert len(report.relaxations) == 1, "several loops would have to be changed together"
            after = mb.redundancy(option.applied_to(system), state)
            assert (after.redundant, after.dof) == (0, report.dof), option
            assert sum(change.released for change in option.changes) == report.redundant


def test_any_leg_of_four_can_be_left_out():
    system, state = LABELLED["table_on_four_legs"].build(0)
    (options,) = mb.redundancy(system, state).relaxations
    assert sorted(map(str, options)) == [f"leave out leg{k}" for k in range(4)]


def test_a_determinate_mechanism_needs_none():
    system, state = LABELLED["door_on_pivot_and_collar"].build(0)
    assert mb.redundancy(system, state).relaxations == ()


@pytest.mark.slow
def test_a_loop_in_space_may_get_a_ball_and_a_slide():
    """What a designer does with a planar four-bar: one hinge a ball joint, another one sliding along its axis."""
    system, state = LABELLED["four_bar_in_space"].build(0)
    (options,) = mb.redundancy(system, state).relaxations
    said = [str(option) for option in options]
    assert any("Spherical" in text and "Cylindrical" in text for text in said), said
