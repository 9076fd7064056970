"""The path of a driven four-bar: near misses, dead ends and jumps, against the two circles that close it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmb as mb
from jaxmb.analyses.follow import SOLVERS, kinematic_solve
from jaxmb.scaling import Scaling
from jaxmb.status import status_name

from ..oracles import jacobian

GROUND = 2.0
TIMES = 13


def drive(numbers, t):
    """An angle that grows from `start` at `rate`, jumps once, and is unknown from a time on."""
    start, rate, jump, when, unknown = numbers
    angle = start + rate * t + jnp.where(t > when, jump, 0.0)
    return jnp.where(t > unknown, jnp.nan, angle)


def four_bar(
    crank=1.0, coupler=2.0, rocker=1.1, *, start=1.0, rate=6.0, jump=0.0, when=9e9, unknown=9e9, size=1.0, mass=1.0
):
    """Planar, driven at its crank; every number is a leaf, so that all of them run in one program."""
    lengths = {"crank": crank * size, "coupler": coupler * size, "rocker": rocker * size}
    joints = {
        "A": mb.PlanarRevolute("ground", "crank", at=(0, 0, 0), to="start"),
        "B": mb.PlanarRevolute("crank", "coupler", at="end", to="start"),
        "C": mb.PlanarRevolute("coupler", "rocker", at="end", to="end"),
        "D": mb.PlanarRevolute("ground", "rocker", at=(GROUND * size, 0, 0), to="start"),
        "motor": mb.Driver("A", jax.tree_util.Partial(drive, jnp.array([start, rate, jump, when, unknown]))),
    }
    bodies = {name: mb.rod(length=length, mass=mass * length) for name, length in lengths.items()}
    return mb.System(bodies, joints, coordinates=mb.Planar())


def sketch(size):
    """Where the links roughly are at the start, with the elbow up."""
    A, B, C, D = (size * np.array(point, float) for point in ((0, 0, 0), (0.5, 0.8, 0), (2.4, 1.1, 0), (GROUND, 0, 0)))
    rods = {"crank": (A, B), "coupler": (B, C), "rocker": (D, C)}
    bodies = {name: mb.rod(*ends, mass=1.0) for name, ends in rods.items()}
    return mb.System(bodies, coordinates=mb.Planar()).state()


def follow(t1, *, solver="newton", max_steps=10_000, size=1.0, **numbers):
    system = four_bar(size=size, **numbers)
    ts = np.linspace(0.0, t1, TIMES)
    return mb.kinematics(system, ts=ts, guess=sketch(size), solver=solver, max_steps=max_steps, throw=False)


def circles(motion, crank=1.0, coupler=2.0, rocker=1.1, start=1.0, rate=6.0):
    """Where the circles of coupler and rocker meet at each time, always on the same side."""
    angle = start + rate * np.asarray(motion.t)
    B = crank * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    along = np.array([GROUND, 0.0]) - B
    distance = np.linalg.norm(along, axis=1, keepdims=True)
    a = (coupler**2 - rocker**2 + distance**2) / (2 * distance)
    h = np.sqrt(coupler**2 - a**2)
    across = np.stack([-along[:, 1], along[:, 0]], axis=1)
    return B + (a * along + h * across) / distance


@pytest.mark.parametrize("gap", [1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6])
def test_a_near_miss_of_the_flat_pose_is_passed_on_its_branch(gap):
    """Two branches come as near as the root of the gap; four times a turn are far too few without steps between them."""
    motion = follow(3.0, rocker=1.0 + gap)
    assert bool(motion.ok), motion.message
    np.testing.assert_allclose(motion.point("coupler", "end")[:, :2], circles(motion, rocker=1.0 + gap), atol=1e-10)
    assert 1 < int(motion.trials.max()) < 100


def test_random_four_bars_stay_on_their_branch_or_end_where_they_must():
    rng = np.random.default_rng(5)
    outcomes = []
    for _ in range(40):
        crank, coupler, rocker = rng.uniform(0.3, 3.0, size=3)
        rate = float(rng.uniform(1.0, 12.0))
        motion = follow(1.0, crank=crank, coupler=coupler, rocker=rocker, rate=rate)
        dense = np.linspace(0.0, 1.0, 4001)
        distance = np.hypot(GROUND - crank * np.cos(1.0 + rate * dense), crank * np.sin(1.0 + rate * dense))
        out_of_reach = (distance > coupler + rocker) | (distance < abs(coupler - rocker))
        if out_of_reach.any():
            assert status_name(motion.status) == "unreachable"
            assert float(motion.reached) == pytest.approx(dense[np.argmax(out_of_reach)], abs=1e-3)
        else:
            assert bool(motion.ok), motion.message
            expected = circles(motion, crank=crank, coupler=coupler, rocker=rocker, rate=rate)
            found = np.asarray(motion.point("coupler", "end"))[:, :2]
            # A rough guess may be closed with the elbow down; then all of the path is.
            foot = np.array([GROUND, 0.0])
            tip = np.asarray(motion.point("crank", "end"))[:, :2]
            along = (foot - tip) / np.linalg.norm(foot - tip, axis=1, keepdims=True)
            mirrored = tip + 2 * along * np.sum(along * (expected - tip), axis=1, keepdims=True) - (expected - tip)
            assert min(np.max(np.abs(found - x)) for x in (expected, mirrored)) < 1e-10
        outcomes.append(bool(motion.ok))
    assert 5 < sum(outcomes) < 35


def test_few_steps_are_tried_where_nothing_is_near():
    """0.03 rad from time to time: each is one step."""
    motion = follow(TIMES * 0.03 / 6.0, rocker=1.5)
    assert bool(motion.ok)
    np.testing.assert_array_equal(motion.trials, [0] + [1] * (TIMES - 1))


def test_a_path_through_the_flat_pose_ends_there_and_names_the_joints():
    motion = follow(3.0, rocker=1.0)
    flat = (np.pi - 1.0) / 6.0
    assert status_name(motion.status) == "singular_configuration"
    assert 0.99 * flat < float(motion.reached) < flat
    assert "Joints that lose their independence: A, B, C, D." in motion.message


@pytest.mark.parametrize("rocker", [0.5, 0.9])
def test_a_pose_out_of_reach_ends_the_path_at_the_dead_centre(rocker):
    motion = follow(3.0, rocker=rocker)
    # Coupler and rocker in one line, by the law of cosines.
    dead = np.arccos((1.0 + GROUND**2 - (2.0 + rocker) ** 2) / (2 * GROUND))
    assert status_name(motion.status) == "unreachable"
    assert float(motion.reached) == pytest.approx((dead - 1.0) / 6.0, abs=1e-5)
    late = np.asarray(motion.t) > float(motion.reached)
    for rows in (motion.q, motion.v, motion.a):
        np.testing.assert_array_equal(np.isnan(rows), np.broadcast_to(late[:, None], rows.shape))
    missed = np.asarray(motion.t)[late][0]
    left = 6.0 * (missed - float(motion.reached))
    assert f"At t = {missed:.6g} s joint 'motor' stays open: row drive by {left:.3g}" in motion.message


def test_a_driver_that_jumps_is_told():
    motion = follow(1.0, rocker=1.5, jump=0.5, when=0.51)
    assert status_name(motion.status) == "branch_jump"
    assert float(motion.reached) == pytest.approx(0.51, abs=1e-8)
    assert "a driver jumps" in motion.message


def test_a_jump_by_a_whole_turn_is_none():
    motion = follow(1.0, rocker=1.5, jump=2 * np.pi, when=0.51)
    assert bool(motion.ok), motion.message
    np.testing.assert_allclose(motion.point("coupler", "end")[:, :2], circles(motion, rocker=1.5), atol=1e-10)


def test_a_driver_that_is_not_finite_ends_the_path_where_it_was():
    motion = follow(1.0, rocker=1.5, unknown=0.51)
    assert status_name(motion.status) == "not_finite"
    assert float(motion.reached) == pytest.approx(0.51, abs=1e-8)
    at_once = follow(1.0, rocker=1.5, unknown=-1.0)
    assert status_name(at_once.status) == "not_finite"
    assert np.all(np.isnan(at_once.q))


def test_what_cannot_be_closed_at_the_start_is_out_of_reach():
    motion = follow(1.0, coupler=0.1, rocker=0.1)
    assert status_name(motion.status) == "unreachable"
    assert np.all(np.isnan(motion.q))
    assert "stays open" in motion.message


@pytest.mark.parametrize("size", [1e-3, 1e3])
@pytest.mark.parametrize("gap", [1e-3, 0.0, -0.1])
def test_the_path_does_not_depend_on_the_unit_of_length(size, gap):
    motion, other = follow(3.0, rocker=1.0 + gap), follow(3.0, rocker=1.0 + gap, size=size)
    assert status_name(motion.status) == status_name(other.status)
    assert float(motion.reached) == pytest.approx(float(other.reached), abs=1e-6)
    points = np.asarray(other.point("coupler", "end")) / size
    np.testing.assert_allclose(points, motion.point("coupler", "end"), atol=1e-9)


@pytest.mark.parametrize("mass", [1e-6, 1e6])
def test_the_path_does_not_depend_on_masses(mass):
    motion, other = follow(3.0), follow(3.0, mass=mass)
    for a, b in ((motion.q, other.q), (motion.v, other.v), (motion.a, other.a)):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(motion.trials, other.trials)


@pytest.mark.slow
@pytest.mark.parametrize("solver", [name for name in SOLVERS if name != "newton"])
def test_every_solver_follows_the_same_path(solver):
    for rocker in (1.5, 1.001):
        motion, other = follow(3.0, rocker=rocker), follow(3.0, rocker=rocker, solver=solver)
        assert bool(other.ok), other.message
        for a, b, atol in ((motion.q, other.q, 1e-10), (motion.v, other.v, 1e-9), (motion.a, other.a, 1e-7)):
            np.testing.assert_allclose(a, b, atol=atol * np.max(np.abs(a)))
        assert abs(int(motion.trials.sum()) - int(other.trials.sum())) <= 5
    for rocker, name in ((1.0, "singular_configuration"), (0.9, "unreachable")):
        assert status_name(follow(3.0, rocker=rocker, solver=solver).status) == name


@pytest.mark.slow
def test_steps_are_bounded():
    motion = follow(3.0, rocker=1.001, max_steps=5)
    assert status_name(motion.status) == "max_steps"
    assert float(motion.reached) < 3.0


def test_rows_that_depend_on_one_another_are_solved_as_by_least_squares():
    """7 rows of rank 4; the right-hand sides agree with them. Its derivative too, for rows that stay dependent."""
    rng = np.random.default_rng(2)
    C, x = rng.normal(size=(7, 4)), rng.normal(size=4)
    B = rng.normal(size=(4, 4))
    scaling = Scaling(jnp.array(3.0), jnp.array([3.0, 3.0, 1.0, 1.0]))

    def solved(B):
        J = C @ B
        return kinematic_solve(jnp.asarray(J), scaling)(jnp.asarray(J @ (B.T @ x)))

    np.testing.assert_allclose(solved(B), np.linalg.lstsq(C @ B, C @ B @ (B.T @ x), rcond=None)[0], atol=1e-12)
    expected = jacobian(lambda b: b.reshape(4, 4).T @ x, B.reshape(-1))
    for derivative in (jax.jacfwd, jax.jacrev):
        np.testing.assert_allclose(np.reshape(derivative(solved)(jnp.asarray(B)), (4, 16)), expected, atol=1e-9)
