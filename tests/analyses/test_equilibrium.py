"""Where a mechanism comes to rest."""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg
import scipy.optimize

import jaxmb as mb
from jaxmb.analyses.tangent import close_near
from jaxmb.mechanisms.bricard import bricard
from tests import oracles
from tests.models import door, parallelogram, pendulum, spatial_loop

G = 9.81
ZERO = jnp.zeros(())


def swing(*, free=0.0, mass=2.0, length=1.0, stiffness=30.0, gravity=G):
    """A pendulum that starts sideways, with a spring in its hinge."""
    system = pendulum(length=length, mass=mass, gravity=gravity)
    return system.with_forces(spring=mb.joint_spring("hinge", stiffness=stiffness, free=free))


def unbalanced(system, rest):
    """The forces along the motions that NumPy says are free, relative to the largest force."""
    terms = system.equations().terms(rest.t, rest.q, rest.v)
    null = scipy.linalg.null_space(np.asarray(terms.J), rcond=1e-8)
    return np.abs(null.T @ np.asarray(terms.Q)).max() / np.abs(terms.Q).max(), null.shape[1]


def is_least_energy(system, rest):
    """Whether a mechanism of one degree of freedom has more energy a little before and behind its rest, joints closed."""
    equations = system.equations()
    J = equations.terms(rest.t, rest.q, rest.v).J
    along = jnp.asarray(scipy.linalg.null_space(np.asarray(J), rcond=1e-8)[:, 0])

    @eqx.filter_jit
    def energy(s):
        return equations.energies(close_near(equations, ZERO, equations.retract(rest.q, s * along)), rest.v)[1]

    before, here, behind = (float(energy(jnp.asarray(s))) for s in (-0.1, 0.0, 0.1))
    return min(before, behind) > here + 1e-3


def test_a_pendulum_hangs_and_its_hinge_carries_the_weight():
    system = swing(stiffness=0.0)
    rest = mb.equilibrium(system, system.state())
    np.testing.assert_allclose(rest.point("rod", "end"), [0, -1, 0], atol=1e-10)
    np.testing.assert_allclose(rest.reaction("hinge").force, [0, 2 * G, 0], atol=1e-9)
    np.testing.assert_allclose(rest.reaction("hinge", port=0).force, [0, -2 * G, 0], atol=1e-9)
    np.testing.assert_allclose(rest.reaction("hinge", frame="rod").force, [-2 * G, 0, 0], atol=1e-9)
    np.testing.assert_array_equal(rest.v, 0.0)
    assert bool(rest.stable)
    assert int(rest.neutral) == 0
    assert bool(rest.reaction("hinge").unique)


def test_an_unstable_rest_is_kept_and_told():
    """Upright, as exactly as angles are; a hundredth of a degree beside it the rod falls to the stable one."""
    system = swing(stiffness=0.0)
    equations = system.equations()

    def from_angle(angle):
        turned = oracles.turn((0, 0, 1), angle) @ [0.5, 0, 0]
        q = equations.retract(system.state().q, jnp.array([*(turned - [0.5, 0, 0]), 0, 0, angle]))
        return mb.equilibrium(system, mb.State(ZERO, q, jnp.zeros(6)))

    rest = from_angle(np.pi / 2)
    np.testing.assert_allclose(rest.point("rod", "end"), [0, 1, 0], atol=1e-10)
    assert not bool(rest.stable)
    fallen = from_angle(np.pi / 2 + 1e-4)
    np.testing.assert_allclose(fallen.point("rod", "end"), [0, -1, 0], atol=1e-10)
    assert bool(fallen.stable)


