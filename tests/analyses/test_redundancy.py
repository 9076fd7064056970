"""The redundancy report against mechanism theory, the rank test of Fraczek and Wojtyra, and changes of the multipliers."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmb as mb
from jaxmb.mechanisms import get_mechanism
from jaxmb.outputs import reactions

from ..models import door, parallelogram, pendulum, spatial_loop


@pytest.fixture(scope="module")
def loop():
    system, state = spatial_loop()
    return system, state, mb.redundancy(system, state)


def rank(rows):
    return np.linalg.matrix_rank(rows, tol=1e-9)


def jacobian(system, state):
    return np.asarray(system.equations().terms(state.t, state.q, state.v).J)


def rows_of(system, name):
    return [k for k, row in enumerate(system.equations().row_names) if row.rpartition(".")[0] == name]


def test_a_planar_loop_with_spatial_hinges_has_three_rows_too_many(loop):
    _, _, report = loop
    assert (report.rows, report.rank, report.dof, report.redundant) == (20, 17, 1, 3)
    assert not report.singular
    assert not report.conflicting
    assert report.exit_code == 1
    assert report.gap > 1e6
    assert sum(found.redundant for found in report.redundant_sets) == 3
    # Forces across the plane and moments about axes in it are what the loop carries several times.
    assert {row.rpartition(".")[2] for found in report.redundant_sets for row in found.rows} == {
        "z",
        "tilt_x",
        "tilt_y",
    }
    for verdict in report.reactions.values():
        assert verdict.unique_components == ("force x", "force y")
        assert verdict.free_components == ("force z", "torque x", "torque y")


def test_the_sets_are_complete(loop):
    """Each row of a set can be left out without loss of rank, no other row can, and the sets do not depend on each other."""
    system, state, report = loop
    J = jacobian(system, state)
    members = {row for found in report.redundant_sets for row in found.rows}
    for k, row in enumerate(report.names):
        assert (rank(np.delete(J, k, axis=0)) == rank(J)) == (row in members), row
    parts = [J[[report.names.index(row) for row in found.rows]] for found in report.redundant_sets]
    assert rank(np.concatenate(parts)) == sum(map(rank, parts))


def test_every_way_out_removes_the_redundancy_and_keeps_the_freedom(loop):
    system, state, report = loop
    (options,) = report.relaxations
    assert options
    for option in options:
        assert sum(change.released for change in option.changes) == 3
    changed = options[0].applied_to(system)
    after = mb.redundancy(changed, state)
    assert (after.redundant, after.dof) == (0, 1)
    assert after.exit_code == 0
    assert "CLEAN" in str(after)


def test_what_moves_is_named(loop):
    system, state, report = loop
    (freedom,) = report.freedoms
    assert np.max(np.abs(jacobian(system, state) @ freedom.v)) < 1e-9
    crank = next(screw for screw in freedom.screws if screw.body == "crank")
    assert np.allclose(np.abs(crank.direction), [0, 0, 1])
    assert np.allclose(crank.point, 0.0, atol=1e-9), "the crank turns about its hinge"
    assert {screw.body for screw in freedom.screws} == {"crank", "coupler", "rocker"}


def test_the_page_tells_an_engineer(loop):
    _, _, report = loop
    page = str(report)
    for phrase in (
        "REDUNDANT",
        "constraint rows      20",
        "independent rows     17",
        "degrees of freedom   1",
        "crank turns about",
        "A.z",
        "partly unique: force x, force y; not force z, torque x, torque y",
        "To remove the redundancy",
    ):
        assert phrase in page


def test_a_door_on_two_hinges():
    system = door(2)
    report = mb.redundancy(system, system.state())
    assert (report.rows, report.rank, report.dof) == (10, 5, 1)
    assert report.unique_reactions == ()
    after = [mb.redundancy(option.applied_to(system), system.state()) for option in report.relaxations[0][:1]]
    assert [(x.redundant, x.dof) for x in after] == [(0, 1)]


def test_an_open_chain_is_clean():
    system = pendulum()
    report = mb.redundancy(system, system.state())
    assert (report.rows, report.rank, report.dof, report.exit_code) == (5, 5, 1, 0)
    assert report.unique_reactions == ("hinge",)
    assert report.relaxations == ()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bricard", "mcpherson-overconstrained", "n-four-bar-2"])
def test_unique_is_the_direct_sum_test(name):
    """A reaction is unique if and only if the rows of its joint are independent of all the others [Fraczek and Wojtyra]."""
    system, state = get_mechanism(name).build()
    report = mb.redundancy(system, state)
    J = jacobian(system, state)
    assert (report.rank, report.rows) == (rank(J), len(J))
    for joint, verdict in report.reactions.items():
        mine = rows_of(system, joint)
        direct = rank(J[mine]) + rank(np.delete(J, mine, axis=0)) == rank(J)
        assert (verdict.verdict == "unique") == direct, joint


@pytest.mark.parametrize("build", [spatial_loop, parallelogram])
def test_what_is_called_unique_does_not_change_with_the_multipliers(build):
    system, state = build()
    report = mb.redundancy(system, state)
    J = jacobian(system, state)
    free = np.linalg.svd(J)[0][:, rank(J) :]
    lam = np.linalg.lstsq(J.T, np.asarray(system.equations().terms(state.t, state.q, state.v).Q), rcond=None)[0]
    scale = np.abs(lam).max()
    lam_else = lam + free @ np.random.default_rng(1).normal(size=free.shape[1]) * scale
    at = jax.jit(lambda lam: reactions(system, state.t, state.q, state.v, lam))
    before, after = at(jnp.asarray(lam)), at(jnp.asarray(lam_else))
    for name, verdict in report.reactions.items():
        one, two = (np.concatenate([x[name][1].force, x[name][1].torque]) for x in (before, after))
        # The axes of these joints are those of the world but for a turn about z.
        changed = [np.abs((one - two)[part]).max() > 1e-8 * scale for part in ([0, 1], [2], [3, 4], [5])]
        known = [any(not verdict.determined[k] for k in part) for part in ([0, 1], [2], [3, 4], [5])]
        assert changed == known, name
        assert bool(before[name][1].unique) == (verdict.verdict == "unique")


def test_a_flat_parallelogram_is_singular_here_only():
    system, state = parallelogram(angle=0.0, cranks=(0.0, 2.0), planar=True)
    report = mb.redundancy(system, state)
    assert (report.dof, report.structural_dof) == (2, 1)
    assert report.singular
    assert report.structurally_redundant == 0
    assert "SINGULAR HERE" in str(report)
    assert report.exit_code == 1


def test_a_driver_at_dead_centre_is_singular_here_only():
    """A slider that drives its crank: at dead centre it cannot."""

    def slider_crank(angle):
        tip = (np.cos(angle), np.sin(angle), 0.0)
        end = (tip[0] + np.sqrt(4 - tip[1] ** 2), 0.0, 0.0)
        system = mb.System(
            {"crank": mb.rod((0, 0, 0), tip, mass=1.0), "rod": mb.rod(tip, end, mass=1.0),
             "slider": mb.box(end, (end[0] + 0.2, 0, 0), width=0.1, height=0.1, mass=1.0)},
            {"A": mb.PlanarRevolute("ground", "crank", point=(0, 0, 0)), "B": mb.PlanarRevolute("crank", "rod", point=tip),
             "C": mb.PlanarRevolute("rod", "slider", point=end), "D": mb.PlanarPrismatic("ground", "slider", point=end, axis="x"),
             "push": mb.Driver("D", 0.0)},
            coordinates=mb.Planar(),
        )  # fmt: skip
        return mb.redundancy(system, system.state())

    generic, dead = slider_crank(0.7), slider_crank(0.0)
    assert (generic.dof, generic.singular, generic.exit_code) == (0, False, 0)
    assert (dead.dof, dead.structural_dof, dead.singular) == (1, 0, True)


def test_conflict_is_told_apart_from_redundancy():
    """The second hinge of the door stands 2 mm beside the axis of the first."""
    body = mb.box((0, 0, 1.0), (0.9, 0, 1.0), width=0.04, height=2.0, mass=30.0)
    system = mb.System(
        {"door": body},
        {"low": mb.Revolute("ground", "door", at=(0, 0, 0.4), to=(-0.45, 0, -0.6)),
         "high": mb.Revolute("ground", "door", at=(0.002, 0, 1.6), to=(-0.45, 0, 0.6))},
    )  # fmt: skip
    report = mb.redundancy(system, system.state())
    assert report.conflicting
    assert report.exit_code == 2
    worst = report.conflicts[0]
    assert worst.row in ("low.x", "high.x")
    assert "mm" in str(worst)
    # Turning by 2 mm over the distance of the hinges closes the points and opens the axes; the best fit is in between.
    assert 1e-4 < abs(worst.mismatch) < 1.1e-3
    assert "CONFLICTING" in str(report)


def test_drivers_that_disagree_in_speed_are_a_conflict():
    system = pendulum().with_joints(one=mb.Driver("hinge", lambda t: t), two=mb.Driver("hinge", lambda t: 2 * t))
    report = mb.redundancy(system, system.state())
    assert {conflict.row for conflict in report.conflicts} == {"one.drive", "two.drive"}
    assert all(conflict.rate and abs(abs(conflict.mismatch) - 0.5) < 1e-9 for conflict in report.conflicts)
    agreeing = pendulum().with_joints(one=mb.Driver("hinge", lambda t: t), two=mb.Driver("hinge", lambda t: t))
    report = mb.redundancy(agreeing, agreeing.state())
    assert not report.conflicting
    assert report.redundant_sets[0].rows == ("one.drive", "two.drive")
    assert [str(option) for option in report.relaxations[0]] == ["leave out one", "leave out two"]


def test_coordinates_do_not_matter(loop):
    system, state, report = loop
    turned = system.with_coordinates(mb.EulerParameters())
    other = mb.redundancy(turned, turned.convert(state, system))
    assert (other.rows, other.rank, other.dof) == (report.rows, report.rank, report.dof)
    assert [s.rows for s in other.redundant_sets] == [s.rows for s in report.redundant_sets]


def test_an_open_state_is_closed_first(loop):
    system, state, report = loop
    nudged = mb.State(state.t, state.q + 0.02, state.v)
    assert mb.redundancy(system, nudged).rank == report.rank


def test_it_is_refused_inside_jit(loop):
    system, state, _ = loop
    with pytest.raises(mb.ModelError, match="Call it outside"):
        jax.jit(lambda state: mb.redundancy(system, state).rank)(state)
