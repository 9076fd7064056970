"""One hinge too many on a car suspension: the motion does not notice, the reactions do.

The lower arm of a McPherson strut hangs on two coaxial hinges, of which one would be enough: 31 rows of rank 26. With
one hinge or two the strut moves in the same way, by whatever formulation. What each hinge carries is not determined;
what they carry together is, and is that of a single hinge.
"""

import jax
import numpy as np

import jaxmb as mb
from jaxmb.mechanisms import get_mechanism

two_hinges, one_hinge = (get_mechanism(f"mcpherson-{name}") for name in ("overconstrained", "simplified"))
one = mb.simulate(*one_hinge.build(), t1=2.0, rtol=1e-10, atol=1e-10)
two = mb.simulate(*two_hinges.build(), t1=2.0, rtol=1e-10, atol=1e-10)
difference = np.max(np.abs(one.q - two.q))
print(f"positions after 2 s with one hinge and with two differ by {difference:.1e} m")
assert difference < 1e-11

# Trusted values of a strut with one hinge, from another program.
reference = one_hinge.read_reference()
row = int(np.flatnonzero(reference["t"] == 2.0)[0])
alone = np.array([reference[f"R1{axis}"][row] for axis in "xyz"])
shares = [two.reaction(name).force[-1] for name in ("P1A", "P1B")]
error = np.max(np.abs(shares[0] + shares[1] - alone))
print(
    f"vertical force on the arm: {alone[2]:.4f} N by one hinge,",
    " and ".join(f"{x[2]:.4f} N" for x in shares),
    "by two",
)
print(f"the force of both together is off that of one by {error:.1e} N")
assert error < 1e-8

unique = {name: bool(two.reaction(name).unique[-1]) for name in two.system.joints}
print("unique:", *(name for name in unique if unique[name]), "| not unique:", *(n for n in unique if not unique[n]))
assert [name for name in unique if not unique[name]] == ["P1A", "P1B"]

# The last instant by other formulations that take dependent rows.
formulations = (mb.UdwadiaKalaba(), mb.NullSpaceSVD(dof=4))


@jax.jit
def accelerations(system, t, q, v):
    terms = system.equations().terms(t, q, v)
    return terms.J, [formulation.solve(terms.M, terms.J, terms.Q, terms.gamma).a for formulation in formulations]


J, found = accelerations(two.system, two.t[-1], two.q[-1], two.v[-1])
rank = int(np.linalg.matrix_rank(J, rtol=1e-9))
print(f"{len(J)} rows of rank {rank}")
assert (len(J), rank) == (31, 26)
for formulation, a in zip(formulations, found, strict=True):
    spread = np.max(np.abs(a - two.a[-1]))
    print(f"{type(formulation).__name__}: accelerations differ by {spread:.1e} m/s2")
    assert spread < 1e-11
