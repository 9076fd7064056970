import numpy as np
import pytest

import jaxmb as mb

from .models import loop_run


@pytest.fixture(scope="module")
def sol():
    return loop_run()


def test_energy_of_a_conservative_run_is_constant(sol):
    energy = sol.energy
    assert np.ptp(np.asarray(energy.kinetic)) > 0.5
    assert np.max(np.abs(energy.total - energy.total[0])) < 1e-6
    assert np.max(np.abs(energy.work)) < 1e-9


def test_final_is_the_last_instant(sol):
    assert np.allclose(sol.final.point("coupler", "end"), sol.point("coupler", "end")[-1])
    assert np.allclose(sol.final.position("rocker"), sol.body("rocker").position[-1])
    assert float(sol.final.state.t) == 1.0


def test_violation_is_small_at_three_levels(sol):
    violation = sol.violation
    for level, bound in ((violation.position, 1e-12), (violation.velocity, 1e-12), (violation.acceleration, 1e-9)):
        assert level.shape == sol.t.shape and np.max(level) < bound


def test_multipliers_of_a_joint_are_its_rows(sol):
    rows = sol.system.equations().row_names
    assert rows[5] == "B.x" and sol.multipliers("B").shape == (11, 5)
    assert np.array_equal(sol.multipliers("B"), sol.lam[:, 5:10])


def test_misspelt_names_get_the_nearest():
    sol = loop_run()
    with pytest.raises(mb.ModelError, match=r"'couplr'.*Did you mean 'coupler'\?"):
        sol.body("couplr")
    with pytest.raises(mb.ModelError, match=r"named 'ends'.*Did you mean 'end'\?"):
        sol.point("coupler", "ends")
    with pytest.raises(AttributeError, match=r"no 'angel'.*Did you mean 'angle'\?"):
        _ = sol.joint("A").angel
    with pytest.raises(mb.ModelError, match="Asked for joint 'Z'"):
        sol.reaction("Z")
    with pytest.raises(mb.ModelError, match="of a System of bodies"):
        sol.coordinate("x")
