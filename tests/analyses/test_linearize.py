"""Small motions about a place of rest."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg

import jaxmb as mb
from jaxmb.mechanisms.mcpherson import mcpherson
from tests import oracles
from tests.models import parallelogram, pendulum, spatial_loop

G = 9.81
ZERO = jnp.zeros(())


# --- closed forms -------------------------------------------------------------------------------------------------------

MASS, STIFFNESS, DAMPING = (2.0, 3.0), (100.0, 150.0), (1.5, 0.0)


def masses(damping=DAMPING):
    """Two balls that hang below each other on springs, and their rest, which is the reference pose: each spring is as much
    longer than it is free as the weight below it needs."""
    rail = {"at": (0, 0, 0), "to": (0, 0, 0), "axis": "y"}
    sag = [(MASS[0] + MASS[1]) * G / STIFFNESS[0], MASS[1] * G / STIFFNESS[1]]
    system = mb.System(
        {name: mb.sphere((0, -k - 1.0, 0), radius=0.1, mass=MASS[k]) for k, name in enumerate(("upper", "lower"))},
        {"rail": mb.Prismatic("ground", "upper", **rail), "rail2": mb.Prismatic("ground", "lower", **rail)},
        {
            "gravity": mb.Gravity((0, -G, 0)),
            "first": mb.spring("ground", "upper", stiffness=STIFFNESS[0], free_length=1 - sag[0], damping=damping[0]),
            "second": mb.spring("upper", "lower", stiffness=STIFFNESS[1], free_length=1 - sag[1], damping=damping[1]),
        },
    )
    return system, system.state()


def matrices(k, of=MASS):
    """Mass, stiffness or damping matrix of the chain."""
    return np.diag(of), np.array([[k[0] + k[1], -k[1]], [-k[1], k[1]]])


@functools.cache
def chain():
    return mb.linearize(
        *masses(),
        inputs={"pull": mb.Applied("lower", (0, 1.0, 0))},
        outputs={
            "height": lambda m: m.point("upper", "com")[1],
            "speed": lambda m: m.velocity("lower")[1],
            "acceleration": lambda m: m.acceleration("lower")[1],
            "rail": "rail2",
        },
    )


def test_two_masses_on_springs_have_their_modes():
    M, K = matrices(STIFFNESS)
    C = matrices(DAMPING)[1]
    modes = chain().modes()
    A = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.linalg.solve(M, K), -np.linalg.solve(M, C)]])
    s = scipy.linalg.eigvals(A)
    s = sorted(s[s.imag > 0], key=abs)
    np.testing.assert_allclose(modes.eigenvalue, s, rtol=1e-10)
    np.testing.assert_allclose(modes.damping_ratio, -np.real(s) / np.abs(s), rtol=1e-9)
    np.testing.assert_allclose(modes.frequency, np.imag(s) / (2 * np.pi), rtol=1e-10)


def test_the_frequency_response_is_the_closed_form():
    """Heights, speeds and accelerations; the acceleration has a direct part from the force."""
    M, K = matrices(STIFFNESS)
    C = matrices(DAMPING)[1]
    frequencies = np.array([0.0, 0.3, 1.0, 2.5])
    found = chain().frequency_response(frequencies)
    for k, w in enumerate(2 * np.pi * frequencies):
        x = np.linalg.solve(-(w**2) * M + 1j * w * C + K, [0.0, 1.0])
        expected = [x[0], 1j * w * x[1], -(w**2) * x[1]]
        np.testing.assert_allclose(found[k, :3, 0], expected, rtol=1e-10, atol=1e-14)
        np.testing.assert_allclose(abs(found[k, 3, 0]), abs(x[1]), rtol=1e-10)
    assert chain().D[2, 0] == pytest.approx(1 / MASS[1])


def test_an_overdamped_mass_creeps_in_two_modes():
    system, state = masses(damping=(200.0, 100.0))
    modes = mb.linearize(system, state).modes()
    M, K = matrices(STIFFNESS)
    C = matrices((200.0, 100.0))[1]
    A = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.linalg.solve(M, K), -np.linalg.solve(M, C)]])
    expected = np.sort(scipy.linalg.eigvals(A).real)[::-1]
    np.testing.assert_allclose(modes.eigenvalue, expected, rtol=1e-9)
    np.testing.assert_array_equal(modes.frequency, 0.0)
    np.testing.assert_allclose(modes.damping_ratio, 1.0)


@pytest.mark.parametrize("upright", [False, True])
def test_a_pendulum_swings_at_its_frequency_or_falls_at_that_rate(upright):
    """sqrt(m g l / I_O) = sqrt(3 g / 2 length) for a rod."""
    system = pendulum(length=2.0, gravity=-G if upright else G)
    turned = oracles.turn((0, 0, 1), -np.pi / 2)
    q = jnp.concatenate([jnp.asarray(turned @ [1.0, 0, 0]), jnp.array([np.sqrt(0.5), 0, 0, -np.sqrt(0.5)])])
    modes = mb.linearize(system, mb.State(ZERO, q, jnp.zeros(6))).modes()
    rate = np.sqrt(1.5 * G / 2.0)
    np.testing.assert_allclose(modes.eigenvalue, [rate, -rate] if upright else [1j * rate], atol=1e-12)
    assert ("grows" in str(modes)) == upright


def test_a_generalised_system_is_linearised_too():
    system = mb.GeneralizedSystem(
        lambda q, v, p: 0.5 * p["m"] * (v[0] ** 2 + v[1] ** 2),
        lambda q, p: p["m"] * G * q[1],
        lambda q, t, p: (q[0] ** 2 + q[1] ** 2 - p["l"] ** 2)[None],
        lambda q, v, t, p: -p["c"] * v,
        {"m": 2.0, "l": 0.5, "c": 1.2},
        coordinates=("x", "y"),
    )
    found = mb.linearize(system, system.state([0.0, -0.5]), outputs={"x": lambda m: m.state.q[0]})
    ratio = 0.5 * 1.2 / 2.0
    np.testing.assert_allclose(found.modes().eigenvalue, [-ratio + 1j * np.sqrt(G / 0.5 - ratio**2)], rtol=1e-12)
    np.testing.assert_allclose(np.abs(found.C), [[1 / np.sqrt(2.0), 0]], atol=1e-12)
    with pytest.raises(mb.ModelError, match="Inputs are forces on a System of bodies"):
        mb.linearize(system, system.state([0.0, -0.5]), inputs={"pull": mb.Applied("bead", (0, 1, 0))})


# --- against the nonlinear equations, by NumPy --------------------------------------------------------------------------


class Nonlinear:
    """Accelerations of a displaced mechanism by NumPy alone, in coordinates x of the given free motions."""

    def __init__(self, system, q, Z):
        self.system, self.q, self.Z = system, q, np.asarray(Z)
        self.equations = system.equations()
        self.M = np.asarray(self.terms(q, 0 * self.Z[:, 0]).M)

    def terms(self, q, v):
        return self.equations.terms(ZERO, jnp.asarray(q), jnp.asarray(v))

    def place(self, x):
        """Positions with closed joints."""
        q = self.equations.retract(self.q, jnp.asarray(self.Z @ x))
        for _ in range(6):
            terms = self.terms(q, 0 * self.Z[:, 0])
            q = self.equations.retract(q, jnp.asarray(-np.linalg.pinv(terms.J, rcond=1e-8) @ np.asarray(terms.Phi)))
        return q

    def accelerations(self, x, u):
        q = self.place(x)
        v = self.Z @ u
        J = np.asarray(self.terms(q, v).J)
        v = v - np.linalg.pinv(J, rcond=1e-8) @ (J @ v)
        return q, v, oracles.accelerations(self.terms(q, v))

    def matrix(self):
        """A of x' = A x by finite differences."""
        d = self.Z.shape[1]

        def rate(y):
            return self.Z.T @ self.M @ self.accelerations(y[:d], y[d:])[2]

        return np.concatenate([np.eye(2 * d)[d:], oracles.jacobian(rate, np.zeros(2 * d), 1e-3)])


