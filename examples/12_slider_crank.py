"""Four numbers for a rotation of three freedoms: what Euler parameters do to the mass matrix.

With the rates of its Euler parameters as speeds a body has seven speeds but inertia for six, so that the mass matrix
is singular, and a formulation that inverts it has to refuse. With angular velocities as speeds it is regular. The
motion is the same, and it stays in a plane, so that torque times turn must be I(phi) phidot^2 / 2.
"""

import jax
import numpy as np

import jaxmb as mb
from jaxmb.mechanisms import get_mechanism

TORQUE = 0.5  # N m, a hundred times that of the source, for a large motion


def inertia(phi):
    """Inertia (kg m2) of crank, rod and slider about the crank's axis, by derivatives of the geometry."""
    r, l = np.hypot(0.1732, 0.1), np.hypot(0.663 - 0.1732, 0.1)
    lean = np.arcsin(-r * np.sin(phi) / l)
    dlean = -r * np.cos(phi) / (l * np.cos(lean))
    pin = r * np.array([-np.sin(phi), np.cos(phi)])
    along = l * dlean * np.array([-np.sin(lean), np.cos(lean)])
    crank = 1312.9336e-6 + 0.3361 * r**2 / 4
    rod = 128107.26e-6 * dlean**2 + 5.2493 * np.sum((pin + along / 2) ** 2)
    return crank + rod + 2.9956 * np.sum((pin + along) ** 2)


quaternions, _ = get_mechanism("slider-crank").build(torque=TORQUE)
parameters = quaternions.with_coordinates(mb.EulerParameters())


def run(system, formulation):
    return mb.simulate(system, system.state(), t1=1.0, formulation=formulation, rtol=1e-10, atol=1e-10)


regular, singular = run(quaternions, mb.UdwadiaKalaba()), run(parameters, mb.LeastSquares2())
difference = np.max(np.abs(regular.q - singular.q))
print(f"quaternions by Udwadia-Kalaba and Euler parameters by LeastSquares2 differ by {difference:.1e}")
assert difference < 5e-11

# The last instant by the formulation that needs the inverse of M.
terms = parameters.equations().terms(singular.t[-1], singular.q[-1], singular.v[-1])
size, rank = len(terms.M), np.linalg.matrix_rank(terms.M, rtol=1e-10)
refused = jax.jit(mb.UdwadiaKalaba().solve)(terms.M, terms.J, terms.Q, terms.gamma)
print(f"Euler parameters: mass matrix {size} x {size} of rank {rank}. {mb.Status[refused.status]}")
assert (size, rank) == (21, 18)
assert refused.status == mb.Status.singular_mass

crank = regular.joint("O")
turn, rate = float(crank.angle[-1] - crank.angle[0]), float(crank.angle_rate[-1])
expected = np.sqrt(2 * TORQUE * turn / inertia(np.arctan2(-0.1, 0.1732) + turn))
print(f"after 1 s and {turn:.4f} rad the crank turns at {rate:.6f} rad/s,", end=" ")
print(f"off the equation of one angle by {abs(rate - expected):.1e} rad/s")
assert abs(rate - expected) < 1e-10
