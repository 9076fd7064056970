"""Length, stiffness and mass of a four-bar from its measured motion, and why one of the three cannot be told.

The loop is redundant (20 rows, rank 17). Two coordinates of the coupler are measured with 1 % noise and one sample in five is
missing. The motion depends on stiffness and mass by their ratio alone, which the fit says; with the mass known all is well.
"""

import jax.numpy as jnp
import numpy as np

import jaxmb as mb

TIMES = np.linspace(0.0, 1.0, 51)
TRUTH = {"length": 1.5, "mass": 1.0, "stiffness": 20.0}


def four_bar(p):
    lengths = {"crank": 1.0, "coupler": p["length"], "rocker": 1.2}
    bodies = {name: mb.rod(length=length, mass=p["mass"] * length) for name, length in lengths.items()}
    joints = {
        "A": mb.Revolute("ground", "crank", at=(0, 0, 0), to="start"),
        "B": mb.Revolute("crank", "coupler", at="end", to="start"),
        "C": mb.Revolute("coupler", "rocker", at="end", to="end"),
        "D": mb.Revolute("ground", "rocker", at=(1.6, 0, 0), to="start"),
    }
    spring = mb.spring("ground", "coupler", stiffness=p["stiffness"], free_length=0.3, at=(0.8, -1.0, 0), to="middle")
    system = mb.System(bodies, joints, {"gravity": mb.Gravity((0, -9.81, 0)), "spring": spring})
    return system, mb.assemble_state(system, hold={"A": 1.2})


def predict(p):
    sol = mb.simulate(*four_bar(p), t1=1.0, ts=TIMES, gradient="forward", throw=False)
    return sol.point("coupler", "middle")[:, :2]


def residual(p, data):
    return mb.misfit(predict(p), data)


rng = np.random.default_rng(4)
clean = np.asarray(predict(TRUTH))
data = clean + 0.01 * np.std(clean) * rng.normal(size=clean.shape)
data[rng.random(clean.shape) < 0.2] = np.nan
start = {"length": 1.42, "mass": 1.2, "stiffness": 12.0}

fit = mb.identify(residual, start, jnp.asarray(data), bounds={"length": (1.2, 1.8), "stiffness": (0.0, None)})
print(fit)
assert len(fit.unidentifiable) == 1 and "mass, stiffness" in fit.unidentifiable[0]

fit = mb.identify(residual, start | {"mass": 1.0}, jnp.asarray(data), fixed=("mass",))
print("\nWith the mass known:", fit, sep="\n")
print(fit.residual_tests())
assert fit.converged and not fit.unidentifiable
for name in ("length", "stiffness"):
    assert abs(float(fit.value[name]) - TRUTH[name]) < 3 * float(fit.standard_error[name])