def loaded(push, motor):
    """Three cranks that hang on a coupler, which is a rest by symmetry without a load; damped in one hinge."""
    system, rest = parallelogram(angle=-0.5 * np.pi, length=0.8)
    forces = {"push": mb.Applied("coupler", push * np.array([1.0, 0.3, 0.2]), at="end")}
    forces["motor"] = mb.JointForce("foot0", mb.Linear(preload=-motor))
    return system.with_forces(damper=mb.joint_spring("foot1", damping=0.8), **forces), rest


@functools.cache
def loop():
    """The cranks linearised, with a load and a motor and with things to see."""
    system, rest = loaded(0.0, 0.0)
    unit = loaded(1.0, 1.0)[0].forces
    outputs = {
        "rate": "foot2.angle_rate",
        "angle": "foot0",
        "x": lambda m: m.point("coupler", "com")[0],
        "acceleration": lambda m: m.acceleration("crank1")[0],
    }
    inputs = {"push": unit["push"], "motor": mb.JointForce("foot0", mb.Actuator(-1.0))}
    return system, rest, mb.linearize(system, rest, inputs=inputs, outputs=outputs)


def observed(q, v, a):
    """The outputs of the loop by hand: coupler and cranks are rows (position, quaternion) and (velocity, angular velocity)."""
    places, rates, accelerations = (np.asarray(x).reshape(4, -1) for x in (q, v, a))
    crank0 = places[1]
    return np.array([rates[3, 5], np.arctan2(crank0[0], -crank0[1]), places[0, 0], accelerations[2, 0]])


