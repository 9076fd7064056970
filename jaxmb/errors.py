"""What is raised, and the two phrases every message about a name needs."""

import difflib
from collections.abc import Iterable

import jax
from jax.core import Tracer


class ModelError(ValueError):
    """The model as given cannot be built; the message names the object, what was found and the fix."""


class SimulationError(RuntimeError):
    """A run ended without reaching its end; the message has the status, the time reached and advice."""


def is_concrete(*values) -> bool:
    """Whether every value is known now (values inside jit, grad or vmap are not, and cannot be checked)."""
    return not any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves(values))


def did_you_mean(name: str, options: Iterable[str]) -> str:
    """` Did you mean 'x'?` when a valid name is near, else nothing."""
    near = difflib.get_close_matches(name, list(options), n=1)
    return f" Did you mean '{near[0]}'?" if near else ""


def unknown_name(what: str, kind: str, name: str, options: Iterable[str]) -> ModelError:
    """An error for a name that is not there: what asked for it, and what there is."""
    options = list(options)
    listing = ", ".join(options) if options else "none"
    return ModelError(f"{what} '{name}', which is not in the system. {kind}: {listing}.{did_you_mean(name, options)}")
