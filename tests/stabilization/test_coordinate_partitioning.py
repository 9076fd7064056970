import numpy as np
import pytest

import jaxmb as mb

from ..models import spatial_loop


@pytest.fixture(scope="module")
def reference():
    system, state = spatial_loop()
    return mb.simulate(system, state, t1=2.0, dt_save=0.1, rtol=1e-9, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["all", "independent"])
def test_both_variants_stay_on_the_constraints_and_on_the_motion(variant, reference):
    system, state = spatial_loop()
    sol = mb.simulate(
        system,
        state,
        t1=2.0,
        dt_save=0.1,
        rtol=1e-9,
        atol=1e-9,
        stabilization=mb.CoordinatePartitioning(variant, 1e-13),
    )
    assert np.max(sol.violation.position) < 1e-9
    assert np.max(sol.violation.velocity) < 1e-8
    assert np.max(np.abs(sol.point("coupler", "end") - reference.point("coupler", "end"))) < 1e-6
    assert int(sol.stats.newton_iterations) > 0


def test_a_partition_that_goes_bad_is_chosen_anew():
    """The crank makes more than a quarter turn, where a first choice of x or y as independent must fail."""
    system, state = spatial_loop(angle=0.3)
    fixed, chosen = (
        mb.simulate(
            system,
            state,
            t1=4.0,
            dt_save=0.1,
            rtol=1e-7,
            atol=1e-7,
            throw=False,
            stabilization=mb.CoordinatePartitioning(reselect=reselect),
        )
        for reselect in (0.0, 0.3)
    )
    assert bool(chosen.ok)
    energy = chosen.energy
    balance = np.asarray(energy.total - energy.work)
    drift = np.max(np.abs(balance - balance[0]))
    assert drift < 1e-4
    other = np.asarray(fixed.energy.total - fixed.energy.work)
    assert not bool(fixed.ok) or np.max(np.abs(other - other[0])) >= drift


def test_bad_options_are_refused():
    with pytest.raises(mb.ModelError, match="neither 'all' nor 'independent'"):
        mb.CoordinatePartitioning("some")
    with pytest.raises(mb.ModelError, match="at least 1 is needed"):
        mb.CoordinatePartitioning(max_iterations=0)
