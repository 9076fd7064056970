import jax

import jaxmb as mb
from jaxmb.integrators import progress

from ..models import pendulum


def test_bar_moves_to_the_end_and_is_closed(monkeypatch):
    seen = []
    update = progress._update
    monkeypatch.setattr(progress, "_update", lambda p: (seen.append(float(p)), update(p)))
    system = pendulum()
    sol = mb.simulate(system, system.state(), t1=1.0, progress=True)
    jax.block_until_ready(sol.q)
    jax.effects_barrier()
    assert seen and seen == sorted(seen) and seen[-1] == 1.0
    assert progress._bars == []
