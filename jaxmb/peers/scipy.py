"""What one writes without an engine: equations by hand, and scipy's integrators."""

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import sin
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from . import hand_andrews, hand_governor, hand_models, hand_planar
from .base import Method, Model, Outcome, Peer
from .numbers import GRAVITY, Andrews, Strut


def tolerances(first: int, last: int) -> tuple[float, ...]:
    """10^-first to 10^-last."""
    return tuple(float(f"1e-{k}") for k in range(first, last + 1))


def _model(
    ts: np.ndarray,
    rhs: Callable,
    start: np.ndarray | Sequence[float],
    outputs: Callable[[np.ndarray], tuple],
    methods: tuple[Method, ...],
    more: Mapping[str, Any] | None = None,
) -> Model:
    """`outputs` takes the states (times, state); the first word of a method's name is scipy's."""

    def run(name: str, level: float) -> Outcome:
        started = time.perf_counter()
        with np.errstate(all="ignore"):  # a run that goes astray is an outcome
            sol = solve_ivp(rhs, (0.0, ts[-1]), start, name.split()[0], ts, rtol=level, atol=level, **(more or {}))
        took = time.perf_counter() - started
        columns = np.stack(outputs(sol.y.T), 1)
        lost = np.full((len(ts) - len(columns), columns.shape[1]), np.nan)
        return Outcome(np.concatenate([columns, lost]), took)

    return Model(methods, run)


def pendulum(ts: np.ndarray) -> Model:
    """A01: the angle."""
    return _model(
        ts,
        lambda t, y: (y[1], -GRAVITY * sin(y[0])),
        (-np.pi / 2, 0.0),
        lambda y: (np.sin(y[:, 0]), -np.cos(y[:, 0])),
        (Method("DOP853", tolerances(3, 12), fixed=False), Method("LSODA", tolerances(3, 12), fixed=False)),
    )


def n_four_bar(windows: int, levels: tuple[float, ...], ts: np.ndarray) -> Model:
    """A02: absolute coordinates."""
    start, rhs = hand_planar.n_four_bar(windows)

    def top(y: np.ndarray) -> tuple:
        return y[:, 0] + 0.5 * np.cos(y[:, 2]), y[:, 1] + 0.5 * np.sin(y[:, 2])

    # With 10 or without it changes to another branch where the rods lie on one line.
    methods = (Method("DOP853 Baumgarte 20", levels, fixed=False),)
    return _model(ts, rhs, start, top, methods, {"args": (20.0,)})


def andrews(ts: np.ndarray) -> Model:
    """A03: the seven angles of the IVP test set."""
    methods = (Method("DOP853", tolerances(3, 9), fixed=False), Method("LSODA", tolerances(4, 10), fixed=False))

    def pin(y: np.ndarray) -> tuple:
        return Andrews.rr * np.cos(y[:, 0]), Andrews.rr * np.sin(y[:, 0])

    return _model(ts, hand_andrews.rhs, hand_andrews.start(), pin, methods)


def bricard(ts: np.ndarray) -> Model:
    """A04: bodies with quaternions."""
    m = hand_models.bricard()
    methods = (Method("DOP853", tolerances(4, 10), fixed=False),)
    return _model(ts, m.rhs, m.start(), lambda y: tuple(m.place(y, 1, np.array([1.0, -1.0, 0.0])).T), methods)


def governor(ts: np.ndarray) -> Model:
    """A05: four minimal coordinates."""
    methods = (Method("LSODA", tolerances(4, 10), fixed=False), Method("Radau", tolerances(4, 9), fixed=False))
    return _model(ts, hand_governor.rhs, hand_governor.START, lambda y: (y[:, 3],), methods)


def strut(overconstrained: bool, ts: np.ndarray) -> Model:
    """The McPherson strut: bodies with quaternions."""
    m = hand_models.strut(overconstrained)
    P8 = np.array(Strut.P["P8"])
    methods = (Method("DOP853", tolerances(4, 9), fixed=False),)
    return _model(ts, m.rhs, m.start(), lambda y: (y[:, 4 * 13 + 1], *m.place(y, 1, P8).T), methods)


SCIPY = Peer(
    "scipy",
    "scipy",
    "scipy",
    {
        "a01": pendulum,
        "a02-2": partial(n_four_bar, 2, tolerances(4, 9)),
        "a02-10": partial(n_four_bar, 10, tolerances(5, 8)),
        "a02-40": partial(n_four_bar, 40, tolerances(4, 6)),
        "a03": andrews,
        "a04": bricard,
        "a05": governor,
        "mcpherson-simplified": partial(strut, False),
        "mcpherson-overconstrained": partial(strut, True),
    },
)
