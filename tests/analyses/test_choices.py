"""What the choices of a run mean together."""

import diffrax
import jax
import pytest

import jaxmb as mb
from jaxmb.analyses.choices import choose_solver, choose_stabilization, start_mode

from ..models import door, pendulum, spatial_loop


def chosen(solver, system, state):
    return choose_solver(solver, system, state, None, 1e-7, 1e-9)


def test_implicit_methods_are_told_freedoms_and_tolerances():
    system, state = spatial_loop()
    for given in (mb.Radau(), diffrax.Kvaerno3()):
        solver = chosen(given, system, state)
        assert solver.dof == 1 and float(solver.rtol) == 1e-7 and float(solver.atol) == 1e-9
    assert isinstance(chosen(None, system, state), diffrax.Dopri8)


def test_freedoms_are_not_known_inside_jit_or_where_joints_are_locked():
    system, state = spatial_loop()

    @jax.jit
    def freedoms(state):
        assert chosen(mb.Radau(), system, state).dof is None
        return state.t

    freedoms(state)
    mode = start_mode(system, None, ("B",))
    assert choose_solver(mb.Radau(), system, state, mode, 1e-7, 1e-7).dof is None
    assert float(mode.active.sum()) == 15.0


def test_methods_that_keep_the_constraints_are_not_corrected():
    assert isinstance(choose_stabilization(None, mb.GeneralizedAlpha()), mb.NoStabilization)
    assert isinstance(choose_stabilization(None, mb.Radau()), mb.Projection)
    assert isinstance(choose_stabilization(mb.Baumgarte(), mb.GeneralizedAlpha()), mb.Baumgarte)


def test_a_formulation_that_would_be_ignored_is_refused():
    system = pendulum()
    with pytest.raises(mb.ModelError, match="Leave the formulation out"):
        mb.simulate(system, system.state(), t1=1.0, solver=mb.GeneralizedAlpha(), formulation=mb.KKT())


def test_formulations_that_move_positions_need_an_explicit_solver():
    system = pendulum()
    for solver in (mb.Radau(), diffrax.Kvaerno5()):
        with pytest.raises(mb.ModelError, match="acts on positions too"):
            mb.simulate(system, system.state(), t1=1.0, solver=solver, formulation=mb.Index2Penalty())


def test_unknown_released_joints_are_named():
    system = door()
    with pytest.raises(mb.ModelError, match=r"'hinge9'.*Did you mean 'hinge"):
        mb.simulate(system, system.state(), t1=1.0, released=("hinge9",))