def test_the_matrices_of_a_redundant_loop_are_slopes_of_its_nonlinear_accelerations():
    system, rest, found = loop()
    assert found.dof == 1
    free = Nonlinear(system, rest.q, found.Z)
    np.testing.assert_allclose(found.A, free.matrix(), atol=1e-8)
    slopes = oracles.jacobian(lambda y: observed(*free.accelerations(y[:1], y[1:])), np.zeros(2), 1e-3)
    np.testing.assert_allclose(found.C, slopes, atol=1e-8)
    for k, size in enumerate(np.eye(2)):
        pushed = Nonlinear(loaded(*size)[0], rest.q, found.Z)
        q, v, a = pushed.accelerations(np.zeros(1), np.zeros(1))
        np.testing.assert_allclose(found.B[:, k], [0.0, *(found.Z.T @ pushed.M @ a)], atol=1e-10)
        np.testing.assert_allclose(found.D[:, k], observed(q, v, a) - observed(q, v, 0 * a), atol=1e-10)


def test_a_mode_of_a_redundant_loop_satisfies_constraints_and_equations():
    """All bodies swing as one: 2 m L^2 angle'' + c angle' + (2.5 m g L + tension of the spring) angle = 0."""
    system, rest, found = loop()
    modes = found.modes()
    terms = system.equations().terms(ZERO, rest.q, rest.v)
    shape = np.asarray(modes.shape[0])
    np.testing.assert_allclose(np.asarray(terms.J) @ shape, 0.0, atol=1e-12)
    np.testing.assert_allclose(shape.conj() @ np.asarray(terms.M) @ shape, 1.0, atol=1e-12)
    L, k, free, across = 0.8, 20.0, 0.5, 0.3
    # The spring is `across` long and pushes; the square of its length grows by 0.5 L (1 - cos) 2.
    stiffness = 2.5 * G * L + k * (across - free) * 0.5 * L / across
    s = np.roots([2 * L**2, 0.8, stiffness])
    np.testing.assert_allclose(modes.eigenvalue, s[s.imag > 0], rtol=1e-10)


@pytest.mark.slow
def test_a_redundant_loop_oscillates_in_a_simulation_at_the_frequency_of_its_mode():
    system, state = spatial_loop()
    rest = mb.equilibrium(system, state)
    frequency = float(mb.linearize(system, rest).modes().frequency[0])
    angle = float(rest.motion.joint("A").angle[0])
    away = mb.assemble_state(system, rest, hold={"A": angle + 1e-4})
    run = mb.simulate(
        system, mb.State(ZERO, away.q, 0 * away.v), t1=2.5 / frequency, dt_save=0.01 / frequency, rtol=1e-10, atol=1e-12
    )
    x = np.asarray(run.joint("A").angle) - angle
    # From the first to the last crossing of the rest are 4 half periods.
    k = np.nonzero(x[:-1] * x[1:] < 0)[0]
    crossings = run.t[k] + (run.t[k + 1] - run.t[k]) * x[k] / (x[k] - x[k + 1])
    assert len(k) == 5
    np.testing.assert_allclose(2.0 / (crossings[-1] - crossings[0]), frequency, rtol=1e-5)


# --- McPherson strut with springs ---------------------------------------------------------------------------------------


def strut(overconstrained):
    system = mcpherson(overconstrained=overconstrained, lift=0.0).with_forces(
        coil=mb.spring("knuckle", "top", stiffness=4000.0, free_length=0.36, damping=50.0, at="P4", to="P10"),
        centering=mb.joint_spring("guide", stiffness=500.0, damping=5.0),
    )
    rest = mb.equilibrium(system, system.state())
    return system, rest, mb.linearize(system, rest)