@pytest.mark.slow
def test_a_spring_in_the_hinge_balances_the_weight_and_has_its_derivatives():
    """stiffness (angle - free) = -mass g length/2 cos(angle), by SciPy; slopes by finite differences of that."""

    def root(mass, length, stiffness):
        f = lambda x: stiffness * (x - 0.4) + 0.5 * mass * G * length * np.cos(x)  # noqa: E731
        return scipy.optimize.brentq(f, -1.5, 0.4, xtol=1e-14, rtol=1e-14)

    @jax.jit
    def angle(p):
        system = swing(free=0.4, mass=p[0], length=p[1], stiffness=p[2])
        rest = mb.equilibrium(system, system.state())
        return rest.motion.joint("hinge").angle[0]

    at = np.array([2.0, 1.0, 30.0])
    value, slope = jax.value_and_grad(angle)(jnp.asarray(at))
    np.testing.assert_allclose(value, root(*at), atol=1e-12)
    np.testing.assert_allclose(slope, oracles.jacobian(lambda p: root(*p), at), atol=1e-9)


@pytest.mark.slow
def test_a_held_joint_tells_the_torque_that_holds_it():
    system = swing(free=0.4)
    rest = mb.equilibrium(system, hold={"hinge": 0.3})
    torque = 0.5 * 2.0 * G * np.cos(0.3) + 30.0 * (0.3 - 0.4)
    np.testing.assert_allclose(rest.multipliers("hold hinge"), [-torque], rtol=1e-10)
    np.testing.assert_allclose(rest.motion.joint("hinge").angle, [0.3], atol=1e-12)
    assert "hold hinge" in rest.system.joints
    assert "hold hinge" not in system.joints


@pytest.mark.slow
def test_without_a_rest_the_body_out_of_balance_is_named():
    """A light ball on a vertical rail beside a heavy one on a stiff spring, which does not make its weight seem small."""
    places = {"loose": 0.0, "carried": 1.0}
    system = mb.System(
        {
            "loose": mb.sphere((0, 0, 0), radius=0.1, mass=0.01),
            "carried": mb.sphere((1.0, 0, 0), radius=0.1, mass=20.0),
        },
        {f"{name} rail": mb.Prismatic("ground", name, point=(x, 0, 0), axis="y") for name, x in places.items()},
        {"gravity": mb.Gravity((0, -G, 0)), "spring": mb.joint_spring("carried rail", stiffness=1e7)},
    )
    message = r"found no rest .*: body 'loose' stays out of balance by 0\.0981 N and 0 N m\. Support"
    with pytest.raises(mb.ModelError, match=message):
        mb.equilibrium(system, system.state())


def test_without_a_rest_a_compiled_search_ends_in_nan():
    system = mb.GeneralizedSystem(
        lambda q, v, p: 0.5 * jnp.sum(v**2),
        lambda q, p: p * q[0] + 1e5 * q[1] ** 2,
        parameters=G,
        coordinates=("y", "x"),
    )
    rest = eqx.filter_jit(mb.equilibrium)(system, system.state([0.0, 1.0]))
    assert bool(jnp.all(jnp.isnan(rest.q)))
    assert not bool(rest.stable)
    with pytest.raises(mb.ModelError, match="coordinate 'y' stays out of balance by a generalised force of -9"):
        mb.equilibrium(system, system.state([0.0, 1.0]))


def test_a_door_stays_where_it_is_left():
    """Its swing has no stiffness but rounding, which must not send it anywhere; its rows are redundant."""
    system = door()
    rest = mb.equilibrium(system, system.state())
    np.testing.assert_allclose(rest.q, system.state().q, atol=1e-12)
    assert int(rest.neutral) == 1
    assert bool(rest.stable)


@pytest.mark.slow
def test_what_cannot_be_closed_is_named():
    system = mb.System(
        {"rod": mb.rod((0, 0, 0), (1, 0, 0), mass=1.0)},
        {
            "near": mb.Spherical("ground", "rod", at=(0, 0, 0), to="start"),
            "far": mb.Spherical("ground", "rod", at=(3, 0, 0), to="end"),
        },
    )
    with pytest.raises(
        mb.ModelError, match=r"could not close joint '(near|far)' near the guess: row x stays open by .* mm"
    ):
        mb.equilibrium(system, system.state())


