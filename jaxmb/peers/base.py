"""What the benchmark asks of another engine."""

import importlib
import importlib.metadata
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np


class Method(NamedTuple):
    """A way in which an engine can run a problem, with the levels that are tried."""

    name: str
    levels: tuple[float, ...]
    """Steps (s) or tolerances, the coarsest first."""
    fixed: bool = True
    """Whether the levels are steps and not tolerances."""


class Outcome(NamedTuple):
    """One run: the outputs at the times asked for, and the wall time (s) of the run alone."""

    outputs: np.ndarray
    """(times, outputs); NaN from where a run was lost."""
    run_s: float


class Model(NamedTuple):
    """A problem as an engine has it, built and ready."""

    methods: tuple[Method, ...]
    run: Callable[[str, float], Outcome]
    """From the name of a method and one of its levels."""


class Peer(NamedTuple):
    """Another engine: how it is imported, and its models by the key of the problem."""

    name: str
    module: str
    package: str
    """As pip knows it."""
    models: Mapping[str, Callable[[np.ndarray], Model]]
    """Each takes the times (s, equally spaced from 0) at which outputs are wanted."""
    without: Mapping[str, str] = {}
    """Why a problem has no model, by its key."""

    def missing(self) -> str:
        """What to do when the engine cannot be imported; empty when it can."""
        try:
            importlib.import_module(self.module)
        except ModuleNotFoundError as error:
            why = "" if error.name == self.module else f", as {error.name} is missing"
            return f"not installed{why}: pip install {self.package}"
        except ImportError as error:  # it is there, and a library that it needs is not
            return f"cannot be imported ({error}): pip install {self.package}"
        return ""

    def version(self) -> str:
        return importlib.metadata.version(self.package)


def steps_between(ts: np.ndarray, step: float) -> int:
    """How many steps of fixed size lie between two of the times; a step that does not divide them is a mistake."""
    spacing = float(ts[1] - ts[0])
    count = round(spacing / step)
    if count < 1 or abs(count * step - spacing) > 1e-9 * spacing:
        raise ValueError(f"A step of {step:g} s does not divide the {spacing:g} s between outputs.")
    return count
