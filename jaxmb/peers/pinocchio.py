"""Pinocchio: joint coordinates, loops by its proximal constraint dynamics, Runge-Kutta steps in Python."""

# pyright: reportAttributeAccessIssue=false
# (what is compiled does not say what is in it)

import time
from collections.abc import Callable
from functools import partial

import numpy as np

from . import pinocchio_models as models
from .base import Method, Model, Outcome, Peer, steps_between

#: Regularization and iterations of the proximal solve. A larger one passes A02's singular configurations too, but with errors of
#: 1e-3 m for N = 10.
PROXIMAL = (1e-10, 10)


def _model(
    tree: Callable[[], models.Tree],
    levels: tuple[float, ...],
    ts: np.ndarray,
    baumgarte: float = 0.0,
) -> Model:
    """`baumgarte` is the frequency (1/s) of critically damped violations."""
    import pinocchio as pin

    made = tree()
    model, data = made.model, made.model.createData()
    step = _step(_dynamics(made, data, baumgarte), model)

    def outputs(q: np.ndarray) -> np.ndarray:
        pin.forwardKinematics(model, data, q)
        return np.concatenate([data.oMi[joint].act(np.array(at, float))[list(k)] for joint, at, k in made.outputs])

    def run(name: str, level: float) -> Outcome:
        every = steps_between(ts, level)
        q, v = pin.neutral(model), made.speed.copy()
        started = time.perf_counter()
        found = [outputs(q)]
        for k in range(len(ts) - 1):
            for i in range(every):
                q, v = step(ts[k] + i * level, q, v, level)
            if not np.abs(v).max() < 1e6:
                break
            found.append(outputs(q))
        took = time.perf_counter() - started
        lost = np.full((len(ts) - len(found), len(found[0])), np.nan)
        return Outcome(np.concatenate([np.array(found), lost]), took)

    name = "RK4" + (f", Baumgarte {baumgarte:g}" if baumgarte else "")
    return Model((Method(name, levels),), run)


def _dynamics(made: models.Tree, data, baumgarte: float) -> Callable:
    """Accelerations at (t, q, v)."""
    import pinocchio as pin

    model, loops, memory = made.model, pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for loop in made.loops:
        if baumgarte:
            loop.setBaumgarteCorrectorParameters(pin.BaumgarteCorrectorParameters(baumgarte**2, 2 * baumgarte))
        loops.append(loop)
        memory.append(loop.createData())
    if made.loops:
        pin.initConstraintDynamics(model, data, loops, memory)
    settings = pin.ProximalSettings(1e-12, *PROXIMAL)
    none = np.zeros(model.nv)

    def acceleration(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        force = none if made.force is None else made.force(t, q, v)
        if made.loops:
            return pin.constraintDynamics(model, data, q, v, force, loops, memory, settings).copy()
        return pin.aba(model, data, q, v, force).copy()

    return acceleration


def _step(acceleration: Callable, model) -> Callable:
    """A step of the classical fourth-order method; on the rotations of ball joints in the manner of Munthe-Kaas."""
    import pinocchio as pin

    balls = [model.idx_vs[k] for k, joint in enumerate(model.joints) if joint.shortname() == "JointModelSpherical"]
    move: Callable = partial(pin.integrate, model) if balls else np.add

    def rate(u: np.ndarray, v: np.ndarray) -> np.ndarray:
        """The speed of u, from where q = q0 exp(u) has the speed v; to the order that is needed."""
        if not balls:
            return v
        out = v.copy()
        for k in balls:
            first = np.cross(u[k : k + 3], v[k : k + 3])
            out[k : k + 3] += first / 2 + np.cross(u[k : k + 3], first) / 12
        return out

    def step(t: float, q: np.ndarray, v: np.ndarray, h: float) -> tuple[np.ndarray, np.ndarray]:
        a1 = acceleration(t, q, v)
        u2, v2 = h / 2 * v, v + h / 2 * a1
        k2, a2 = rate(u2, v2), acceleration(t + h / 2, move(q, u2), v2)
        u3, v3 = h / 2 * k2, v + h / 2 * a2
        k3, a3 = rate(u3, v3), acceleration(t + h / 2, move(q, u3), v3)
        u4, v4 = h * k3, v + h * a3
        k4, a4 = rate(u4, v4), acceleration(t + h, move(q, u4), v4)
        return move(q, h / 6 * (v + 2 * k2 + 2 * k3 + k4)), v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)

    return step


def _four_bar(windows: int, levels: tuple[float, ...], ts: np.ndarray) -> Model:
    # Without Baumgarte's terms it changes to another branch where the rods lie on one line.
    return _model(partial(models.n_four_bar, windows), levels, ts, 20.0)


_strut = partial(_model, models.strut, (0.05, 0.02, 0.01, 0.005))

PINOCCHIO = Peer(
    "pinocchio",
    "pinocchio",
    "pin",
    {
        "a01": partial(_model, models.pendulum, (0.1, 0.05, 0.02, 0.01, 0.005, 0.002)),
        "a02-2": partial(_four_bar, 2, (0.02, 0.01, 0.005, 0.002, 0.001)),
        "a02-10": partial(_four_bar, 10, (0.02, 0.01, 0.005, 0.002)),
        "a02-40": partial(_four_bar, 40, (0.05, 0.025, 0.02, 0.01)),
        "a03": partial(_model, models.andrews, (2.5e-4, 1e-4, 5e-5, 2.5e-5, 1e-5)),
        "a04": partial(_model, models.bricard, (0.05, 0.02, 0.01, 0.005, 0.002)),
        "a05": partial(_model, models.governor, (5e-4, 2.5e-4, 2e-4)),
        "mcpherson-simplified": _strut,
        "mcpherson-overconstrained": _strut,
    },
)
