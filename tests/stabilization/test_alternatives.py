"""One program for several stabilizations gives what each of them gives alone."""

import jax.numpy as jnp
import numpy as np
import pytest

import jaxmb as mb
from jaxmb.analyses import simulate as module
from jaxmb.stabilization import Alternatives

from ..models import door

MEMBERS = (mb.NoStabilization(), mb.Baumgarte(5.0, 5.0), mb.CoordinatePartitioning(), mb.Projection())


@pytest.mark.slow
def test_each_is_itself_and_one_program_serves_all():
    system = door()
    state = system.state(omega={"door": (0, 0, 0.5)}, velocity={"door": (0, 0.225, 0)})

    def run(stabilization):
        return mb.simulate(system, state, t1=4.0, stabilization=stabilization, rtol=1e-4, atol=1e-4)

    chosen = [run(Alternatives(MEMBERS, jnp.asarray(0)))]
    programs = module._run._cached._cache_size()
    chosen += [run(Alternatives(MEMBERS, jnp.asarray(k))) for k in range(1, len(MEMBERS))]
    assert module._run._cached._cache_size() == programs
    for sol, member in zip(chosen, MEMBERS, strict=True):
        alone = run(member)
        np.testing.assert_allclose(sol.q, alone.q, atol=1e-12)
        np.testing.assert_allclose(sol.v, alone.v, atol=1e-12)
        assert int(sol.stats.newton_iterations) == int(alone.stats.newton_iterations)
    drift = [float(sol.violation.position[-1]) for sol in chosen]
    assert drift[0] > 10 * drift[3], "the unstabilized run is left to drift"
