"""Flyball governor: masses, relaxed springs, and everything turning as one."""

import numpy as np

from jaxmb.mechanisms import flyball_governor, flyball_governor_start


def test_masses_and_inertia():
    bodies = flyball_governor().bodies
    np.testing.assert_allclose([bodies[name].mass for name in ("shaft", "slider", "rod1")], [0.3, 3.0, 5.3], rtol=1e-14)
    np.testing.assert_allclose(np.diag(bodies["slider"].inertia), 0.005, rtol=1e-13)
    # About the hinge: a slender bar of square section and a point mass at 1 m.
    rod = bodies["rod1"]
    arm = float(-rod.points["hinge"][0])
    about_hinge = float(rod.inertia[1, 1] + rod.mass * arm**2)
    np.testing.assert_allclose(about_hinge, 0.3 * (1 / 3 + 0.01**2 / 12) + 5.0, rtol=1e-13)
    np.testing.assert_allclose(arm, (0.3 * 0.5 + 5.0) / 5.3, rtol=1e-14)


def test_springs_are_relaxed():
    system = flyball_governor()
    for name, side in (("rod1", 1), ("rod2", -1)):
        rod = system.body(name)
        middle = np.asarray(rod.pose.p + rod.pose.R @ rod.points["middle"])
        np.testing.assert_allclose(np.linalg.norm(middle - (side * 0.05, 0, 0.5)), 0.5, rtol=1e-14)


def test_start():
    system = flyball_governor()
    state = flyball_governor_start(system)
    v = np.asarray(state.v).reshape(4, 6)
    for (_, body), speeds in zip(system.bodies.items(), v, strict=True):
        np.testing.assert_allclose(body.pose.R @ speeds[3:], (0, 0, 2 * np.pi), atol=1e-14)
        np.testing.assert_allclose(
            speeds[:3], np.cross((0, 0, 2 * np.pi), body.pose.p + body.pose.R @ body.com), atol=1e-14
        )
