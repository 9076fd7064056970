"""A row of N squares that become singular all at once, for any N.

N + 1 uprights and N couplers turn over as one. When all of them lie on the x axis, the rank of the 6 N + 2 rows falls
by N, so that each square could go its own way, and a run stops there. When that is, is known without a simulation:
energy gives the rate of the uprights at every angle, and a quadrature the time of a quarter turn.
"""

import jax.numpy as jnp
import numpy as np
from scipy.integrate import quad

import jaxmb as mb
from jaxmb.mechanisms import n_four_bar, n_four_bar_start

GRAVITY = 9.81

for windows in (2, 5):
    system = n_four_bar(windows=windows, gravity=GRAVITY)
    start = n_four_bar_start(system)
    middles = [(i + 0.5, 0.0, 0.0) for i in range(windows + 1)] + [(i + 1.5, 0.0, 0.0) for i in range(windows)]
    lying = mb.State(start.t, jnp.asarray(middles).ravel(), start.v)  # x, y and angle of each rod
    terms = [system.equations().terms(state.t, state.q, state.v) for state in (start, lying)]
    upright, flat = (int(np.linalg.matrix_rank(x.J, rtol=1e-10)) for x in terms)
    rows = len(terms[0].Phi)
    print(f"N = {windows}: {start.q.size} coordinates, {rows} rows, rank {upright} upright and {flat} flat")
    assert np.max(np.abs(terms[1].Phi)) < 1e-12
    assert (start.q.size, rows, upright, flat) == (6 * windows + 3, 6 * windows + 2, rows, rows - windows)

    # With psi from upright and 1 rad/s at the start, psidot^2 = 1 + 2 k (1 - cos psi).
    k = GRAVITY * ((windows + 1) / 2 + windows) / ((windows + 1) / 3 + windows)
    quarter, _ = quad(lambda psi, k=k: 1 / np.sqrt(1 + 2 * k * (1 - np.cos(psi))), 0.0, np.pi / 2, epsabs=1e-12)
    sol = mb.simulate(system, start, t1=0.8, ts=jnp.linspace(0.0, 0.8, 9), rtol=1e-10, atol=1e-10, throw=False)
    reached = np.asarray(sol.t <= sol.reached)
    top = sol.point_motion("upright0", "end")
    square = np.sum(top.velocity[reached] ** 2, axis=1)
    error = np.max(np.abs(square - 1 - 2 * k * (1 - top.position[reached, 1])))
    print(
        f"  flat at {quarter:.6f} s by quadrature; the run stopped {1e3 * (quarter - sol.reached):.2f} ms before,",
        end=" ",
    )
    print(f"with the square of the speed of B0 right within {error:.1e} m2/s2")
    assert sol.status == mb.Status.singular_configuration
    assert 0 < quarter - sol.reached < 0.005
    assert reached.sum() == 8 and np.all(np.isnan(sol.q[~reached])) and error < 1e-6
print(sol.message.split(". ")[1])
