"""The right-hand side of jaxmb beside hand-written C++ (right_hand_side.cpp), in turns on one core, with equal accelerations.

python benchmarks/right_hand_side.py      (needs a C++ compiler: c++, or the one that CXX names)
"""

import ctypes
import os
import statistics
import subprocess
import tempfile
from pathlib import Path

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from hot_path import timer
from rich.console import Console
from rich.table import Table
from scipy.linalg import qr

import jaxmb as mb
from jaxmb.formulations.deflated import null_space
from jaxmb.integrators.field import Carried, Field
from jaxmb.mechanisms import get_mechanism

ASKED = 2.5
REPEATS, LOOPS = 9, 20_000
KINDS = {mb.Spherical: 0, mb.Revolute: 1, mb.Cylindrical: 2, mb.Prismatic: 3}


class Port(ctypes.Structure):
    _fields_ = [("body", ctypes.c_int), ("p", ctypes.c_double * 3), ("R", ctypes.c_double * 9)]


class Joint(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int), ("port", Port * 2)]


class Model(ctypes.Structure):
    _fields_ = [
        ("bodies", ctypes.c_int),
        ("joints", ctypes.c_int),
        ("keep", ctypes.c_int * 48),
        ("mass", ctypes.c_double * 8),
        ("inertia", (ctypes.c_double * 9) * 8),
        ("inverse", (ctypes.c_double * 9) * 8),
        ("force", (ctypes.c_double * 3) * 8),
        ("joint", Joint * 16),
    ]


def compiled() -> ctypes.CDLL:
    source = Path(__file__).with_suffix(".cpp")
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "right_hand_side.so"
        compiler = os.environ.get("CXX", "c++")
        subprocess.run([compiler, "-O3", "-march=native", "-shared", "-fPIC", source, "-o", library], check=True)
        code = ctypes.CDLL(str(library))
    code.microseconds.restype = ctypes.c_double
    assert code.model_size() == ctypes.sizeof(Model), "the two descriptions of Model differ"
    return code


def pointer(x: np.ndarray):
    return x.ctypes.data_as(ctypes.POINTER(ctypes.c_double))


def describe(system, terms, code, q: np.ndarray, v: np.ndarray) -> Model:
    """The model in the other language, with the forces of this instant, and with the rows dropped that pivoting finds."""
    equations = system.equations()
    count = len(system.bodies)
    model = Model(bodies=count, joints=len(system.joints), keep=(1,) * 48)
    names = list(system.bodies)
    gyroscopic = np.zeros(3)
    for k, body in enumerate(system.bodies.values()):
        J = np.asarray(body.inertia)
        model.mass[k] = float(body.mass)
        model.inertia[k][:] = J.reshape(-1)
        model.inverse[k][:] = np.linalg.inv(J).reshape(-1)
        model.force[k][:] = np.asarray(terms.Q)[6 * k : 6 * k + 3]
        w = v[6 * k + 3 : 6 * k + 6]
        gyroscopic = -np.cross(w, J @ w)
        assert np.allclose(np.asarray(terms.Q)[6 * k + 3 : 6 * k + 6], gyroscopic), "forces at centers of mass only"
    for k, joint in enumerate(system.joints.values()):
        model.joint[k].kind = KINDS[type(joint)]
        for side, port in enumerate(joint.ports):
            grounded = port.body == "ground"
            com = np.zeros(3) if grounded else np.asarray(system.bodies[port.body].com)
            model.joint[k].port[side].body = -1 if grounded else names.index(port.body)
            model.joint[k].port[side].p[:] = np.asarray(port.frame.p) - com
            model.joint[k].port[side].R[:] = np.asarray(port.frame.R).reshape(-1)
    rows = len(equations.row_names)
    J, a = np.zeros((rows, 6 * count)), np.zeros(6 * count)
    assert code.right_hand_side(ctypes.byref(model), pointer(q), pointer(v), pointer(a), pointer(J)) == rows
    rank = np.linalg.matrix_rank(J, rtol=1e-8)
    kept = set(qr(J.T, pivoting=True, mode="r")[1][:rank].tolist())
    model.keep[:] = [int(row in kept) for row in range(48)]
    return model


def compare(name: str, code) -> tuple[float, float, float]:
    """Microseconds of both, and the largest difference of accelerations relative to the largest one."""
    mechanism = get_mechanism(name)
    system, start = mechanism.build()
    state = mb.simulate(system, start, t1=0.3 * mechanism.t1).final.state
    q, v = np.array(state.q), np.array(state.v)
    equations = system.equations()
    terms = eqx.filter_jit(equations.terms)(state.t, state.q, state.v)
    null = null_space(terms.J)
    field, zero = Field(equations, mb.Deflated(), mb.Projection()), jnp.zeros(())
    model = describe(system, terms, code, q, v)
    a = np.zeros(v.size)
    code.right_hand_side(ctypes.byref(model), pointer(q), pointer(v), pointer(a), None)
    ours = np.asarray(eqx.filter_jit(field)(state.t, (state.q, state.v, zero, zero), Carried(null, ()))[1])
    times: tuple[list[float], list[float]] = ([], [])
    both = jnp.concatenate([state.q, state.v])  # all of the state changes from call to call, as in a run
    time_once = timer(lambda x: field(state.t, (x[: q.size], x[q.size :], zero, zero), Carried(null, ())), both)
    for _ in range(REPEATS):
        times[0].append(time_once())
        times[1].append(code.microseconds(ctypes.byref(model), pointer(q), pointer(v), LOOPS))
    return *map(statistics.median, times), float(np.max(np.abs(a - ours)) / np.max(np.abs(ours)))


def main() -> None:
    code = compiled()
    table = Table("mechanism", "jaxmb us", "C++ us", "ratio", "asked", "difference of accelerations")
    for name in ("bricard", "mcpherson-overconstrained"):
        ours, theirs, difference = compare(name, code)
        table.add_row(name, f"{ours:.1f}", f"{theirs:.1f}", f"{ours / theirs:.2f}", f"{ASKED:g}", f"{difference:.1e}")
    Console().print(table)


if __name__ == "__main__":
    main()
