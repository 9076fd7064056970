"""Which constraints are redundant, which reactions mean anything, and what to do about it.

The arm of a McPherson strut hangs on two hinges with one axis, where one would do. The report names the rows that say the same,
the reactions that nothing but the elasticity of the hinges decides, and the changes that make the strut determinate.
"""

import numpy as np

import jaxmb as mb
from jaxmb.mechanisms import get_mechanism

system, state = get_mechanism("mcpherson-overconstrained").build()
report = mb.redundancy(system, state)
print(report)
assert (report.rows, report.rank, report.dof, report.redundant) == (31, 26, 4, 5)
hinges = {joint for dependent in report.redundant_sets for joint in dependent.joints}
assert hinges == {"P1A", "P1B"}

# The forces of the two hinges are not unique, their sum is. Elastic hinges share the load by their compliances.
sol = mb.simulate(system, state, t1=0.5, dt_save=0.1)
soft = {name: (1e-8 if name == min(hinges) else 1e-9, 1e-8) for name in system.joints}
stiff_sum = sum(sol.reaction(name).force for name in hinges)
soft_sum = sum(sol.reaction(name, compliance=soft).force for name in hinges)
change = max(np.max(np.abs(sol.reaction(n, compliance=soft).force - sol.reaction(n).force)) for n in hinges)
left = np.max(np.abs(soft_sum - stiff_sum))
print(f"\nA softer hinge leaves up to {change:.3g} N to the other; their sum changes by {left:.1e} N.")
assert change > 0.1
assert left < 1e-9

# The first way out: the same freedom, and nothing redundant.
remedy = report.relaxations[0][0]
after = mb.redundancy(remedy.applied_to(system), state)
print(f"After this change: {remedy} -> {after.redundant} redundant rows, {after.dof} degrees of freedom.")
assert (after.redundant, after.dof, after.exit_code) == (0, 4, 0)
assert set(after.unique_reactions) == set(after.reactions)
