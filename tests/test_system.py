"""A system as a whole: what it refuses and how, what may change without changing the physics, and its
transformations."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmb as mb

from .models import spatial_loop
from .oracles import accelerations, derivative, rotation_matrices

LINK = mb.rod((0, 0, 0), (1, 0, 0), mass=1.0)
PIN = mb.Revolute("ground", "link", point=(0, 0, 0))


# --- what is refused --------------------------------------------------------------------------------------------------


def pendulum(**changes):
    return mb.System(**({"bodies": {"link": LINK}, "joints": {"A": PIN}, "forces": {"g": mb.Gravity()}} | changes))


@pytest.mark.parametrize(
    ("make", "phrases"),
    [
        (
            lambda: pendulum(joints={"C": mb.Revolute("ground", "lnik", point=(0, 0, 0))}),
            [
                "Joint 'C' connects to body 'lnik', which is not in the system.",
                "Bodies: ground, link.",
                "Did you mean 'link'?",
            ],
        ),
        (
            lambda: pendulum(forces={"s": mb.spring("ground", "lonk", stiffness=1.0)}),
            ["Force 's' connects to body 'lonk'", "Did you mean 'link'?"],
        ),
        (
            lambda: pendulum().with_joints(motor=mb.Driver("B", 0.0)),
            ["Joint 'motor' refers to joint 'B'", "Joints: A."],
        ),
        (
            lambda: pendulum().with_joints(A=PIN),
            ["Name 'A' is used twice: for a joint and for another element.", "rename one"],
        ),
        (lambda: pendulum().with_forces(A=mb.Gravity()), ["Name 'A' is used twice"]),
        (lambda: pendulum(joints={"link": PIN}), ["Name 'link' is used twice: for a body and for a joint."]),
        (lambda: pendulum(bodies={"ground": LINK}), ["Name 'ground' is used twice: for the ground and for a body."]),
        (lambda: pendulum(forces={"A": mb.Gravity()}), ["for a joint and for a force"]),
        (lambda: pendulum(bodies={}), ["System has no bodies. Give at least one"]),
        (lambda: pendulum(bodies=[LINK]), ["System needs its body objects by name, as a dict, but got list."]),
        (
            lambda: pendulum(joints={"A": LINK}),
            ["System has 'A' as a joint, but it is a Body. Put it where it belongs."],
        ),
        (lambda: pendulum(forces={"A": PIN}), ["System has 'A' as a force, but it is a Revolute."]),
        (lambda: pendulum(bodies={"link": mb.Gravity()}), ["System has 'link' as a body, but it is a Gravity."]),
        (lambda: pendulum(coordinates="euler"), ["System coordinates is 'euler'; give a kind such as Quaternion()"]),
        (
            lambda: pendulum(coordinates={"lnk": mb.Planar()}),
            ["coordinates names body 'lnk', which is not in the system.", "Did you mean 'link'?"],
        ),
        (lambda: pendulum(coordinates={"link": 3}), ["coordinates of body 'link'", "Quaternion()"]),
        (lambda: pendulum().state(omega={"lnk": (0, 0, 1)}), ["Asked for body 'lnk'", "Did you mean 'link'?"]),
        (lambda: pendulum().state(velocity={"link": (0, 1)}), ["velocity of 'link' needs three numbers"]),
        (lambda: pendulum().body("x"), ["Asked for body 'x', which is not in the system. Bodies: link."]),
        (lambda: pendulum().joint("x"), ["Asked for joint 'x', which is not in the system. Joints: A."]),
    ],
)
def test_bad_input_is_explained(make, phrases, without_type_checks):
    with pytest.raises(mb.ModelError) as refusal:
        make()
    for phrase in phrases:
        assert phrase in str(refusal.value)


def test_drivers_may_stand_before_their_joints_and_rows_keep_the_given_order():
    system = pendulum(joints={"motor": mb.Driver("A", 0.0), "A": PIN})
    assert list(system.joints) == ["motor", "A"]
    assert system.joints["motor"].bodies == ("ground", "link")
    assert system.equations().row_names[:2] == ("motor.drive", "A.x")


def test_copies_with_more_or_with_other_coordinates_leave_the_original():
    system = pendulum()
    driven = system.with_joints(motor=mb.Driver("A", lambda t: t)).with_forces(push=mb.Applied("link", (1, 0, 0)))
    assert list(driven.joints) == ["A", "motor"] and list(driven.forces) == ["g", "push"]
    assert list(system.joints) == ["A"] and list(system.forces) == ["g"]
    assert driven.equations().rheonomic and not system.equations().rheonomic
    other = driven.with_coordinates(mb.EulerParameters())
    state = jax.eval_shape(lambda: other.state())
    assert state.q.shape == state.v.shape == (7,)
    assert other.equations().speed_names == tuple(f"link.v{k}" for k in range(1, 8))
    assert other.equations().row_names[-2:] == ("motor.drive", "link.norm")


def test_the_state_is_the_reference_pose_with_world_velocities():
    R = rotation_matrices(1, seed=5)[0]
    body = mb.Body(1.0, (1, 1, 1), com=(0.1, 0.2, 0.3), position=(1, 2, 3), rotation=R)
    system = mb.System({"a": body})
    state = system.state(velocity={"a": (1, 2, 3)}, omega={"a": (4, 5, 6)}, t=0.7)
    np.testing.assert_allclose(state.q[:3], [1, 2, 3] + R @ [0.1, 0.2, 0.3], atol=1e-14)
    np.testing.assert_allclose(state.v, [1, 2, 3, *R.T @ [4, 5, 6]], atol=1e-14)
    assert state.t == 0.7


# --- what may change without changing the physics ---------------------------------------------------------------------

NAMES = ["crank", "coupler", "arm"]


def loop(*, names=NAMES, order=(0, 1, 2), kinds=None, by_bodies=False, length=1.0, mass=1.0):
    """A spatial closed loop of three bodies with a spring and a driven prismatic joint off to the side."""
    points = [jnp.array(p, float) for p in ((0, 0, 0), (0.2, 0.1, 0.9), (1.1, 0.4, 1.2), (1.3, -0.2, 0.1))]
    points[1] = points[1] * length
    crank, coupler, arm = names
    bodies = {
        crank: mb.rod(points[0], points[1], mass=mass, radius=0.05),
        coupler: mb.rod(points[1], points[2], mass=0.8, radius=0.05),
        arm: mb.rod(points[2], points[3], mass=0.5, radius=0.05),
    }

    def at(k, first, second, axis=None):
        if not by_bodies:
            return {"point": points[k]} | ({} if axis is None else {"axis": axis})
        places = {"ground": points[k], "end": "end", "start": "start"}
        geometry = {"at": places[first[1]], "to": places[second[1]]}
        if axis is not None:
            geometry["axis"] = axis if first[0] == "ground" else bodies[first[0]].pose.R.T @ jnp.array(axis)
            geometry["axis_to"] = bodies[second[0]].pose.R.T @ jnp.array(axis)
        return geometry

    joints = {
        "A": mb.Revolute("ground", crank, **at(0, ("ground", "ground"), (crank, "start"), (0.3, 1.0, 0.1))),
        "B": mb.Spherical(crank, coupler, **at(1, (crank, "end"), (coupler, "start"))),
        "C": mb.Cylindrical(coupler, arm, **at(2, (coupler, "end"), (arm, "start"), (0.1, 1.0, 0.0))),
        "D": mb.Revolute("ground", arm, **at(3, ("ground", "ground"), (arm, "end"), (0.0, 1.0, 0.2))),
    }
    forces = {
        "gravity": mb.Gravity(),
        "spring": mb.spring(crank, arm, stiffness=20.0, free_length=0.5, damping=1.0, at="end", to="middle"),
        "push": mb.Applied(coupler, (1.0, 2.0, 3.0), at="start", frame="body"),
    }

    def shuffled(mapping):
        items = list(mapping.items())
        return dict([items[i] for i in order if i < len(items)] + items[len(order) :])

    return mb.System(shuffled(bodies), shuffled(joints), shuffled(forces), coordinates=kinds)


SPIN = {"crank": (0.3, 0.5, -0.2), "coupler": (1.0, -0.4, 0.6), "arm": (-0.7, 0.2, 0.1)}


@eqx.filter_jit
def evaluate(system, names=tuple(NAMES)):
    state = system.state(omega={new: jnp.array(SPIN[old]) for old, new in zip(NAMES, names, strict=True)})
    equations = system.equations()
    return equations.terms(state.t, state.q, state.v)


def by_body(system, terms, names=NAMES):
    """Accelerations of each body, in the order crank, coupler, arm."""
    a = accelerations(terms).reshape(3, 6)
    return np.stack([a[list(system.bodies).index(name)] for name in names])


@pytest.fixture(scope="module")
def reference():
    system = loop()
    terms = evaluate(system)
    return terms, by_body(system, terms)


def test_names_and_order_do_not_matter(reference):
    names = ["z", "m", "a"]
    system = loop(names=names, order=(2, 0, 1))
    assert list(system.bodies) == ["a", "z", "m"] and list(system.joints) == ["C", "A", "B", "D"]
    terms = evaluate(system, tuple(names))
    np.testing.assert_allclose(by_body(system, terms, names), reference[1], atol=1e-9)


def test_world_points_and_body_points_give_the_same_mechanism(reference):
    system = loop(by_bodies=True)
    terms = evaluate(system)
    np.testing.assert_allclose(terms.Phi, 0.0, atol=1e-13)
    np.testing.assert_allclose(by_body(system, terms), reference[1], atol=1e-9)


def test_the_order_of_bodies_survives_every_transformation(reference):
    """A dict would come out of a jit in alphabetical order, and q would then belong to other bodies."""
    system = loop()
    for copy in (
        jax.tree.map(lambda x: x, system),
        jax.jit(lambda s: s)(system),
        jax.vmap(lambda m: loop(mass=m))(jnp.ones(2)),
    ):
        assert list(copy.bodies) == NAMES
        assert list(copy.joints) == ["A", "B", "C", "D"]
        assert list(copy.forces) == ["gravity", "spring", "push"]
    names = ["z", "m", "a"]
    other = loop(names=names)
    assert other.equations().names == jax.jit(lambda s: s)(other).equations().names


def test_kinds_may_be_mixed_and_bodies_of_one_kind_stand_together():
    kinds = {"crank": mb.EulerParameters(), "arm": mb.EulerParameters()}
    system = loop(kinds=kinds)
    assert list(system.bodies) == ["crank", "arm", "coupler"]
    equations = eqx.filter_eval_shape(lambda: system.equations())
    assert [(type(group.kind).__name__, group.count) for group in equations.groups] == [
        ("EulerParameters", 2),
        ("Quaternion", 1),
    ]
    assert equations.row_names[-2:] == ("crank.norm", "arm.norm")
    assert len(equations.speed_names) == jax.eval_shape(lambda: system.state()).v.size == 20


# --- transformations --------------------------------------------------------------------------------------------------


def test_compiled_terms_are_those_of_eager_evaluation():
    system = mb.System({"link": LINK}, {"A": PIN}, {"g": mb.Gravity((0, -9.81, 0))})
    state = system.state(omega={"link": (0, 0, 2.0)}, velocity={"link": (0, 1.0, 0)})
    equations = system.equations()
    compiled = equations.terms(state.t, state.q, state.v)
    with jax.disable_jit():
        eager = equations.terms(state.t, state.q, state.v)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-13), compiled, eager)


def numbers(length, mass):
    """Everything the terms hold, as one vector, of a mechanism built from two parameters."""
    tip = jnp.stack([jnp.asarray(length, float), jnp.zeros(()), 0.5 * length])
    system = mb.System(
        {"link": mb.rod((0, 0, 0), tip, mass=mass), "bob": mb.sphere(2 * tip, radius=0.1, mass=2.0)},
        {
            "A": mb.Revolute("ground", "link", point=(0, 0, 0), axis=(0, 1.0, 0)),
            "B": mb.Spherical("link", "bob", point=tip),
        },
        {"g": mb.Gravity(), "s": mb.spring("ground", "link", stiffness=mass, at=(1, 1, 1), to="end")},
    )
    state = system.state(omega={"link": (0.0, 2.0, 1.0), "bob": (1.0, 2.0, 3.0)})
    terms = system.equations().terms(state.t, state.q, state.v)
    return jnp.concatenate([x.reshape(-1) for x in (terms.M, terms.Phi, terms.J, terms.Phi_dot, terms.gamma, terms.Q)])


compiled_numbers = jax.jit(numbers)


def test_a_batch_of_parameters_is_a_loop_over_them():
    lengths, masses = jnp.array([0.5, 1.0, 1.7]), jnp.array([1.0, 2.0, 3.0])
    batch = jax.jit(jax.vmap(numbers))(lengths, masses)
    for k in range(3):
        np.testing.assert_allclose(batch[k], compiled_numbers(lengths[k], masses[k]), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("parameter", [0, 1])
def test_derivatives_with_respect_to_builder_parameters_are_finite_differences(parameter):
    at = [jnp.asarray(1.1, float), jnp.asarray(1.5, float)]

    def moved(s):
        args = list(at)
        args[parameter] = args[parameter] + s
        return compiled_numbers(*args)

    rates = jacobian_of_numbers(*at)[parameter]
    assert np.abs(rates).max() > 0.1
    np.testing.assert_allclose(rates, derivative(moved), rtol=1e-8, atol=1e-8)


jacobian_of_numbers = jax.jit(jax.jacfwd(numbers, argnums=(0, 1)))


def test_reverse_mode_agrees():
    at = jnp.asarray(1.1, float), jnp.asarray(1.5, float)
    weights = jnp.linspace(-1.0, 1.0, compiled_numbers(*at).size)
    reverse = jax.jit(jax.grad(lambda L, m: jnp.dot(weights, numbers(L, m)), argnums=(0, 1)))(*at)
    forward = [float(jnp.dot(weights, rate)) for rate in jacobian_of_numbers(*at)]
    np.testing.assert_allclose(reverse, forward, rtol=1e-10)


def test_a_driver_may_close_over_a_traced_parameter():
    """The motion is a lambda that reads a parameter of the builder; its derivative must come through, twice."""

    def gamma(rate, t):
        system = mb.System({"link": LINK}, {"A": PIN, "motor": mb.Driver("A", lambda t: rate * t**2)})
        q = jnp.array([0.5, 0, 0, 1, 0, 0, 0])
        return system.equations().terms(t, q, jnp.zeros(6)).gamma[5]

    for _ in range(2):
        assert jax.grad(gamma)(3.0, jnp.asarray(0.1, float)) == pytest.approx(2.0)


def test_convert_writes_the_same_motion_in_other_coordinates():
    """There and back, with bodies of two kinds in another order; poses and twists are the judges."""
    system, state = loop_in_motion()
    mixed = system.with_coordinates(
        {"crank": mb.EulerParameters(), "coupler": mb.EulerAngles("zxy"), "rocker": mb.EulerParameters()}
    )
    assert list(mixed.bodies) != list(system.bodies)
    other = mixed.convert(state, system)
    order = [list(mixed.bodies).index(name) for name in system.bodies]
    here, there = system.equations(), mixed.equations()
    np.testing.assert_allclose(there.poses(other.q).R[jnp.array(order)], here.poses(state.q).R[:-1], atol=1e-12)
    np.testing.assert_allclose(
        there.twists(other.q, other.v)[jnp.array(order)], here.twists(state.q, state.v)[:-1], atol=1e-12
    )
    back = system.convert(other, mixed)
    np.testing.assert_allclose(back.v, state.v, atol=1e-12)
    assert back.t == state.t


def loop_in_motion():
    system, state = spatial_loop()
    J = np.asarray(system.equations().terms(state.t, state.q, state.v).J)
    v = np.linalg.svd(J)[2][-1]
    return system, mb.State(jnp.asarray(0.3), state.q, jnp.asarray(v))


def test_convert_refuses_another_mechanism():
    system, state = spatial_loop()
    with pytest.raises(mb.ModelError, match="its bodies are crank, coupler, rocker, not link"):
        pendulum().convert(state, system)
