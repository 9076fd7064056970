"""A comparison on a mechanism of the catalog, against its trusted trajectory."""

import re
from typing import Any

import equinox as eqx
import numpy as np

from ..errors import ModelError
from ..mechanisms import Mechanism
from .compare import compare, reference_error
from .comparison import Comparison

#: Columns of a reference that are loads or energies; the error of a motion does not count them.
LOADS = re.compile(r"^(R\d|M1|N2|lambda|rod_tension|E|phi_maxabs)")


def compare_mechanism(mechanism: Mechanism, *, t1: float | None = None, title: str = "", **options: Any) -> Comparison:
    """`compare` with the mechanism's start, times and error, up to `t1` (s, by default the end of the published run)."""
    system, state = mechanism.build()
    end = mechanism.t1 if t1 is None else t1
    if not end > 0:
        raise ModelError(
            f"compare was given t1 = {end:g} s for '{mechanism.name}'. Give an end after the start at 0 s."
        )
    title = title or f"{mechanism.name}: {end:g} s"
    if mechanism.reference is None:
        return compare(system, state, t1=end, title=title, **options)
    reference = motion_columns(mechanism, end)
    ts = reference["t"]
    if len(ts) < 2 or abs(ts[-1] - end) > 1e-9 * end:
        last = mechanism.read_reference()["t"]
        raise ModelError(
            f"compare was given t1 = {end:g} s for '{mechanism.name}', whose trusted trajectory has rows from 0 to "
            f"{last[-1]:g} s, {last[1] - last[0]:g} s apart. Give one of these times."
        )
    # Compiled as a whole, what is not compared (reactions) is not computed.
    outputs = eqx.filter_jit(lambda sol: {k: x for k, x in mechanism.outputs(sol).items() if k in reference})
    error = reference_error(outputs, reference)
    return compare(system, state, t1=float(ts[-1]), ts=ts, error=error, title=title, **options)


def motion_columns(mechanism: Mechanism, t1: float) -> dict[str, np.ndarray]:
    """The columns of the trusted trajectory that are motion, up to `t1`."""
    table = mechanism.read_reference()
    rows = table["t"] <= t1 * (1 + 1e-9)
    return {name: column[rows] for name, column in table.items() if not LOADS.match(name)}
