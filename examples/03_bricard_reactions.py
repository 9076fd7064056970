"""A mechanism that should not move, and which of its reactions are real.

Six bars and six hinges in space make 30 rows for 30 speeds, yet Bricard's loop moves, for one row is redundant. The motion is
unique; the joint forces are not, and the solution says so.
"""

import numpy as np

import jaxmb as mb
from jaxmb.mechanisms import get_mechanism

system, state = get_mechanism("bricard").build()
sol = mb.simulate(system, state, t1=2.0, dt_save=0.1, rtol=1e-10, atol=1e-10)
other = mb.simulate(system, state, t1=2.0, dt_save=0.1, rtol=1e-10, atol=1e-10, formulation=mb.UdwadiaKalaba())

energy = sol.energy.total - sol.energy.work
print(f"energy kept within {np.ptp(energy):.1e} J, constraints within {np.max(sol.violation.position):.1e}")
print(f"two formulations differ by {np.max(np.abs(sol.q - other.q)):.1e}")
for name in system.joints:
    reaction = sol.reaction(name)
    force = np.linalg.norm(reaction.force[0])
    print(f"joint {name}: {force:7.3f} N at the start, unique: {bool(reaction.unique[0])}")

assert np.max(np.abs(sol.q - other.q)) < 1e-7
assert np.ptp(energy) < 1e-7
assert not all(bool(sol.reaction(name).unique[0]) for name in system.joints)
