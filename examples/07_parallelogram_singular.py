"""A run that stops where the motion is no longer determined, and says so.

Four links of 2 m, one of them the ground, fold flat under gravity. There the Jacobian loses rank: the loop may go on
as a parallelogram, or leave its crank at rest and swing coupler and rocker together about the far pin. Nothing in the
equations says which, so the run ends just before, with a status, and what would come after is NaN. With a ground link
of 1.9 m there is no such place: the same program runs to its end, and does something close to the second of these
motions.
"""

import jax.numpy as jnp
import numpy as np

import jaxmb as mb
from jaxmb.mechanisms import get_mechanism

TIMES = jnp.linspace(0.0, 2.0, 21)

runs = {}
for name in ("four-bar-case-1-gravity", "four-bar-case-2-gravity"):
    mechanism = get_mechanism(name)
    system, state = mechanism.build()
    sol = mb.simulate(system, state, t1=2.0, ts=TIMES, rtol=1e-10, atol=1e-10, throw=False)
    angle = np.asarray(sol.joint("A").angle)
    reached = np.isfinite(angle)
    error = np.max(np.abs(angle - mechanism.read_reference()["theta1"][:21])[reached])
    print(f"{name}: {sol.message}")
    print(f"  {reached.sum()} of {len(TIMES)} rows, crank angle {angle[reached][-1]:.4f} rad in the last one,", end=" ")
    print(f"off the reference by {error:.1e} rad")
    assert error < 1e-8
    runs[name] = sol, reached

folded, before = runs["four-bar-case-1-gravity"]
assert folded.status == mb.Status.singular_configuration
assert 0.80 < folded.reached < get_mechanism("four-bar-case-1-gravity").singular_at
assert np.array_equal(before, TIMES <= folded.reached)

passed, all_of_it = runs["four-bar-case-2-gravity"]
coupler = passed.body("coupler").position[14]
print(f"at 1.4 s the second has its crank at {passed.joint('A').angle[14]:.4f} rad, its coupler at {coupler[1]:.4f} m")
assert passed.ok and all_of_it.all()
