import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmb as mb
from jaxmb.analyses.closing import CORRECTIONS
from jaxmb.mechanisms import get_mechanism

from ..models import spatial_loop
from ..oracles import jacobian

GROUND = 1.6


@functools.cache
def loop():
    return spatial_loop()


@eqx.filter_jit
def terms_at(system, state):
    return system.equations().terms(state.t, state.q, state.v)


@eqx.filter_jit
def moved(system, state, by):
    """Bodies moved by parts of the largest distance of a centre of mass from the middle of all, and turned by angles."""
    equations = system.equations()
    p = equations.poses(state.q).p[:-1]
    size = jnp.max(jnp.linalg.norm(p - jnp.mean(p, axis=0, keepdims=True), axis=1))
    units = jnp.tile(jnp.where(jnp.arange(6) < 3, size, 1.0), len(system.bodies))
    return equations.retract(state.q, by * units)


def disturbed(system, state, share, angle, rng):
    """Every body shifted by `share` of the size along each axis and turned by `angle` about each (standard deviations); speeds at
    random."""
    by = rng.normal(size=(len(system.bodies), 6)) * np.repeat([share, angle], 3)
    return mb.State(state.t, moved(system, state, by.reshape(-1)), jnp.asarray(rng.normal(size=state.v.size)))


def outcomes(system, state, share, angle, count):
    """How often a disturbed state is assembled and how often an error names the joint that stays open; any other end fails."""
    rng = np.random.default_rng(3)
    assembled = refused = 0
    for _ in range(count):
        try:
            found = mb.assemble_state(system, disturbed(system, state, share, angle, rng))
        except mb.ModelError as error:
            named = str(error).split("'")[1]
            assert "could not close joint" in str(error) and named in system.joints, error
            refused += 1
            continue
        terms = terms_at(system, found)
        # NaN fails here.
        assert np.abs(terms.Phi).max() < 1e-12 and np.abs(terms.Phi_dot).max() < 1e-11
        assembled += 1
    return assembled, refused


def elbow(length, angle=1.2):
    """Joint C of the loop, where two circles meet, and its two places."""
    b, d = np.array([np.cos(angle), np.sin(angle)]), np.array([GROUND, 0.0])
    along = d - b
    distance = np.hypot(*along)
    a = (length**2 - 1.2**2 + distance**2) / (2 * distance)
    across = np.array([-along[1], along[0]]) / distance
    return [b + a * along / distance + sign * np.sqrt(length**2 - a**2) * across for sign in (1, -1)]


def joint_c(system, state):
    poses = system.equations().poses(state.q)
    k = list(system.bodies).index("rocker")
    return poses.p[k] + poses.R[k] @ system.bodies["rocker"].points["end"]


def test_closes_the_loop_with_the_held_angle():
    system, state = loop()
    assert np.max(np.abs(terms_at(system, state).Phi)) < 1e-12
    assert not np.any(state.v)
    found = np.asarray(joint_c(system, state))
    assert min(np.abs(found - [*place, 0.0]).max() for place in elbow(1.5)) < 1e-12


def test_rates_are_met_and_consistent():
    """The transmission of a four-bar by hand: joint C has one velocity, seen from the coupler and from the rocker."""
    system, state = loop()
    moving = mb.assemble_state(system, state, rates={"A": 2.0})
    assert np.max(np.abs(terms_at(system, moving).Phi_dot)) < 1e-12
    np.testing.assert_allclose(moving.q, state.q, atol=1e-14)
    w_crank, w_coupler, w_rocker = np.asarray(moving.v).reshape(3, 6)[:, 5]
    assert w_crank == pytest.approx(2.0, abs=1e-12)
    B, C = np.array([np.cos(1.2), np.sin(1.2)]), np.asarray(joint_c(system, state))[:2]
    turn = np.array([[0.0, -1.0], [1.0, 0.0]])
    matrix = np.column_stack([turn @ (C - B), -turn @ (C - [GROUND, 0.0])])
    np.testing.assert_allclose([w_coupler, w_rocker], np.linalg.solve(matrix, -2.0 * turn @ B), atol=1e-11)


def test_rates_that_disagree_are_refused_and_those_that_agree_are_met():
    system, state = loop()
    with pytest.raises(mb.ModelError, match=r"contradicts .*\(rates of A, D\)\. .* miss '[AD]' by .* Give less"):
        mb.assemble_state(system, state, rates={"A": 2.0, "D": 2.0})
    w_rocker = float(mb.assemble_state(system, state, rates={"A": 2.0}).v[17])
    both = mb.assemble_state(system, state, rates={"A": 2.0, "D": w_rocker})
    assert float(both.v[5]) == pytest.approx(2.0, abs=1e-11)
    with pytest.raises(mb.ModelError, match="not finite"):
        mb.assemble_state(system, state, rates={"A": jnp.nan})


