"""A penalty instead of a constraint: ten times the penalty, a tenth of the error, until it costs too much.

The Scotch yoke comes as a kinetic energy, a potential, a force and one constraint of two coordinates, in inches and
pounds-force. The penalty method replaces the constraint by a large number mu; without stabilization its error is 5.4
/ mu inches here. From 1e5 on the steps shrink as well, because mu multiplies rounding errors, which this tight
tolerance sees. An exact formulation needs no such number.
"""

import jax.numpy as jnp
import numpy as np

import jaxmb as mb
from jaxmb.mechanisms import get_mechanism

mechanism = get_mechanism("scotch-yoke")
reference = mechanism.read_reference()
system, state = mechanism.build()
TIMES = jnp.asarray(reference["t"])


def run(formulation, stabilization):
    options = {"formulation": formulation, "stabilization": stabilization, "rtol": 1e-10, "atol": 1e-10}
    sol = mb.simulate(system, state, t1=4.0, ts=TIMES, **options)
    return sol, np.max(np.abs(sol.coordinate("x2") - reference["x2"]))


exact, error = run(mb.Deflated(), mb.Projection())
way = np.ptp(exact.coordinate("x2"))
print(f"exact: the slider moves over {way:.3f} in, off the reference by {error:.1e} in, {int(exact.stats.steps)} steps")
assert error < 1e-7

products, steps = [], []
for mu in (1e1, 1e2, 1e3, 1e4, 1e5):
    # As an array, mu changes without compiling again.
    sol, error = run(mb.StaticPenalty(jnp.asarray(mu)), mb.NoStabilization())
    products.append(mu * error)
    steps.append(int(sol.stats.steps))
    print(f"penalty {mu:.0e} lbf s2/in: off by {error:.2e} in = {mu * error:.3f} / mu, {steps[-1]} steps")

# One constant over four decades.
assert np.ptp(products) < 0.02 * np.mean(products)
assert steps[-1] > 2 * steps[0]
