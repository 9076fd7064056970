import diffrax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmb as mb
from jaxmb.studies.compare import _Menu, describe, reference_error

from ..models import door

TS = np.linspace(0, 1, 5)


@pytest.fixture(scope="module")
def result():
    """A door that swings on two hinges: redundant, and its angle is known."""
    system = door()
    state = system.state(omega={"door": (0, 0, 0.5)}, velocity={"door": (0, 0.225, 0)})
    error = reference_error(lambda sol: {"angle": sol.joint("hinge0").angle}, {"angle": 0.5 * TS})
    return mb.compare(
        system, state, t1=1.0, ts=TS, formulations=(mb.KKT(), mb.UdwadiaKalaba(), mb.NullSpaceQR(), mb.StaticPenalty(1e6)),
        stabilizations=(mb.Projection(),), tolerances=(1e-6, 1e-9), error=error, repeats=1, title="door",
    )  # fmt: skip


def test_every_cell_is_measured_and_failures_say_why(result):
    cells = {cell.formulation.split("(")[0]: cell for cell in result.select(tolerance=1e-6)}
    assert cells["KKT"].status == "redundant" and np.isnan(cells["KKT"].error)
    assert "rows are dependent" in cells["KKT"].reason and cells["KKT"].reached == 0.0
    for name in ("UdwadiaKalaba", "NullSpaceQR"):
        cell = cells[name]
        assert cell.status == "successful" and cell.error < 1e-5 and cell.reason == ""
        assert cell.run_s > 0 and cell.compile_s > 0 and cell.violation_position < 1e-10
        assert (cell.coordinates, cell.solver, cell.steps > 0) == ("Quaternion", "Dopri5", True)
        assert cell.newton_iterations == cell.steps + cell.rejected or cell.newton_iterations == cell.steps
        assert cell.history.position.shape == TS.shape and cell.history.q.shape == (5, 7)
    assert 1e-9 < cells["StaticPenalty"].error < 1e-3, "a penalty is near, not exact"
    counts = {cell.right_hand_sides for name, cell in cells.items() if name in ("UdwadiaKalaba", "NullSpaceQR")}
    assert len(counts) == 1, "exact formulations take the same steps"


def test_a_tighter_tolerance_costs_more_and_is_nearer(result):
    loose, tight = (result.select(formulation="UdwadiaKalaba", tolerance=t)[0] for t in (1e-6, 1e-9))
    assert tight.right_hand_sides > loose.right_hand_sides
    assert tight.error < loose.error or tight.error < 1e-12


def test_formulations_that_differ_by_numbers_are_one_branch():
    menu = _Menu([mb.StaticPenalty(1e3), mb.KKT(), mb.StaticPenalty(jnp.asarray(1e5)), mb.StaticPenalty()])
    assert len(menu.kinds) == 3, "two penalties by number, one automatic"
    members, index = menu.pick(2)
    assert float(members[int(index)].mu) == 1e5
    members, index = menu.pick(1)
    assert isinstance(members[int(index)], mb.KKT) and float(members[0].mu) == 1e3


def test_coordinates_solvers_and_pairs():
    system = mb.System(
        {"bar": mb.rod((0, 0, 0), (1, 0, 0), mass=1.0)},
        {"pin": mb.PlanarRevolute("ground", "bar", point=(0, 0, 0))},
        {"gravity": mb.Gravity((0, -9.81, 0))},
        coordinates=mb.Planar(),
    )
    table = mb.compare(
        system, system.state(), t1=0.3, pairs=[(mb.KKT(), mb.NoStabilization()), (mb.Schur(), mb.Projection())], repeats=1,
        coordinates=[mb.Planar()], solvers=[diffrax.Tsit5()], ts=TS * 0.3,
    )  # fmt: skip
    assert [(c.formulation, c.stabilization) for c in table.cells] == [
        ("KKT", "NoStabilization"),
        ("Schur", "Projection"),
    ]
    assert {(c.coordinates, c.solver, c.status) for c in table.cells} == {("Planar", "Tsit5", "successful")}


def test_describe_shows_numbers_that_are_not_the_defaults():
    assert describe(mb.Baumgarte()) == "Baumgarte"
    assert describe(mb.Baumgarte(5.0, 5.0)) == "Baumgarte(5, 5)"
    assert describe(mb.StaticPenalty(1e6)) == "StaticPenalty(1e+06)"

    class Needy(mb.NoStabilization):
        gain: float

    assert describe(Needy(2.0)) == "Needy(2)", "there is no default to compare with"


def test_constraint_forces_of_one_formulation_are_not_dropped():
    system = door()
    wanted = mb.UdwadiaPhohomsiri(nonideal=lambda t, q, v: jnp.zeros(6))
    with pytest.raises(mb.ModelError, match="cannot be one of several formulations"):
        mb.compare(system, system.state(), t1=1.0, formulations=[wanted], stabilizations=[mb.Projection()])


@pytest.mark.parametrize(
    ("arguments", "phrase"),
    [
        ({"formulations": ()}, "at least one formulation"),
        ({"pairs": [(mb.KKT(), mb.Projection())], "formulations": (mb.KKT(),)}, "Give one or the other"),
        ({"tolerances": ()}, "tolerance"),
    ],
)
def test_nothing_to_compare_is_refused(arguments, phrase):
    system = door()
    with pytest.raises(mb.ModelError, match=phrase):
        mb.compare(system, system.state(), t1=1.0, **arguments)


def test_generalized_systems_have_their_own_coordinates():
    system = mb.GeneralizedSystem(lambda q, v, p: 0.5 * v[0] ** 2, coordinates=("x",))
    with pytest.raises(mb.ModelError, match="which has its own"):
        mb.compare(system, system.state((0.0,)), t1=1.0, coordinates=[mb.Planar()])
