"""Which coordinate of a joint is meant, and what is said when none is."""

import jax.numpy as jnp
import numpy as np
import pytest

from jaxmb import Cylindrical, Fixed, ModelError, Prismatic, Revolute
from jaxmb.joints.measured import Measured

from .frames import F, about, along

JOINTS = {"A": Revolute("a", "b"), "S": Prismatic("a", "b"), "C": Cylindrical("a", "b"), "W": Fixed("a", "b")}


@pytest.mark.parametrize(
    ("joint", "coordinate", "value", "is_angle"),
    [("A", None, 0.4, True), ("S", None, 0.3, False), ("C", "angle", 0.4, True), ("C", "distance", 0.3, False)],
)
def test_it_measures_the_named_or_the_only_coordinate(joint, coordinate, value, is_angle):
    measured, ports = Measured(joint, coordinate).attach("Driver 'D'", JOINTS)
    assert ports == JOINTS[joint].ports
    assert measured.is_angle is is_angle
    np.testing.assert_allclose(measured(F, F @ about("z", 0.4) @ along(z=0.3)), value, atol=1e-14)
    assert measured(F, F).shape == jnp.zeros(()).shape


@pytest.mark.parametrize(
    ("joint", "coordinate", "phrase"),
    [
        ("C", None, "Joint 'D' asks for no coordinate of joint 'C' (Cylindrical). Choose one of: angle, distance."),
        (
            "C",
            "angel",
            "asks for 'angel' of joint 'C' (Cylindrical). Choose one of: angle, distance. Did you mean 'angle'?",
        ),
        ("A", "distance", "asks for 'distance' of joint 'A' (Revolute). Choose one of: angle."),
        ("W", None, "asks for no coordinate of joint 'W' (Fixed). That joint has no coordinate of its own."),
        ("B", None, "Joint 'D' refers to joint 'B', which is not in the system. Joints: A, S, C, W."),
    ],
)
def test_what_cannot_be_measured_is_explained(joint, coordinate, phrase):
    with pytest.raises(ModelError) as refusal:
        Measured(joint, coordinate).attach("Joint 'D'", JOINTS)
    assert phrase in str(refusal.value)
