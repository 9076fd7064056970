"""How redundant joints share a load, against the stiffness method of structural mechanics and closed forms."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmb as mb

from .models import loop_run
from .oracles import cross_matrix

FEET = ("foot_left", "foot_right", "head_left", "head_right")
LOAD = np.array([30.0, -20.0, -500.0])


def at_rest(system):
    """The reactions of a system that stands still."""
    state = system.state()
    still = mb.SampledMotion(state.t[None], state.q[None], state.v[None], state.v[None], system)
    return mb.inverse_dynamics(system, still)


def h_frame(load=LOAD):
    """Two posts clamped at both ends and a bar welded between them, loaded in its middle: 36 rows of rank 18."""
    x, height = 0.8, 2.0
    posts = {"left": -x, "right": x}
    bodies: dict = {name: mb.rod((at, 0, 0), (at, 0, height), mass=10.0) for name, at in posts.items()}
    bodies["bar"] = mb.rod((-x, 0, height / 2), (x, 0, height / 2), mass=5.0)
    joints = {}
    for name, at in posts.items():
        joints[f"foot_{name}"] = mb.Fixed("ground", name, point=(at, 0, 0))
        joints[f"head_{name}"] = mb.Fixed("ground", name, point=(at, 0, height))
        joints[f"weld_{name}"] = mb.Fixed(name, "bar", point=(at, 0, height / 2))
    forces = {"gravity": mb.Gravity((0, 0, -9.81)), "load": mb.Applied("bar", load)}
    return mb.System(bodies, joints, forces)


def stiffness_method(system, loads, compliances):
    """Reactions on the second bodies when each joint is a spring: displacements of the bodies from K d = F, then the springs."""
    names = list(system.bodies)
    K, F, maps = np.zeros((6 * len(names),) * 2), np.zeros(6 * len(names)), {}
    for k, name in enumerate(names):
        F[6 * k : 6 * k + 3] = loads[name]
    for name, joint in system.joints.items():
        B = np.zeros((6, 6 * len(names)))
        for sign, port in zip((-1.0, 1.0), joint.ports, strict=True):
            if port.body == "ground":
                continue
            pose = system.bodies[port.body].pose
            arm = np.asarray(pose.R @ (port.frame.p - system.bodies[port.body].com))
            k = 6 * names.index(port.body)
            B[:3, k : k + 3], B[:3, k + 3 : k + 6], B[3:, k + 3 : k + 6] = np.eye(3), -cross_matrix(arm), np.eye(3)
            B[:, k : k + 6] *= sign
        translational, rotational = compliances[name]
        maps[name] = np.diag(np.repeat([1 / translational, 1 / rotational], 3)) @ B
        K += B.T @ maps[name]
    d = np.linalg.solve(K, F)
    return {name: -(maps[name] @ d) for name in maps}


@pytest.fixture(scope="module")
def frame():
    return at_rest(h_frame())


def test_a_symmetric_frame_under_a_symmetric_load_has_symmetric_reactions():
    found = at_rest(h_frame(np.array([0.0, 0.0, -500.0])))
    for how in (None, (1e-9, 1e-8)):
        for end in ("foot", "head"):
            left, right = (found.reaction(f"{end}_{side}", compliance=how) for side in ("left", "right"))
            np.testing.assert_allclose(left.force[0] * jnp.array([-1.0, 1.0, 1.0]), right.force[0], atol=1e-9)
            np.testing.assert_allclose(left.torque[0] * jnp.array([1.0, -1.0, -1.0]), right.torque[0], atol=1e-9)
            assert not bool(left.unique[0])
        vertical = sum(float(found.reaction(name, compliance=how).force[0, 2]) for name in FEET)
        assert abs(vertical - (500 + 25 * 9.81)) < 1e-9, "together they carry load and weight"


def test_compliances_share_the_load_as_elastic_joints_do(frame):
    system = frame.system
    compliances = {name: (1e-9 * (k + 1), 3e-9 / (k + 1)) for k, name in enumerate(system.joints)}
    weight = {name: np.array([0, 0, -9.81 * float(body.mass)]) for name, body in system.bodies.items()}
    expected = stiffness_method(system, weight | {"bar": weight["bar"] + LOAD}, compliances)
    plain = np.concatenate([frame.reaction("foot_left").force[0], frame.reaction("foot_left").torque[0]])
    assert np.max(np.abs(plain - expected["foot_left"])) > 1.0, "the smallest multipliers are others"
    for name in system.joints:
        found = frame.reaction(name, compliance=compliances)
        np.testing.assert_allclose(np.concatenate([found.force[0], found.torque[0]]), expected[name], atol=1e-7)


def test_only_ratios_of_compliances_matter(frame):
    one, other = (frame.reaction("weld_left", compliance=(c, 2 * c)) for c in (1.0, 1e-10))
    np.testing.assert_allclose(one.force, other.force, rtol=1e-9)
    np.testing.assert_allclose(one.torque, other.torque, rtol=1e-9, atol=1e-9)


def test_four_equal_legs_share_a_load_by_the_plane_through_it():
    """With legs of equal stiffness a leg's load is linear in its place: F (1/4 + x x_i / sum x^2 + y y_i / sum y^2)."""
    corners = {f"leg{k}": (x, y) for k, (x, y) in enumerate(((0.6, 0.4), (-0.6, 0.4), (-0.6, -0.4), (0.6, -0.4)))}
    x, y = 0.25, -0.1
    table = mb.box((-0.6, 0, 0.7), (0.6, 0, 0.7), width=0.8, height=0.05, mass=20.0)
    at = np.asarray(table.pose.R).T @ (np.array([x, y, 0.7]) - np.asarray(table.pose.p))
    system = mb.System(
        {"table": table},
        {name: mb.InPlane("ground", "table", point=(*corner, 0.0), axis="z") for name, corner in corners.items()},
        {"load": mb.Applied("table", (0, 0, -100.0), at=tuple(at.tolist()))},
    )
    found = at_rest(system)
    for name, (x_leg, y_leg) in corners.items():
        expected = 100.0 * (0.25 + x * x_leg / (4 * 0.36) + y * y_leg / (4 * 0.16))
        assert abs(float(found.reaction(name, compliance=(1e-6, 1.0)).force[0, 2]) - expected) < 1e-9, name


