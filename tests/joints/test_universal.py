"""The cross: two turns about its own axes, and its well-known lack of constant speed."""

import jax.numpy as jnp
import numpy as np
import pytest

from jaxmb import Body, ModelError, System, Universal

from ..oracles import turn
from .frames import F, about, along, gap

JOINT = Universal("a", "b", axis="z", axis_to="z")
#: G stands so that its z axis, the second of the cross, is perpendicular to that of F.
CROSS = about("x", np.pi / 2)


def test_turns_about_both_axes_of_the_cross_are_left():
    for first, second in ((0.4, 0.0), (0.0, -1.2), (1.0, 2.0)):
        assert gap(JOINT, about("z", first), CROSS, about("z", second)) < 1e-12


@pytest.mark.parametrize("motion", [about("x", 0.4), along(x=0.3), along(y=0.3), along(z=0.3)])
def test_the_turn_across_both_axes_and_translations_are_not(motion):
    assert gap(JOINT, CROSS, motion) > 1e-2


def test_the_second_shaft_runs_ahead_and_behind_by_the_textbook():
    """tan(out) = tan(in) / cos(bend), with the first fork in the plane of the shafts at zero."""
    bend = 0.6
    shaft, out_shaft = np.array([1.0, 0, 0]), np.array([np.cos(bend), np.sin(bend), 0])
    in_plane, normal = np.array([0.0, 1, 0]), np.array([0.0, 0, 1])
    bodies = {name: Body(1.0, (1, 1, 1), position=(0, 0, 0)) for name in "ab"}
    system = System(bodies, {"cross": Universal("a", "b", point=(0, 0, 0), axis=in_plane, axis_to=normal)})
    joint = system.joints["cross"]
    frames = [np.asarray(port.frame.R) for port in joint.ports]

    def residual(angle_in, angle_out):
        R = [turn(shaft, angle_in) @ frames[0], turn(out_shaft, angle_out) @ frames[1]]
        a, b = (type(F)(jnp.zeros(3), jnp.array(r)) for r in R)
        return float(joint.residual(a, b, jnp.zeros(()))[3])

    for angle in (0.3, 0.9, 1.4):
        assert abs(residual(angle, np.arctan(np.tan(angle) / np.cos(bend)))) < 1e-12
        assert abs(residual(angle, angle)) > 1e-2


def test_the_second_axis_is_needed():
    with pytest.raises(ModelError, match="Universal needs axis_to=, the axis of the cross fixed in the second body"):
        Universal("a", "b", axis="z", axis_to=None)