@pytest.mark.slow
def test_the_strut_rests_and_vibrates_the_same_with_one_hinge_or_two():
    """The spins of the damper rod and of the tie rod have no stiffness; they are counted and are rigid modes."""
    system, rest, found = strut(True)
    assert bool(rest.stable)
    assert int(rest.neutral) == 2
    assert found.dof == 4
    free = Nonlinear(system, rest.q, found.Z)
    np.testing.assert_allclose(found.A, free.matrix(), atol=1e-10 * np.abs(found.A).max())
    modes = found.modes()
    np.testing.assert_array_equal(modes.rigid, [True, True, False, False])
    expected = scipy.linalg.eigvals(free.matrix())
    expected = sorted(expected[expected.imag > 1.0], key=abs)
    np.testing.assert_allclose(modes.eigenvalue[2:], expected, rtol=1e-9)
    for name in ("arm", "knuckle", "rack"):
        assert float(jnp.max(jnp.abs(modes.body(name).rotation[:2]))) < 1e-9, "bodies with work to do do not spin idly"
    _, single, other = strut(False)
    np.testing.assert_allclose(single.q, rest.q, atol=1e-10)
    np.testing.assert_allclose(other.modes().eigenvalue, modes.eigenvalue, atol=1e-9)
    assert int(single.neutral) == 2


# --- derivatives --------------------------------------------------------------------------------------------------------


def quantities(p):
    """Rest, reactions at rest and frequency of the redundant loop."""
    system, state = spatial_loop(*p)
    rest = mb.equilibrium(system, state)
    modes = mb.linearize(system, rest, dof=1).modes()
    forces = [rest.reaction(name).force[:2] for name in "AC"]
    return jnp.concatenate([rest.point("coupler", "middle")[:2], modes.natural_frequency, modes.shape[0].real, *forces])


@pytest.mark.slow
def test_rest_reactions_frequency_and_shape_of_a_redundant_loop_have_their_derivatives():
    """With respect to mass, length and stiffness; the values around come from one run over a batch."""
    at, h = np.array([1.0, 1.5, 20.0]), np.array([1e-3, 1e-3, 2e-2])
    batch = [at] + [at + s * h * e for e in np.eye(3) for s in (1, -1, 2, -2)]
    values = np.asarray(jax.jit(jax.vmap(quantities))(jnp.asarray(batch)))
    around = values[1:].reshape(3, 4, -1)
    expected = ((8 * (around[:, 0] - around[:, 1]) - (around[:, 2] - around[:, 3])) / (12 * h[:, None])).T
    found = jax.jit(jax.jacrev(quantities))(jnp.asarray(at))
    np.testing.assert_allclose(found, expected, atol=1e-9 * np.abs(expected).max())
    direction = jnp.array([0.3, -0.7, 2.0])
    value, forward = jax.jit(lambda p: jax.jvp(quantities, (p,), (direction,)))(jnp.asarray(at))
    np.testing.assert_allclose(forward, found @ direction, atol=1e-10)
    np.testing.assert_allclose(values[0], value, atol=1e-10)


# --- what is refused ----------------------------------------------------------------------------------------------------


def test_a_state_that_is_no_rest_is_refused():
    system, state = masses()
    for change, message in (
        (
            {"velocity": {"upper": (0, 1.0, 0), "lower": (0, 0.5, 0)}},
            "needs a state at rest, but the largest speed is 1 ",
        ),
        (
            {},
            r"needs a state in equilibrium, but body 'upper' stays out of balance by 15 N and 0 N m, body 'lower' .* 15 N",
        ),
        ({}, r"needs a closed state, but the constraints are violated by"),
    ):
        wrong = system.state(**change)
        if "equilibrium, but" in message:
            wrong = mb.State(wrong.t, wrong.q.at[8].add(-0.1), wrong.v)
        elif "closed" in message:
            wrong = mb.State(wrong.t, wrong.q.at[0].add(1e-3), wrong.v)
        with pytest.raises(mb.ModelError, match=message):
            mb.linearize(system, wrong)
    for dof, message in (
        (3, "dof=3, but the degrees of freedom here are 2"),
        (13, "dof=13, but the system has 12 speeds"),
    ):
        with pytest.raises(mb.ModelError, match=message):
            mb.linearize(system, state, dof=dof)


def test_inside_jit_the_number_of_freedoms_must_be_given():
    with pytest.raises(mb.ModelError, match=r"Give it: linearize\(system, state, dof=1\)"):
        jax.jit(lambda s: mb.linearize(masses()[0], s).stiffness)(masses()[1])


def test_outputs_are_numbers_and_inputs_are_forces(without_type_checks):
    system, state = masses()
    with pytest.raises(mb.ModelError, match=r"output 'p', a function that returns an array of shape \(3,\)"):
        mb.linearize(system, state, outputs={"p": lambda m: m.point("upper", "com")})
    with pytest.raises(mb.ModelError, match="input 'f', a str for a System"):
        mb.linearize(system, state, inputs={"f": "upper"})  # pyright: ignore[reportArgumentType]
    with pytest.raises(mb.ModelError, match="frequency_response needs inputs"):
        mb.linearize(system, state).frequency_response([1.0])