def test_generalised_coordinates_rest_too_to_second_derivatives():
    """A bead on a vertical wire with a spring, and a pendulum beside it whose redundant constraint says the same twice."""

    def potential(q, p):
        return p["m"] * G * q[1] + 0.5 * p["k"] * q[2] ** 2 + p["m"] * G * q[2]

    def constraint(q, t, p):
        return jnp.stack([q[0] ** 2 + q[1] ** 2 - 1.0, 2 * (q[0] ** 2 + q[1] ** 2 - 1.0)])

    def rest(k):
        system = mb.GeneralizedSystem(
            lambda q, v, p: 0.5 * p["m"] * jnp.sum(v**2), potential, constraint,
            parameters={"m": 2.0, "k": k}, coordinates=("x", "y", "z"),
        )  # fmt: skip
        return mb.equilibrium(system, system.state([0.8, 0.6, 0.0]))

    found = rest(50.0)
    np.testing.assert_allclose(found.q, [0, -1, -2 * G / 50], atol=1e-10)
    # J' lam = Q with the smallest lam: (2 y, 4 y) lam = -2 g.
    np.testing.assert_allclose(found.lam, np.array([1.0, 2.0]) * 2 * G / 10, rtol=1e-9)
    assert bool(found.stable)
    assert not found.neutral
    sag = lambda k: rest(k).q[2]  # noqa: E731
    np.testing.assert_allclose(jax.jit(jax.grad(sag))(50.0), 2 * G / 50**2, rtol=1e-10)
    np.testing.assert_allclose(jax.jit(jax.jacfwd(jax.jacfwd(sag)))(50.0), -4 * G / 50**3, rtol=1e-10)
    for options in ({}, {"guess": found, "hold": {"x": 1.0}}):
        with pytest.raises(mb.ModelError, match="of a GeneralizedSystem needs a guess and cannot hold"):
            mb.equilibrium(found.system, **options)


# --- redundant loops ----------------------------------------------------------------------------------------------------


@functools.cache
def loop_rest():
    system, state = spatial_loop()
    return system, mb.equilibrium(system, state)


def planar_statics(system, rest, weight: float, torque: float):
    """In-plane forces of the hinges A, B, C, D of the loop on their second bodies and what is left over, by NumPy: three
    equations for each bar, with the spring's force by hand and a torque on the crank."""
    centre = {name: np.asarray(rest.point(name, "middle"))[:2] for name in system.bodies}
    hinge = {
        "A": np.zeros(2), "B": rest.point("crank", "end")[:2], "C": rest.point("rocker", "end")[:2], "D": np.array([1.6, 0])
    }  # fmt: skip
    pairs = {"A": (None, "crank"), "B": ("crank", "coupler"), "C": ("coupler", "rocker"), "D": (None, "rocker")}
    rows, bars = np.zeros((9, 8)), list(system.bodies)
    for j, (name, pair) in enumerate(pairs.items()):
        for body, sign in zip(pair, (-1, 1), strict=True):
            if body is not None:
                k = 3 * bars.index(body)
                arm = np.asarray(hinge[name]) - centre[body]
                rows[k, 2 * j], rows[k + 1, 2 * j + 1] = sign, sign
                rows[k + 2, 2 * j : 2 * j + 2] = sign * np.array([-arm[1], arm[0]])
    right = np.zeros(9)
    for k, body in enumerate(bars):
        right[3 * k + 1] = weight * float(system.bodies[body].mass)
    along = centre["coupler"] - np.array([0.8, -1.0])
    length = np.linalg.norm(along)
    k = 3 * bars.index("coupler")
    right[k : k + 2] += 20.0 * (length - 0.3) * along / length
    right[3 * bars.index("crank") + 2] -= torque
    forces = np.linalg.lstsq(rows, right, rcond=None)[0]
    return forces.reshape(4, 2), np.abs(rows @ forces - right).max()


