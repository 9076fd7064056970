"""Where elements attach: world points and body points give the same frames, and wrong names are explained."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmb import Body, ModelError, PointToPoint, Revolute, Spherical
from jaxmb.forces import Linear
from jaxmb.ports import Port, direction, port, replace

from .oracles import rotation_matrices

R_WA, R_WB = rotation_matrices(2, seed=11)
BODIES = {
    "a": Body(1.0, (1, 1, 1), position=(1, 2, 3), rotation=R_WA, points={"tip": (0.1, 0.2, 0.3)}),
    "b": Body(1.0, (1, 1, 1), position=(-1, 0, 2), rotation=R_WB, com=(0.5, 0, 0)),
    "loose": Body(1.0, (1, 1, 1)),
}


def frames(joint):
    """World frames of an element's ports, by hand."""
    poses = {name: (np.asarray(body.pose.p), np.asarray(body.pose.R)) for name, body in BODIES.items()}
    poses["ground"] = (np.zeros(3), np.eye(3))
    ports = joint.attach("Joint 'J'", BODIES, {}).ports
    return [(poses[q.body][0] + poses[q.body][1] @ q.frame.p, poses[q.body][1] @ q.frame.R) for q in ports]


def test_a_world_point_gives_one_frame_in_both_bodies():
    axis = np.array([1.0, -2.0, 0.5])
    for joint in (
        Revolute("a", "b", point=(0.3, 0.2, 0.1), axis=axis),
        Revolute("ground", "b", point=(0.3, 0.2, 0.1), axis=axis),
    ):
        (p, R), (p_to, R_to) = frames(joint)
        np.testing.assert_allclose(p, [0.3, 0.2, 0.1], atol=1e-14)
        np.testing.assert_allclose(p_to, p, atol=1e-14)
        np.testing.assert_allclose(R_to, R, atol=1e-14)
        np.testing.assert_allclose(R[:, 2], axis / np.linalg.norm(axis), atol=1e-14)


def test_body_points_are_in_the_body_frames():
    (p, R), (p_to, R_to) = frames(Revolute("a", "b", at="tip", to=(1, 0, 0), axis="x", axis_to="y"))
    np.testing.assert_allclose(p, [1, 2, 3] + R_WA @ [0.1, 0.2, 0.3], atol=1e-14)
    np.testing.assert_allclose(p_to, [-1, 0, 2] + R_WB @ [1, 0, 0], atol=1e-14)
    np.testing.assert_allclose(R[:, 2], R_WA[:, 0], atol=1e-14)
    np.testing.assert_allclose(R_to[:, 2], R_WB[:, 1], atol=1e-14)


def test_points_default_to_the_origins_of_the_body_frames_and_com_is_a_name():
    (p, _), (p_to, _) = frames(Spherical("a", "b", to="com"))
    np.testing.assert_allclose(p, [1, 2, 3], atol=1e-14)
    np.testing.assert_allclose(p_to, [-1, 0, 2] + R_WB @ [0.5, 0, 0], atol=1e-14)


def test_a_port_of_ones_own_is_at_a_point_of_a_body():
    for point, place in (("tip", (0.1, 0.2, 0.3)), ((1, 0, 0), (1, 0, 0)), ("com", (0, 0, 0))):
        found = port("a", point, axis="x").resolve("Force 'F'", BODIES)
        np.testing.assert_allclose(found.frame.p, place)
        np.testing.assert_array_equal(found.frame.z, [1, 0, 0])
        assert found.body == "a"


def test_attached_elements_know_their_bodies_and_stay_attached():
    joint = Spherical("a", "b", point=(0, 0, 0))
    assert not joint.attached
    attached = joint.attach("Joint 'J'", BODIES, {})
    assert attached.attached and attached.bodies == ("a", "b")
    again = attached.attach("Joint 'J'", {}, {})
    assert all(isinstance(port, Port) for port in again.ports)
    jax.tree.map(np.testing.assert_array_equal, again, attached)


def test_directions_are_letters_or_numbers():
    np.testing.assert_array_equal(direction("y", "Joint"), [0, 1, 0])
    np.testing.assert_array_equal(direction((0, 0, -2), "Joint"), [0, 0, -2])
    jax.jit(lambda a: direction(a, "Joint"))(jnp.zeros(3))  # not known, so not judged


@pytest.mark.parametrize(
    ("axis", "phrase"),
    [
        ("w", "Revolute has axis 'w', which is not a direction. Use 'x', 'y', 'z' or three numbers."),
        ((0, 0, 0), "Revolute has axis [0.0, 0.0, 0.0], which has no direction. Give a non-zero axis such as 'z'."),
        ((0, np.nan, 1), "which has no direction"),
        ((1, 0), "Revolute axis needs three numbers (x, y, z), but has shape (2,)"),
        (("x", "y", "z"), "Revolute axis needs three numbers (x, y, z), but is ('x', 'y', 'z')"),
    ],
)
def test_bad_axes_are_explained(axis, phrase):
    with pytest.raises(ModelError) as refusal:
        Revolute("a", "b", point=(0, 0, 0), axis=axis)
    assert phrase in str(refusal.value)


@pytest.mark.parametrize(
    ("make", "phrase"),
    [
        (
            lambda: Revolute("a", "b", point=(0, 0, 0), at=(0, 0, 0)),
            "Revolute('a', 'b') has both point= and at=/to=. Give",
        ),
        (lambda: Revolute("a", "b", point="tip"), "point= is a place in the world. Give three numbers, or name points"),
        (
            lambda: Revolute("a", "a", point=(0, 0, 0)),
            "Revolute connects 'a' with itself. It needs two different bodies.",
        ),
        (lambda: PointToPoint("ground", "ground", Linear(1.0)), "PointToPoint connects 'ground' with itself"),
        (lambda: Revolute("a", "b", point=(0, 0)), "Revolute point needs three numbers (x, y, z), but has shape (2,)"),
        (lambda: Revolute("a", "b", at=(0, 0, 0, 0)), "but has shape (4,). Give for example (1, 0, 0)."),
    ],
)
def test_bad_geometry_is_explained(make, phrase):
    with pytest.raises(ModelError) as refusal:
        make()
    assert phrase in str(refusal.value)


@pytest.mark.parametrize(
    ("joint", "phrase"),
    [
        (
            Revolute("a", "bb", point=(0, 0, 0)),
            "Joint 'J' connects to body 'bb', which is not in the system. Bodies: ground, a,",
        ),
        (Revolute("a", "lose", point=(0, 0, 0)), "Did you mean 'loose'?"),
        (
            Revolute("ground", "a", at="tip"),
            "Joint 'J' uses point 'tip' of the ground, which has no named points. Give three",
        ),
        (Revolute("ground", "a", to="tap"), "Points: com, tip. Did you mean 'tip'?"),
        (
            Revolute("ground", "loose", point=(0, 0, 0)),
            "body 'loose' has no place in the world yet. Give the body a position",
        ),
    ],
)
def test_names_that_lead_nowhere_are_explained(joint, phrase):
    with pytest.raises(ModelError) as refusal:
        joint.attach("Joint 'J'", BODIES, {})
    assert phrase in str(refusal.value)


def test_replace_changes_only_what_is_named():
    joint = Spherical("a", "b", point=(0, 0, 0))
    bare = replace(joint, ports=())
    assert bare.ports == () and type(bare) is Spherical and len(joint.ports) == 2