def test_200_disturbed_starts_of_the_redundant_loop_are_all_assembled():
    assert outcomes(*loop(), 0.1, 0.2, 200) == (200, 0)
    assembled, refused = outcomes(*loop(), 1.0, 1.0, 50)
    assert assembled + refused == 50


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bricard", "mcpherson-overconstrained", "slider-crank"])
def test_200_disturbed_starts_end_assembled_or_with_a_named_joint(name):
    system, state = get_mechanism(name).build()
    assert outcomes(system, state, 0.1, 0.2, 200) == (200, 0)
    assembled, refused = outcomes(system, state, 1.0, 1.0, 50)
    assert assembled + refused == 50


@pytest.mark.parametrize("correction", ["inertia", pytest.param("minimum-norm", marks=pytest.mark.slow)])
def test_speeds_are_the_nearest_of_their_kind(correction):
    """v from a rough guess at a closed pose, against pseudoinverses; rows are dependent."""
    system, state = loop()
    rough = np.random.default_rng(1).normal(size=18)
    found = np.asarray(
        mb.assemble_state(system, mb.State(state.t, state.q, jnp.asarray(rough)), correction=correction).v
    )
    terms = terms_at(system, state)
    M, J = np.asarray(terms.M), np.asarray(terms.J)
    if correction == "inertia":
        W = np.linalg.inv(M)
    else:
        # The size of the mechanism from the ports, as told in `scaling`: the result depends on it.
        length = float(mb.scaling.scaling_of(system.equations(), state.q, terms.J).length)
        W = np.diag(np.tile(np.repeat([length**2, 1.0], 3), 3))
    expected = rough - W @ J.T @ np.linalg.pinv(J @ W @ J.T, rcond=1e-10) @ (J @ rough)
    np.testing.assert_allclose(found, expected, atol=1e-9)


def scaled_loop(scale=1.0, coupler=1.5):
    lengths = {"crank": 1.0, "coupler": coupler, "rocker": 1.2}
    return mb.System(
        {name: mb.rod(length=scale * l, mass=l) for name, l in lengths.items()},
        {
            "A": mb.Revolute("ground", "crank", at=(0, 0, 0), to="start"),
            "B": mb.Revolute("crank", "coupler", at="end", to="start"),
            "C": mb.Revolute("coupler", "rocker", at="end", to="end"),
            "D": mb.Revolute("ground", "rocker", at=(GROUND * scale, 0, 0), to="start"),
        },
    )


@pytest.mark.slow
@pytest.mark.parametrize("correction", CORRECTIONS)
def test_millimetres_give_the_same_pose_as_metres(correction):
    """From a guess 10 % off, lengths in other units: positions scale, rotations stay."""
    rough = disturbed(*loop(), 0.1, 0.1, np.random.default_rng(5))
    found = []
    for scale in (1.0, 1000.0):
        units = np.tile([scale] * 3 + [1.0] * 4, 3)
        speeds = np.tile([scale] * 3 + [1.0] * 3, 3)
        guess = mb.State(rough.t, rough.q * units, rough.v * speeds)
        state = mb.assemble_state(scaled_loop(scale), guess, correction=correction)
        found.append(np.concatenate([state.q / units, state.v / speeds]))
    np.testing.assert_allclose(found[1], found[0], atol=1e-10)


@pytest.mark.slow
def test_named_speeds_stay_as_they_are_in_the_guess():
    """The crank is kept where it is, though its speed is one of six of the body, and the others follow: the closed form."""
    system, state = loop()
    rng = np.random.default_rng(2)
    rough = disturbed(system, state, 0.05, 0.1, rng)
    crank = [f"crank.v{k}" for k in range(1, 7)]
    guess = mb.State(rough.t, rough.q.at[:7].set(state.q[:7]), rough.v.at[:6].set(0.0))
    found = mb.assemble_state(system, guess, correction="independent", independent=crank)
    np.testing.assert_allclose(found.q[:7], state.q[:7], atol=1e-15)
    np.testing.assert_array_equal(found.v[:6], 0.0)
    np.testing.assert_allclose(joint_c(system, found), joint_c(system, state), atol=1e-11)
    np.testing.assert_allclose(found.v, 0.0, atol=1e-11)
    # A crank off its bearing cannot be kept.
    with pytest.raises(mb.ModelError, match=r"could not close joint '.*held: crank.v1, .* as independent"):
        mb.assemble_state(system, rough, correction="independent", independent=crank)
    with pytest.raises(mb.ModelError, match=r"no speeds .*\(rates of A; speeds kept: crank.v6\)\. .* miss 'A'"):
        mb.assemble_state(system, state, rates={"A": 1.0}, correction="independent", independent=["crank.v6"])
    # Left to pivoting, as many stay as there are freedoms: none where a rate is given.
    found = mb.assemble_state(system, rough, correction="independent")
    assert np.sum(np.asarray(found.v) == np.asarray(rough.v)) == 1


