"""Rows that hold and rows that do not."""

import jax.numpy as jnp
import numpy as np

import jaxmb as mb
from jaxmb.formulations.deflated import Deflated, null_space
from jaxmb.integrators.mode import Mode, Moded, all_active

from ..models import door


def test_a_released_hinge_changes_nothing_on_a_door_with_two_and_frees_a_door_with_one():
    for hinges, falls in ((2, False), (1, True)):
        system = door(hinges)
        state = system.state()
        equations = system.equations()
        rows = len(equations.row_names)
        active = jnp.ones(rows).at[-5:].set(0.0)
        terms = Moded(equations, Mode(active, jnp.zeros(rows))).terms(state.t, state.q, state.v)
        a = Deflated().solve(terms.mass, terms.J, terms.Q, terms.gamma, null_space(terms.J)).a
        assert abs(float(a[2]) + (9.81 if falls else 0.0)) < 1e-9


def test_a_row_is_held_where_it_was():
    """A door opened by 0.3 rad, its drive locked there."""
    system = door(1).with_joints(lock=mb.Driver("hinge0", 0.0))
    state = mb.assemble_state(door(1), hold={"hinge0": 0.3})
    equations = system.equations()
    now = equations.terms(state.t, state.q, state.v).Phi
    assert abs(float(now[-1]) - 0.3) < 1e-9
    held = Moded(equations, Mode(jnp.ones(now.size), now)).terms(state.t, state.q, state.v)
    np.testing.assert_allclose(held.Phi, 0.0, atol=1e-15)


def test_all_rows_active_is_the_system_itself():
    system = door()
    equations, state = system.equations(), system.state()
    plain = equations.terms(state.t, state.q, state.v)
    moded = Moded(equations, all_active(len(equations.row_names))).terms(state.t, state.q, state.v)
    np.testing.assert_array_equal(moded.J, plain.J)
    np.testing.assert_array_equal(moded.gamma, plain.gamma)
