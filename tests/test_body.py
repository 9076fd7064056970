"""Bodies against the textbook, and refusals of what no body can be."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmb import Body, ModelError, Planar, PointMass, System, box, cylinder, point_mass, rod, sphere

from .oracles import rotation_matrices, turn

M, L, R = 3.0, 0.8, 0.1


@pytest.mark.parametrize(
    ("body", "principal"),
    [
        (rod(length=L, mass=M), M * np.array([(0.01 * L) ** 2, L**2 / 12, L**2 / 12])),
        (rod(length=L, mass=M, radius=R), M * np.array([R**2 / 2, *2 * [(3 * R**2 + L**2) / 12]])),
        (cylinder(length=L, radius=R, mass=M), M * np.array([R**2 / 2, *2 * [(3 * R**2 + L**2) / 12]])),
        (box(length=L, width=0.3, height=0.2, mass=M), M / 12 * np.array([0.13, L**2 + 0.04, L**2 + 0.09])),
        (sphere(radius=R, mass=M), 2 / 5 * M * R**2 * np.ones(3)),
    ],
    ids=["thin rod", "rod", "cylinder", "box", "sphere"],
)
def test_inertia_is_that_of_the_textbook(body, principal):
    np.testing.assert_allclose(body.inertia, np.diag(principal), rtol=1e-14)
    np.testing.assert_allclose(body.mass, M)
    np.testing.assert_array_equal(body.com, np.zeros(3))


@pytest.mark.parametrize(
    ("body", "volume"),
    [
        (cylinder(length=L, radius=R, density=7850.0), np.pi * R**2 * L),
        (rod((0, 0, 0), (0, L, 0), radius=R, density=7850.0), np.pi * R**2 * L),
        (box(length=L, width=0.3, height=0.2, density=7850.0), L * 0.3 * 0.2),
        (sphere(radius=R, density=7850.0), 4 / 3 * np.pi * R**3),
    ],
)
def test_density_gives_the_mass(body, volume):
    np.testing.assert_allclose(body.mass, 7850.0 * volume, rtol=1e-14)


def test_inertia_by_summing_small_parts():
    """A box cut into many point masses has the inertia of the constructor."""
    grid = np.stack(np.meshgrid(*((np.arange(60) + 0.5) / 60 - 0.5 for _ in range(3))), axis=-1).reshape(-1, 3)
    p = grid * [L, 0.3, 0.2]
    J = M / len(p) * (np.sum(p**2) * np.eye(3) - p.T @ p)
    np.testing.assert_allclose(box(length=L, width=0.3, height=0.2, mass=M).inertia, J, rtol=1e-3, atol=1e-12)


ENDS = [
    ((0, 0, 0), (1, 0, 0)),
    ((1, 2, 3), (-1, 0.5, 2)),
    ((0, 0, 0), (0, 0, 2)),
    ((0, 0, 2), (0, 0, 0)),
    ((0, 0, 0), (1e-3, 0, 1)),
    ((0, 0, 0), (0, -1, 0)),
]


@pytest.mark.parametrize(("start", "end"), ENDS)
def test_two_points_place_a_rod(start, end):
    body = rod(start, end, mass=1.0)
    assert body.placed
    rotation, p = np.asarray(body.pose.R), np.asarray(body.pose.p)
    np.testing.assert_allclose(rotation.T @ rotation, np.eye(3), atol=1e-14)
    assert np.linalg.det(rotation) == pytest.approx(1.0)
    np.testing.assert_allclose(p + rotation @ body.points["start"], start, atol=1e-14)
    np.testing.assert_allclose(p + rotation @ body.points["end"], end, atol=1e-14)
    np.testing.assert_allclose(p + rotation @ body.points["middle"], 0.5 * np.add(start, end), atol=1e-14)


def test_a_level_rod_has_the_worlds_vertical():
    np.testing.assert_allclose(rod((0, 0, 0), (1, 1, 0), mass=1.0).pose.R[:, 2], [0, 0, 1], atol=1e-15)


@pytest.mark.parametrize(("start", "end"), ENDS)
def test_the_place_of_a_rod_has_a_derivative(start, end):
    jacobian = jax.jit(jax.jacfwd(lambda e: rod(start, e, mass=1.0).pose.R))(jnp.array(end, float))
    assert np.all(np.isfinite(jacobian))


def test_points_are_named_and_the_centre_of_mass_is_one():
    body = Body(1.0, (1, 1, 1), com=(0.1, 0, 0), points={"tip": (1, 2, 3)})
    np.testing.assert_array_equal(body.points["tip"], [1, 2, 3])
    np.testing.assert_array_equal(body.points["com"], [0.1, 0, 0])
    extra = rod(length=2.0, mass=1.0, points={"pin": (0.5, 0, 0)})
    assert set(extra.points) == {"com", "start", "middle", "end", "pin"}
    np.testing.assert_array_equal(extra.points["end"], [1, 0, 0])


def test_inertia_is_three_values_or_a_matrix():
    J = rotation_matrices(1)[0]
    J = J @ np.diag([1.0, 2.0, 2.5]) @ J.T
    np.testing.assert_array_equal(Body(1.0, J).inertia, J)
    np.testing.assert_array_equal(Body(1.0, (1, 2, 3)).inertia, np.diag([1.0, 2.0, 3.0]))


def test_every_number_is_a_leaf():
    body = Body(1.0, (1, 1, 1), position=(0, 0, 0), points={"tip": (1, 0, 0)})
    assert sorted(leaf.shape for leaf in jax.tree.leaves(body)) == sorted([(), (3, 3), (3,), (3,), (3, 3), (3,), (3,)])


@pytest.mark.parametrize(
    ("body", "phrase"),
    [
        (Body(-1.0, (1, 1, 1)), "Body 'link' has mass -1 kg; a mass must be a positive finite number."),
        (Body(0.0, (1, 1, 1)), "has mass 0 kg"),
        (Body(np.nan, (1, 1, 1)), "has mass nan kg"),
        (Body(np.inf, (1, 1, 1)), "has mass inf kg"),
        (Body(1.0, (1, 1, np.nan)), "it must be finite and symmetric"),
        (Body(1.0, [[1, 0.2, 0], [0, 1, 0], [0, 0, 1]]), "it must be finite and symmetric"),
        (Body(1.0, (1.0, 1.0, 2.1)), "each must be at most the sum of the other two"),
        (Body(1.0, (1.0, 1.0, -0.1)), "and none negative"),
        (Body(1.0), "has no inertia about some axis"),
        (Body(1.0, (0.0, 1.0, 1.0)), "use rod, box, cylinder or sphere"),
        (Body(1.0, (1, 1, 1), rotation=np.diag([1.0, 1.0, -1.0])), "which is not a rotation matrix"),
        (Body(1.0, (1, 1, 1), rotation=1.1 * np.eye(3)), "its columns must be orthonormal"),
        (Body(1.0, (1, 1, 1), com=(np.nan, 0, 0)), "has the centre of mass [nan, 0.0, 0.0]; it must be finite"),
        (Body(1.0, (1, 1, 1), position=(0, np.inf, 0)), "has the reference position"),
    ],
)
def test_impossible_bodies_are_refused_by_name(body, phrase):
    with pytest.raises(ModelError, match="Body 'link'") as refusal:
        System({"link": body})
    assert phrase in str(refusal.value)


def test_a_body_needs_the_inertia_its_coordinates_use_and_no_more():
    System({"a": Body(1.0)}, coordinates=PointMass())
    System({"a": Body(1.0, (0.5, 0.5, 1.0))}, coordinates=Planar())
    System({"a": Body(1.0, (1.0, 1.0, 2.0))})  # a disc is the limit of the triangle inequality
    with pytest.raises(ModelError, match="describe it by PointMass"):
        System({"a": Body(1.0)}, coordinates=Planar())


def test_unknown_numbers_are_not_judged():
    jax.jit(lambda m: System({"a": Body(m, (1, 1, 1))}).equations().mass)(-1.0)


@pytest.mark.parametrize(
    ("make", "phrase"),
    [
        (lambda: Body(1.0, (1.0, 1.0)), "three principal inertias or a 3 x 3 inertia matrix, but got shapes"),
        (lambda: Body((1.0, 2.0), (1, 1, 1)), "Body needs a scalar mass"),
        (lambda: Body(1.0, (1, 1, 1), com=(1, 2)), "Body com needs three numbers"),
        (
            lambda: Body(1.0, (1, 1, 1), position="origin"),
            "Body position needs three numbers (x, y, z), but is 'origin'",
        ),
        (lambda: Body(1.0, (1, 1, 1), rotation=(1, 0, 0)), "Body rotation must be a 3 x 3 matrix R_WB"),
        (lambda: Body(1.0, (1, 1, 1), points={"tip": (1,)}), "Point 'tip' needs three numbers"),
        (lambda: rod(mass=1.0), "rod needs either two points"),
        (lambda: rod((0, 0, 0), (1, 0, 0), length=1.0, mass=1.0), "not both or neither"),
        (lambda: rod((0, 0, 0), length=1.0, mass=1.0), "rod needs either two points"),
        (lambda: rod((1, 1, 1), (1, 1, 1), mass=1.0), "rod has length 0 m, which is no size"),
        (lambda: rod(length=-1.0, mass=1.0), "rod has length -1 m"),
        (lambda: rod(length=1.0), "rod needs either mass (kg) or density"),
        (lambda: rod(length=1.0, density=1.0), "with its full dimensions"),
        (lambda: rod(length=1.0, mass=1.0, radius=0.0), "rod has radius 0 m"),
        (lambda: box(length=1.0, width=-1.0, height=1.0, mass=1.0), "box has width -1 m"),
        (lambda: sphere(radius=np.nan, mass=1.0), "sphere has radius nan m"),
        (lambda: sphere(radius=1.0, mass=1.0, density=1.0), "sphere needs either mass"),
    ],
)
def test_bad_input_is_explained(make, phrase, without_type_checks):
    with pytest.raises(ModelError) as refusal:
        make()
    assert phrase in str(refusal.value)


def test_point_mass_and_sphere_are_placed():
    assert not point_mass(mass=1.0).placed
    np.testing.assert_array_equal(point_mass((1, 2, 3), mass=1.0).pose.p, [1, 2, 3])
    np.testing.assert_array_equal(sphere((1, 2, 3), radius=1.0, mass=1.0).pose.p, [1, 2, 3])
    assert not Body(1.0, (1, 1, 1), rotation=turn([0, 0, 1], 1.0)).placed