@pytest.mark.slow
def test_a_row_of_the_coordinates_is_not_called_a_joint():
    ball = mb.System(
        {"a": mb.sphere((0, 0, 0), radius=1.0, mass=1.0)},
        {"s": mb.Spherical("ground", "a", point=jnp.zeros(3))},
        coordinates=mb.EulerParameters(),
    )
    guess = mb.State(jnp.zeros(()), jnp.array([0, 0, 0, 0.1, 1.2, 0, 0]), jnp.zeros(7))
    with pytest.raises(mb.ModelError, match="could not put body 'a' into its coordinates: row norm"):
        mb.assemble_state(ball, guess, correction="independent", independent=["a.v5"])


def test_what_cannot_be_closed_names_the_joint_the_amount_and_what_was_held():
    message = r"could not close joint '[A-D]': row .* stays open by [0-9.]+ mm \(held: A, itself off by [0-9.]+ deg\)"
    with pytest.raises(mb.ModelError, match=message):
        spatial_loop(length=0.1)
    inside = jax.jit(lambda length: spatial_loop(length=length)[1])(0.1)
    assert np.all(np.isnan(inside.q)) and np.all(np.isnan(inside.v)), "never a plausible state"


def test_bad_input_is_refused():
    system, state = loop()
    with pytest.raises(mb.ModelError, match=r"Asked for joint 'AA'.*Did you mean 'A'"):
        mb.assemble_state(system, hold={"AA": 1.0})
    with pytest.raises(mb.ModelError, match=r"'A.angel', but joint 'A' .*'A.angle'.*Did you mean 'angle'"):
        mb.assemble_state(system, hold={"A.angel": 1.0})
    with pytest.raises(mb.ModelError, match=r"correction 'inertial'.*Did you mean 'inertia'"):
        mb.assemble_state(system, correction="inertial")
    with pytest.raises(mb.ModelError, match=r"independent 'crank.v7'.*Did you mean 'crank.v"):
        mb.assemble_state(system, correction="independent", independent=["crank.v7"])
    with pytest.raises(mb.ModelError, match=r"does not use\. Give correction='independent'"):
        mb.assemble_state(system, independent=["crank.v6"])
    with pytest.raises(mb.ModelError, match="guess with numbers that are not finite"):
        mb.assemble_state(system, mb.State(state.t, state.q.at[3].set(jnp.nan), state.v))
    with pytest.raises(mb.ModelError, match=r"shapes \(7,\), \(6,\), but this system has \(21,\), \(18,\)"):
        mb.assemble_state(system, mb.State(state.t, state.q[:7], state.v[:6]))
    ball = mb.System(
        {"a": mb.sphere((0, 0, 0), radius=1.0, mass=1.0)}, {"s": mb.Spherical("ground", "a", point=jnp.zeros(3))}
    )
    for given in ({"hold": {"s": 1.0}}, {"rates": {"s": 1.0}}):
        with pytest.raises(mb.ModelError, match="a Spherical without coordinates"):
            mb.assemble_state(ball, **given)


def test_one_of_several_coordinates_is_held_and_driven():
    shaft = mb.System(
        {"shaft": mb.cylinder(length=1.0, radius=0.1, mass=1.0)},
        {"bore": mb.Cylindrical("ground", "shaft", at=(0, 0, 0), to="middle", axis="x")},
    )
    state = mb.assemble_state(shaft, hold={"bore.angle": 0.7, "bore.distance": 0.4}, rates={"bore.distance": -3.0})
    np.testing.assert_allclose(state.q[:3], [0.4, 0, 0], atol=1e-12)
    np.testing.assert_allclose(np.abs(state.q[3:]), np.abs([np.cos(0.35), np.sin(0.35), 0, 0]), atol=1e-12)
    np.testing.assert_allclose(state.v, [-3.0, 0, 0, 0, 0, 0], atol=1e-12)
    with pytest.raises(
        mb.ModelError, match=r"'bore', but joint 'bore' \(Cylindrical\) has the coordinates 'bore.angle'"
    ):
        mb.assemble_state(shaft, hold={"bore": 0.7})


