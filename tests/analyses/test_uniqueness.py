"""Which part of a reaction is determined, for joints whose maps are written by hand."""

import numpy as np

from jaxmb.analyses.uniqueness import verdict_of

from ..oracles import rotation_matrices

UNIT = np.array([1.0, 1.0, 1.0, 0.5, 0.5, 0.5])
HINGE = np.eye(6)[:, :5]


def test_three_verdicts():
    def of(moved):
        return verdict_of(HINGE, moved, 1e-7, UNIT)

    unique, lost = of(np.zeros((6, 0))), of(HINGE @ np.random.default_rng(0).normal(size=(5, 5)))
    assert (unique.verdict, lost.verdict) == ("unique", "not unique")
    assert unique.unique_components == ("force x", "force y", "force z", "torque x", "torque y")
    assert lost.unique_components == ()
    partly = of(HINGE[:, [2, 4]])
    assert str(partly) == "partly unique: force x, force y, torque x; not force z, torque y"


def test_a_joint_with_a_force_along_one_line_that_is_not_an_axis():
    """Two pins on a strut: the force along it is lost, the one across it is not, and neither is x or y."""
    pin, along = np.eye(6)[:, :2], np.array([[0.6], [0.8]])
    found = verdict_of(pin, pin @ along, 1e-7, UNIT)
    assert found.verdict == "partly"
    assert found.unique_components == ()
    assert str(found) == "partly unique: 1 combination of force x, force y"
    np.testing.assert_allclose(np.abs(found.combinations), [[0.8, 0.6, 0, 0, 0, 0]], atol=1e-12)


def test_the_verdict_does_not_depend_on_axes():
    moved = HINGE[:, [0, 3]]
    for R in rotation_matrices(5, seed=1):
        turned = np.kron(np.eye(2), R)
        found = verdict_of(turned @ HINGE, turned @ moved, 1e-7, UNIT)
        assert (found.verdict, found.count, len(found.combinations)) == ("partly", 5, 3)


def test_combinations_are_of_newtons_and_newton_metres():
    """Force z and torque x change together, in scaled units as 1 to 1: torque by 2 N m for each newton."""
    moved = (HINGE[:, 2] + HINGE[:, 3])[:, None]
    found = verdict_of(HINGE, moved, 1e-7, UNIT)
    physical = np.array([0, 0, 1.0, 2.0, 0, 0])
    np.testing.assert_allclose(found.combinations @ physical, 0.0, atol=1e-12)
    assert len(found.combinations) == 4
    assert str(found) == "partly unique: force x, force y, torque y, 1 combination of force z, torque x"


def test_rounding_is_not_a_change():
    found = verdict_of(HINGE, 1e-12 * HINGE, 1e-7, UNIT)
    assert found.verdict == "unique"
