"""Many runs of one function: a compiled loop on each core, or lanes side by side on an accelerator."""

import functools
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from rich.console import Console
from rich.progress import Progress

from ..errors import ModelError, is_concrete

#: Runs between two looks at what is left to do. All portions have this size, so that one program serves any number of samples.
PORTION = 16


def map_runs(
    function: Callable[[Any], Any],
    samples: Any,
    *,
    bundle: int | None = None,
    workers: int | None = None,
    progress: bool = False,
) -> Any:
    """`function` of each sample, stacked: what `jax.vmap(function)(samples)` gives, in the fastest way for this machine.

    `samples` is an array or a pytree of arrays with one row per sample, `function` takes one row and returns arrays. On a CPU
    runs with adaptive steps are fastest one after another, for in a `vmap` all wait for the one with the most steps: `workers`
    threads (default: one per core) each take portions of them. `bundle` runs go side by side in a `vmap`: 1 is the default on a
    CPU; 8 pays where all runs take about as many steps, the more the smaller the system is (benchmarks/batches.py). On an
    accelerator all runs are one bundle.

    Inside of jit, vmap and derivatives it is one loop over the samples, which can be differentiated.
    """
    leaves = jax.tree.leaves(samples)
    count = _count(leaves)
    on_cpu = jax.default_backend() == "cpu"
    bundle = _positive(bundle, "bundle", 1 if on_cpu else count)
    workers = _positive(workers, "workers", len(os.sched_getaffinity(0)) if on_cpu else 1)
    if not is_concrete(samples) or not on_cpu:
        return _portion(function, bundle)(jax.tree.map(jnp.asarray, samples))
    samples = jax.tree.map(lambda x: np.asarray(jnp.asarray(x)), samples)
    size = min(max(PORTION, bundle), -(-count // workers))

    def portion(start: int):
        # The last one is filled up with the last sample.
        return jax.tree.map(lambda x: x[np.minimum(np.arange(start, start + size), count - 1)], samples)

    leaves, structure = jax.tree.flatten(portion(0))
    try:
        program = _compiled(function, bundle, structure, tuple((x.shape, x.dtype) for x in leaves))
    except TypeError:  # a function that has no hash, such as a module with arrays, is compiled each time
        program = jax.jit(_portion(function, bundle)).lower(portion(0)).compile()
    console = Console(stderr=True)
    with (
        Progress(console=console, transient=True, disable=not (progress and console.is_terminal)) as bar,
        ThreadPoolExecutor(workers) as pool,
    ):
        task = bar.add_task("runs", total=count)

        def run(start: int):
            out = jax.tree.map(np.asarray, program(portion(start)))
            bar.advance(task, min(size, count - start))
            return out

        parts = list(pool.map(run, range(0, count, size)))
    return jax.tree.map(lambda *x: jnp.asarray(np.concatenate(x)[:count]), *parts)


def _portion(function: Callable[[Any], Any], bundle: int) -> Callable[[Any], Any]:
    return lambda rows: jax.lax.map(function, rows, batch_size=None if bundle == 1 else bundle)


@functools.lru_cache(maxsize=32)
def _compiled(function, bundle: int, structure, shapes) -> Any:
    """The program of a portion. It is compiled before threads start: each would compile it for itself."""
    rows = structure.unflatten([jax.ShapeDtypeStruct(*shape) for shape in shapes])
    return jax.jit(_portion(function, bundle)).lower(rows).compile()


def _count(leaves) -> int:
    counts = {np.shape(leaf)[:1] for leaf in leaves}
    if len(counts) != 1 or counts in ({()}, {(0,)}):
        shapes = [np.shape(leaf) for leaf in leaves]
        raise ModelError(
            f"map_runs was given samples with leaves of the shapes {shapes}; all must have one row per sample, and at least one. "
            "Stack the samples along the first axis."
        )
    return counts.pop()[0]


def _positive(given: int | None, what: str, default: int) -> int:
    if given is not None and given < 1:
        raise ModelError(f"map_runs was given {what}={given}; at least 1 is needed.")
    return default if given is None else given
