"""Links of planar mechanisms, and the closing of their loops."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmb.mechanisms import plane


@pytest.mark.parametrize("A, B, a, b", [((0, 0), (2, 0), 1.5, 1.2), ((1, 2), (-1, 0.5), 2.0, 1.0)])
def test_third_point(A, B, a, b):
    A, B = jnp.array(A, float), jnp.array(B, float)
    C = plane.third_point(A, B, a, b)
    np.testing.assert_allclose([jnp.linalg.norm(C - A), jnp.linalg.norm(C - B)], [a, b], rtol=1e-14)
    AB, AC = B - A, C - A
    assert AB[0] * AC[1] - AB[1] * AC[0] > 0


def test_third_point_that_does_not_exist():
    assert jnp.all(jnp.isnan(plane.third_point(jnp.zeros(2), jnp.array([5.0, 0.0]), 1.0, 1.0)))


def test_third_point_has_a_derivative():
    A, B = jnp.zeros(2), jnp.array([2.0, 0.0])
    slope = jax.jacfwd(lambda a: plane.third_point(A, B, a, 1.2))(1.5)
    step = plane.third_point(A, B, 1.5 + 1e-6, 1.2) - plane.third_point(A, B, 1.5 - 1e-6, 1.2)
    np.testing.assert_allclose(slope, step / 2e-6, rtol=1e-8)


def test_direction():
    np.testing.assert_allclose(plane.direction(jnp.array([1.0, 1.0]), jnp.array([0.0, 2.0])), 3 * np.pi / 4)


def test_polar():
    np.testing.assert_allclose(plane.polar(2.0, np.pi / 6), [np.sqrt(3), 1.0])


def test_bar():
    body = plane.bar(2.0, 0.5, jnp.array([1.0, 0.0]), np.pi / 2, 0.4, 0.6)
    np.testing.assert_allclose(body.pose.p, [1.0, 0.4, 0.0], atol=1e-15)
    for name, wanted in {"start": (1.0, 0.0, 0.0), "end": (1.0, 1.0, 0.0)}.items():
        np.testing.assert_allclose(body.pose.p + body.pose.R @ body.points[name], wanted, atol=1e-15)
    assert body.problem("xyz") is None
    np.testing.assert_allclose(body.inertia[2, 2], 0.5)


def test_heading_is_continuous():
    angles = np.linspace(0.0, 20.0, 60)
    c, s, zero = np.cos(angles), np.sin(angles), np.zeros(60)
    R = np.stack([np.stack([c, -s, zero]), np.stack([s, c, zero]), np.stack([zero, zero, zero + 1])])
    np.testing.assert_allclose(plane.heading(jnp.array(np.moveaxis(R, 2, 0))), angles, atol=1e-12)
