"""Exudyn: absolute coordinates with its implicit integrators, and joint coordinates where there are no loops."""

# pyright: reportAttributeAccessIssue=false
# (what is compiled does not say what is in it)

import time
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from . import exudyn_models as models
from . import exudyn_spatial as spatial
from .base import Method, Model, Outcome, Peer, steps_between


class Way(NamedTuple):
    """A model with the settings of a solver; index 3 for generalized-alpha, as index 2 is wrong on A02 without saying so."""

    name: str
    build: Callable[[], models.Built]
    solver: str
    levels: tuple[float, ...]
    linear: str = "EXUdense"
    singular: bool = False
    """Whether a singular Jacobian is let pass, as redundant constraints need."""


def _model(ways: tuple[Way, ...], ts: np.ndarray) -> Model:
    table = {way.name: way for way in ways}
    for way in ways:
        way.build()  # a mistake in a model shows here

    def run(name: str, level: float) -> Outcome:
        way = table[name]
        built = way.build()  # anew: a solver leaves a model where it ended
        import exudyn

        settings = _settings(way, level, ts)
        solver = getattr(exudyn.DynamicSolverType, way.solver)
        exudyn.config.printToConsole = False
        started = time.perf_counter()
        try:
            finished = built.mbs.SolveDynamic(settings, solverType=solver, showHints=False)
        except Exception:  # it raises what it cannot solve as a plain error, with a page of advice
            finished = False
        took = time.perf_counter() - started
        exudyn.config.printToConsole = True
        return Outcome(_outputs(built, ts, finished), took)

    return Model(tuple(Method(way.name, way.levels) for way in ways), run)


def _settings(way: Way, level: float, ts: np.ndarray):
    import exudyn

    settings = exudyn.SimulationSettings()
    integration, end = settings.timeIntegration, float(ts[-1])
    integration.endTime, integration.verboseMode = end, 0
    integration.numberOfSteps = (len(ts) - 1) * steps_between(ts, level)
    # Explicit methods would choose steps by themselves, and then outputs are not at the times asked for.
    integration.automaticStepSize = not way.solver.startswith("RK")
    integration.generalizedAlpha.spectralRadius = 0.9
    integration.newton.relativeTolerance, integration.newton.absoluteTolerance = 1e-8, 1e-10
    integration.newton.useModifiedNewton = True
    settings.linearSolver.solverType = getattr(exudyn.LinearSolverType, way.linear)
    settings.linearSolver.ignoreSingularJacobian = way.singular
    settings.linearSolver.pivotThreshold = 0.0
    settings.linearSolver.showCausingItems = False
    settings.solution.file.write = False
    settings.solution.sensors.writePeriod = float(ts[1] - ts[0])
    return settings


def _outputs(built: models.Built, ts: np.ndarray, finished: bool) -> np.ndarray:
    """What the sensors wrote nearest to the times; NaN where there is nothing within rounding."""
    out = []
    for sensor, columns in built.sensors:
        data = np.atleast_2d(built.mbs.GetSensorStoredData(sensor))
        nearest = np.abs(data[:, 0][None] - ts[:, None]).argmin(1)
        found = data[nearest][:, [1 + k for k in columns]]
        found[np.abs(data[nearest, 0] - ts) > 1e-6 * ts[-1]] = np.nan
        out.append(found)
    table = np.concatenate(out, 1)
    return table if finished else np.full_like(table, np.nan)


IMPLICIT = ("GeneralizedAlpha", "TrapezoidalIndex2")


def _implicit(build: Callable[[], models.Built], *levels: float, solvers=IMPLICIT, **more) -> tuple[Way, ...]:
    return tuple(Way(solver, build, solver, levels, **more) for solver in solvers)


_alpha = partial(_implicit, solvers=IMPLICIT[:1])


def _four_bar(windows: int, *levels: float, linear: str = "EXUdense") -> tuple[Way, ...]:
    # The trapezoidal rule of index 2 does not pass the first singular configuration.
    return _alpha(partial(models.n_four_bar, windows), *levels, linear=linear)


A01 = (
    *_implicit(models.pendulum, 1e-2, 1e-3, 1e-4),
    Way("RK67, joint coordinates", models.pendulum_tree, "RK67", (0.1, 0.05, 0.02, 0.01, 0.005)),
)
A05 = (
    *_implicit(spatial.governor, 1e-2, 2e-3, 1e-3, 2e-4),
    *(
        Way(f"{solver}, joint coordinates", spatial.governor_tree, solver, (1e-2, 2e-3, 1e-3, 2e-4, 1e-4))
        for solver in IMPLICIT
    ),
    Way("RK67, joint coordinates", spatial.governor_tree, "RK67", (5e-4, 4e-4, 2.5e-4)),
)
REDUNDANT = {"linear": "EigenDense", "singular": True}


def _strut(overconstrained: bool) -> tuple[Way, ...]:
    more = REDUNDANT if overconstrained else {}
    return _alpha(partial(spatial.strut, overconstrained), 1e-2, 5e-3, 2e-3, 1e-3, 5e-4, 2.5e-4, **more)


EXUDYN = Peer(
    "exudyn",
    "exudyn",
    "exudyn",
    {
        "a01": partial(_model, A01),
        "a02-2": partial(_model, _four_bar(2, 1e-2, 2e-3, 1e-3, 5e-4, 1e-4)),
        "a02-10": partial(_model, _four_bar(10, 1e-2, 2e-3, 1e-3, 5e-4, 2e-4, 1e-4, linear="EigenSparse")),
        "a02-40": partial(_model, _four_bar(40, 1e-2, 2e-3, 1e-3, 5e-4, linear="EigenSparse")),
        "a03": partial(_model, _implicit(models.andrews, 5e-5, 2.5e-5, 1e-5, 5e-6)),
        # The trapezoidal rule of index 2 loses the motion here, slowly.
        "a04": partial(_model, _alpha(spatial.bricard, 1e-2, 5e-3, 2e-3, 1e-3, 5e-4, **REDUNDANT)),
        "a05": partial(_model, A05),
        "mcpherson-simplified": partial(_model, _strut(False)),
        "mcpherson-overconstrained": partial(_model, _strut(True)),
    },
)