def test_moving_constraints_give_the_speeds():
    """Only a driver: a body that is carried along, at another time than zero."""
    carried = mb.System(
        {"a": mb.sphere((0, 0, 0), radius=0.1, mass=1.0)}, {"d": mb.BodyDriver("a", lambda t: 0.5 * t**2, axis="y")}
    )
    guess = mb.State(jnp.asarray(2.0), carried.state().q, jnp.array([1.0, -4, 0, 0, 0, 0.3]))
    state = mb.assemble_state(carried, guess)
    np.testing.assert_allclose(state.q, [0, 2.0, 0, 1, 0, 0, 0], atol=1e-13)
    np.testing.assert_allclose(state.v, [1.0, 2.0, 0, 0, 0, 0.3], atol=1e-13)


def test_without_joints_and_when_closed_nothing_moves():
    free = mb.System({"a": mb.sphere((0, 0, 0), radius=0.1, mass=1.0)})
    start = free.state(velocity={"a": (1.0, 2.0, 3.0)})
    for a, b in zip(jax.tree.leaves(mb.assemble_state(free, start)), jax.tree.leaves(start), strict=True):
        np.testing.assert_array_equal(a, b)
    system, state = loop()
    moving = mb.assemble_state(system, state, rates={"A": 2.0})
    again = mb.assemble_state(system, moving)
    np.testing.assert_allclose(again.q, moving.q, atol=1e-15)
    np.testing.assert_allclose(again.v, moving.v, atol=1e-13)


@pytest.mark.slow
def test_derivative_is_that_of_the_closed_form():
    """Elbow of the loop with respect to the length of the coupler and to the held angle, alone and for many lengths."""

    def place(x):
        return joint_c(*spatial_loop(length=x[0], angle=x[1]))[:2]

    at = np.array([1.5, 1.2])
    branch = int(np.argmin([np.hypot(*(np.asarray(joint_c(*loop()))[:2] - c)) for c in elbow(1.5)]))
    many = jax.jit(jax.vmap(jax.jacfwd(lambda x: (place(x),) * 2, has_aux=True)))
    xs = np.array([at, [1.3, 1.1], [1.7, 1.0], [0.1, 1.2]])
    slopes, places = many(xs)
    for x, found, slope in zip(xs[:3], places, slopes, strict=False):
        np.testing.assert_allclose(found, elbow(*x)[branch], atol=1e-11)
        np.testing.assert_allclose(slope, jacobian(lambda x: elbow(*x)[branch], x), atol=1e-9)
    assert np.all(np.isnan(places[3])), "what cannot be closed is NaN and spoils no other"
    np.testing.assert_allclose(jax.jacrev(place)(jnp.asarray(at)), slopes[0], atol=1e-11)


@pytest.mark.slow
@pytest.mark.parametrize("correction", CORRECTIONS)
def test_derivatives_of_each_correction(correction):
    """Positions and speeds with respect to a length, a rate, and the guess, with one freedom left to the correction."""
    _, start = loop()
    rng = np.random.default_rng(4)
    # Four directions of the guess, in positions and speeds.
    along_q, along_v = (jnp.asarray(rng.normal(size=(4, x.size))) for x in (start.q, start.v))
    options = {"correction": correction}

    def assembled(x):
        guess = mb.State(start.t, start.q + x[2:] @ along_q, start.v + x[2:] @ along_v)
        found = mb.assemble_state(scaled_loop(coupler=x[0]), guess, rates={"A": x[1]}, **options)
        return jnp.concatenate([found.q, found.v])

    at = np.array([1.5, 2.0, 0.0, 0.0, 0.0, 0.0])
    # Where rows are dependent only at closed poses, the steps of the search are no smooth function of the guess in second order.
    h = 1e-7
    points = np.concatenate([[at], at + h * np.eye(6), at - h * np.eye(6)])
    slopes, found = jax.jit(jax.vmap(jax.jacfwd(lambda x: (assembled(x),) * 2, has_aux=True)))(points)
    expected = (found[1:7] - found[7:]).T / (2 * h)
    np.testing.assert_allclose(slopes[0], expected, atol=2e-6)
    np.testing.assert_allclose(jax.jit(jax.jacrev(assembled))(at), slopes[0], atol=1e-10)