def test_unique_reactions_and_the_motion_do_not_depend_on_it():
    """On the moving redundant loop: forces in its plane are unique, and J' lam stays what it is."""
    sol = loop_run()
    for name in "ABCD":
        before, after = sol.reaction(name), sol.reaction(name, compliance=(1e-9, 1e-6))
        np.testing.assert_allclose(after.force[:, :2], before.force[:, :2], atol=1e-9)
    J = jax.jit(jax.vmap(lambda t, q, v: sol.system.equations().terms(t, q, v).J))(sol.t, sol.q, sol.v)
    lam = jnp.concatenate([sol.multipliers(name, compliance=(1e-9, 1e-6)) for name in "ABCD"], axis=1)
    np.testing.assert_allclose(
        jnp.einsum("tmn,tm->tn", J, lam), jnp.einsum("tmn,tm->tn", J, sol.lam), atol=1e-9
    )  # fmt: skip


@pytest.mark.slow
def test_derivative_by_a_compliance_is_that_of_central_differences(frame):
    def force(softness):
        compliances = dict.fromkeys(frame.system.joints, (1.0, 1.0)) | {"foot_left": (softness, 1.0)}
        return frame.reaction("foot_left", compliance=compliances).force[0, 2]

    h = 1e-4
    central = (force(2.0 + h) - force(2.0 - h)) / (2 * h)
    assert abs(central) > 1.0
    np.testing.assert_allclose(jax.grad(force)(2.0), central, rtol=1e-6)
    np.testing.assert_allclose(jax.jacfwd(force)(2.0), central, rtol=1e-6)


def test_bad_compliances_are_refused(frame):
    with pytest.raises(mb.ModelError, match=r"compliance names joint 'foot_lef'.*Did you mean 'foot_left'\?"):
        frame.reaction("foot_left", compliance={"foot_lef": (1.0, 1.0)})
    with pytest.raises(mb.ModelError, match=r"has no pair for joints .*head_left"):
        frame.reaction("foot_left", compliance={"foot_left": (1.0, 1.0)})
    with pytest.raises(mb.ModelError, match=r"joint 'foot_left' is \(0\.0, 1\.0\)\. Give two positive numbers"):
        frame.reaction("foot_left", compliance=(0.0, 1.0))
