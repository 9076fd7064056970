"""A run as a file (numbers and a JSON header, no pickle) and as an xarray dataset."""

import dataclasses
import inspect
import io
import json
import os
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .. import formulations, stabilization
from ..errors import ModelError
from ..integrators.mode import Mode
from ..solution import EventLog, Solution, Stats
from ..state import State
from ..status import Status, status_name

FORMAT = "jaxmb run 3"
_ARRAYS = ("t", "q", "v", "work", "reached", "weakest")
#: Parts of a run that it may have or not, and what they are made of.
_PARTS = {"last": State, "events": EventLog, "mode": Mode}


def save(sol: Solution, path) -> None:
    """Write a run to `path` (.npz). The file is complete or not there: it is written beside and moved into place."""
    path = Path(path)
    header = {
        "format": FORMAT,
        "rows": list(sol.system.equations().row_names),
        "speeds": list(sol.system.equations().speed_names),
        "status": status_name(sol.status),
        "stats": {
            name: np.asarray(getattr(sol.stats, name)).tolist()
            for name in (field.name for field in dataclasses.fields(Stats))
            if getattr(sol.stats, name) is not None
        },
        "events": None if sol.events is None else list(sol.events.names),
        "formulation": _describe(sol.formulation),
        "stabilization": _describe(sol.stabilization),
    }
    arrays = {name: np.asarray(getattr(sol, name)) for name in _ARRAYS}
    for part, cls in _PARTS.items():
        if getattr(sol, part) is not None:
            arrays |= {f"{part}.{name}": np.asarray(getattr(getattr(sol, part), name)) for name in _array_fields(cls)}
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    try:
        with os.fdopen(descriptor, "wb") as file:
            np.savez_compressed(file, allow_pickle=False, header=np.array(json.dumps(header)), **arrays)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def load(path, system) -> Solution:
    """Read a run of `system` back. The system itself is not in the file; a file of another one is refused."""
    try:
        with np.load(io.BytesIO(Path(path).read_bytes()), allow_pickle=False) as file:
            header = json.loads(str(file["header"]))
            right = header.get("format") == FORMAT
            arrays: dict[str, Any] = {name: jnp.asarray(file[name]) for name in _ARRAYS if right}
            parts: dict[str, Any] = {part: _read_part(file, part, cls) for part, cls in _PARTS.items() if right}
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise ModelError(
            f"load could not read '{path}': it is not a run written by Solution.save ({error})."
        ) from error
    if header.get("format") != FORMAT:
        raise ModelError(
            f"load found format {header.get('format')!r} in '{path}', but reads {FORMAT!r}. Write it with this version."
        )
    equations = system.equations()
    for what, found, wanted in (
        ("constraint rows", header["rows"], equations.row_names),
        ("speeds", header["speeds"], equations.speed_names),
    ):
        if found != list(wanted):
            raise ModelError(
                f"load read '{path}', a run of another system: its {what} are {found[:6]}..., not {list(wanted)[:6]}..."
            )
    if parts["events"] is not None:
        parts["events"] = EventLog(tuple(header["events"]), **parts["events"])
    return Solution(
        **arrays,
        **{part: cls(**parts[part]) if isinstance(parts[part], dict) else parts[part] for part, cls in _PARTS.items()},
        status=getattr(Status, header["status"]),
        stats=Stats(**{name: jnp.asarray(value) for name, value in header["stats"].items()}),
        system=system,
        formulation=_rebuild(header["formulation"], formulations),
        stabilization=_rebuild(header["stabilization"], stabilization),
    )


def _array_fields(cls) -> list[str]:
    return [field.name for field in dataclasses.fields(cls) if not field.metadata.get("static", False)]


def _read_part(file, part: str, cls) -> dict[str, Any] | None:
    """The arrays of a part of a run, if it has it."""
    names = _array_fields(cls)
    return {name: jnp.asarray(file[f"{part}.{name}"]) for name in names} if f"{part}.{names[0]}" in file else None


def to_xarray(sol: Solution):
    """Positions, rotations, energies, violations and joint coordinates over time, with units as attributes."""
    try:
        import xarray
    except ImportError as error:
        raise ImportError("to_xarray needs xarray. Install it with: pip install 'jaxmb[xarray]'") from error
    t = np.asarray(sol.t)
    energy, violation = sol.energy, sol.violation
    scalars = {
        "kinetic": (energy.kinetic, "J"),
        "potential": (energy.potential, "J"),
        "work": (energy.work, "J"),
        "violation_position": (violation.position, "m, rad"),
        "violation_velocity": (violation.velocity, "m/s, rad/s"),
        "violation_acceleration": (violation.acceleration, "m/s2, rad/s2"),
    }
    data: dict[str, Any] = {name: ("time", np.asarray(x), {"units": unit}) for name, (x, unit) in scalars.items()}
    data["q"] = (("time", "position"), np.asarray(sol.q))
    data["v"] = (("time", "speed"), np.asarray(sol.v))
    coordinates: dict[str, Any] = {
        "time": ("time", t, {"units": "s"}),
        "speed": list(sol.system.equations().speed_names),
    }
    bodies = list(getattr(sol.system, "bodies", ()))
    if bodies:
        motions = [sol.body(name) for name in bodies]
        stacked = jax.tree.map(lambda *x: np.stack([np.asarray(y) for y in x], axis=1), *motions)
        units = {"position": "m", "velocity": "m/s", "acceleration": "m/s2", "omega": "rad/s", "alpha": "rad/s2"}
        for name, unit in units.items():
            data[name] = (("time", "body", "axis"), getattr(stacked, name), {"units": unit})
        data["rotation"] = (("time", "body", "row", "column"), stacked.rotation, {"long_name": "R_WB"})
        coordinates |= {"body": bodies, "axis": ["x", "y", "z"]}
        for name, joint in sol.system.joints.items():
            for coordinate in joint.coordinates:
                unit = "rad" if coordinate.startswith("angle") else "m"
                data[f"{name}.{coordinate}"] = (
                    "time",
                    np.asarray(getattr(sol.joint(name), coordinate)),
                    {"units": unit},
                )
    return xarray.Dataset(data, coordinates, {"status": status_name(sol.status), "source": "jaxmb"})


def _describe(module) -> dict[str, Any]:
    """Class and numbers of a formulation or stabilization."""
    fields = {}
    for name in (field.name for field in dataclasses.fields(module)):
        value = getattr(module, name)
        if callable(value):
            raise ModelError(
                f"save cannot write {type(module).__name__}.{name}, which is a function. Save t, q and v instead."
            )
        fields[name] = np.asarray(value).tolist() if isinstance(value, jax.Array) else value
    return {"class": type(module).__name__, "fields": fields}


def _rebuild(description: dict[str, Any], package):
    """The object of a description; only classes of the package that are there by name."""
    cls = getattr(package, description["class"], None)
    if not inspect.isclass(cls):
        raise ModelError(f"load found {description['class']!r}, which this version does not have.")
    fields = {name: tuple(x) if isinstance(x, list) else x for name, x in description["fields"].items()}
    return cls(**fields)
