"""Statics with the formulations of dynamics: stiffness in the place of mass.

Two bars hold a rigid lever that a load pulls down. The displacements solve K x + J' lam = F, J x = 0, the equations of motion
with K for M, so every formulation applies. K is singular (the lever's end has no stiffness of its own): the one that needs its
inverse says so. The penalty of finite element codes is `StaticPenalty`; its error falls with 1/C.
"""

import jax
import numpy as np

import jaxmb as mb
from jaxmb.mechanisms import static_multipoint, static_solution

lever = static_multipoint()
exact = static_solution(lever)
print("displacements (mm):", np.round(np.asarray(exact.a), 6))
print("forces of the bars (N):", np.round(np.asarray(exact.lam[2:]), 1))

products = []
for C in (5.3333e6, 5.3333e7, 5.3333e8):
    penalty = static_solution(lever, mb.StaticPenalty(C))
    error = float(np.max(np.abs(penalty.a - exact.a)))
    products.append(C * error)
    print(f"penalty {C:.1e} N/mm: off by {error:.1e} mm")

refused = static_solution(lever, mb.UdwadiaKalaba())
print("UdwadiaKalaba:", mb.Status[refused.status])
slope = jax.grad(lambda load: static_solution(static_multipoint(load=load)).a[4])(30e3)
print(f"compliance at the load: {slope:.6e} mm/N")

# Moments about the pivot balance: the bars act at 2 and 5, the load at 6.
assert abs(2 * exact.lam[2] + 5 * exact.lam[3] - 6 * 30e3) < 1e-6
assert np.ptp(products) < 0.02 * np.mean(products)
assert refused.status == mb.Status.singular_mass
assert abs(slope * 30e3 - exact.a[4]) < 1e-10
