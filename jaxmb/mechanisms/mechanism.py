"""What the catalog knows of a mechanism."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from importlib import resources
from typing import Any

import numpy as np
from jaxtyping import Array

from ..coordinates import Coordinates
from ..errors import ModelError
from ..solution import Solution
from ..state import State
from ..system import System

#: What a builder takes where a model has a number, and where it has several.
Number = float | int | np.ndarray | Array
Numbers = Sequence[Number] | np.ndarray | Array


@dataclasses.dataclass(frozen=True)
class Mechanism:
    """A mechanism of the literature: how to build it, how long its published run is, and the trajectory to compare
    with."""

    name: str
    """As on the command line."""
    summary: str
    """One line: what it is, where it is from, what is special."""
    builder: Callable[..., Any]
    """Makes the system from keyword arguments; traceable."""
    start: Callable[[Any], State]
    """The initial state of that system."""
    t1: float
    """End of the published run (s)."""
    outputs: Callable[[Solution], dict[str, Array]]
    """Named quantities of a run, those of the columns of the reference that can be compared among them."""
    reference: str | None = None
    """File of the trusted trajectory, if there is one."""
    parameters: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """Arguments of the builder that differ from its defaults."""
    singular_at: float | None = None
    """Time (s) of the first singular configuration, where a run stops."""
    published: Coordinates | None = None
    """Coordinates of the published runs, where those of the builder are others."""

    def build(self, *, coordinates: Coordinates | None = None, **changes: Any) -> tuple[Any, State]:
        """The system and its initial state; keyword arguments replace those of the builder, `coordinates` its own."""
        system = self.builder(**{**self.parameters, **changes})
        if coordinates is not None:
            if not isinstance(system, System):
                raise ModelError(
                    f"Mechanism '{self.name}' is written in generalised coordinates of its own. Leave coordinates out."
                )
            system = system.with_coordinates(coordinates)
        return system, self.start(system)

    def read_reference(self) -> dict[str, np.ndarray]:
        """The trusted trajectory by column, `t` (s) among them."""
        if self.reference is None:
            raise ModelError(
                f"Mechanism '{self.name}' has no reference trajectory. Compare it with a run at tighter rtol and atol."
            )
        file = resources.files("jaxmb.mechanisms") / "reference" / self.reference
        header, *lines = file.read_text(encoding="utf-8").splitlines()
        table = np.array([[float(x) for x in line.split(",")] for line in lines])
        return dict(zip(header.split(","), table.T, strict=True))


def at_rest(system) -> State:
    """The reference configuration of a system of bodies, without velocity."""
    return system.state()