def test_a_redundant_loop_rests_where_constraint_forces_balance_the_others():
    system, rest = loop_rest()
    left, dof = unbalanced(system, rest)
    assert dof == 1
    assert left < 1e-13
    terms = system.equations().terms(ZERO, rest.q, rest.v)
    assert np.abs(terms.Phi).max() < 1e-13
    np.testing.assert_allclose(rest.lam, np.linalg.pinv(terms.J.T, rcond=1e-9) @ terms.Q, atol=1e-10)
    forces, left = planar_statics(system, rest, G, 0.0)
    assert left < 1e-11
    for name, force in zip("ABCD", forces, strict=True):
        np.testing.assert_allclose(rest.reaction(name).force[:2], force, atol=1e-11)
        assert not bool(rest.reaction(name).unique)
    assert is_least_energy(system, rest)
    assert bool(rest.stable)
    assert int(rest.neutral) == 0


@pytest.mark.slow
def test_a_preloaded_spring_in_a_held_redundant_loop_has_the_right_reactions():
    """Without gravity, and with the crank held: the torque is the slope of the spring's energy, forces are those of statics."""
    loaded, _ = spatial_loop()
    system = mb.System(loaded.bodies, loaded.joints, {"spring": loaded.forces["spring"]})
    start = mb.assemble_state(system, hold={"A": 1.2})
    rest = mb.equilibrium(system, start, hold={"A": 1.2})
    torque = -float(rest.multipliers("hold A")[0])
    equations = system.equations()

    def energy(angle):
        state = mb.assemble_state(system, start, hold={"A": angle})
        return float(equations.energies(state.q, state.v)[1])

    np.testing.assert_allclose(torque, oracles.derivative(lambda h: energy(1.2 + h)), rtol=1e-8)
    assert abs(torque) > 1.0
    forces, left = planar_statics(system, rest, 0.0, torque)
    assert left < 1e-11
    for name, force in zip("ABCD", forces, strict=True):
        np.testing.assert_allclose(rest.reaction(name).force[:2], force, atol=1e-11)
    assert int(rest.neutral) == 0


@pytest.mark.slow
def test_a_symmetric_loop_of_repeated_singular_values_hangs_down():
    system, state = parallelogram()
    rest = mb.equilibrium(system, state)
    np.testing.assert_allclose(rest.point("coupler", "middle"), [1, -1, 0], atol=1e-10)
    assert bool(rest.stable)
    # Each crank carries itself; the feet carry all, which the smallest multipliers share evenly.
    feet = [rest.reaction(f"foot{k}").force for k in range(3)]
    np.testing.assert_allclose(sum(feet), [0, 4 * G, 0], atol=1e-9)
    np.testing.assert_allclose(feet[0], feet[2], atol=1e-9)


@pytest.mark.slow
def test_a_paradoxical_loop_rests_at_its_least_energy():
    system = bricard()
    rest = mb.equilibrium(system, system.state())
    left, dof = unbalanced(system, rest)
    assert dof == 1
    assert left < 1e-10
    assert bool(rest.stable)
    assert is_least_energy(system, rest)


def test_a_strut_in_place_of_a_spring_has_the_preload_it_needs():
    """A bar of 3 kg that a strut holds level: half its weight over the sine of the strut's slope, and nothing is left free."""
    system = mb.System(
        {"bar": mb.rod((0, 0, 0), (2, 0, 0), mass=3.0)},
        {
            "hinge": mb.Revolute("ground", "bar", point=(0, 0, 0)),
            "strut": mb.Distance("ground", "bar", at=(0, 1.5, 0), to="end", length=2.5),
        },
        {"gravity": mb.Gravity((0, -9.81, 0))},
    )
    rest = mb.equilibrium(system, system.state())
    force = rest.reaction("strut").force
    np.testing.assert_allclose(force, 0.5 * 3.0 * 9.81 * np.array([-2.0 / 1.5, 1.0, 0.0]), atol=1e-10)
    assert bool(rest.stable) and int(rest.neutral) == 0
