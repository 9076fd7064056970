"""Many runs on a CPU, in runs per second: a Python loop over one compiled run, `map_runs` with bundles and workers, and `vmap`.

python benchmarks/batches.py [runs]
"""

import os
import statistics
import sys
import time
from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from rich.console import Console
from rich.table import Table

import jaxmb as mb
from jaxmb.mechanisms.bricard import bricard
from jaxmb.mechanisms.double_pendulum import double_pendulum
from jaxmb.mechanisms.mcpherson import mcpherson

REPEATS = 5
BUNDLES = (2, 8, 16)


def runs_of(builder: Callable, **options) -> Callable:
    """A run with another gravity, by which the number of steps changes too."""

    def run(factor):
        system = builder(gravity=9.81 * factor)
        return mb.simulate(system, system.state(), rtol=1e-6, atol=1e-6, **options).q[-1]

    return run


CASES = {
    "double pendulum, adaptive": runs_of(double_pendulum, t1=1.0),
    "double pendulum, fixed steps": runs_of(double_pendulum, t1=1.0, dt=0.02),
    "bricard, adaptive": runs_of(bricard, t1=1.0),
    "bricard, fixed steps": runs_of(bricard, t1=1.0, dt=0.05),
    "mcpherson-overconstrained, adaptive": runs_of(mcpherson, t1=1.0),
}


def ways(run: Callable, factors: np.ndarray) -> dict[str, Callable]:
    one, all_at_once = eqx.filter_jit(run), eqx.filter_jit(jax.vmap(run))
    cores = len(os.sched_getaffinity(0))
    found = {
        "loop in Python": lambda: [jax.block_until_ready(one(x)) for x in factors],
        "map_runs, 1 worker": lambda: mb.map_runs(run, factors, workers=1),
    }
    for bundle in BUNDLES:
        found[f"map_runs, 1 worker, bundles of {bundle}"] = lambda b=bundle: mb.map_runs(
            run, factors, workers=1, bundle=b
        )
    found["vmap"] = lambda: jax.block_until_ready(all_at_once(jnp.asarray(factors)))
    found[f"map_runs, {cores} workers"] = lambda: mb.map_runs(run, factors)
    return found


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 256
    factors = np.random.default_rng(0).uniform(0.5, 4.0, count)
    table = Table("runs per second", *CASES, title=f"{count} runs; in brackets: times the loop in Python")
    rates: dict[str, list[str]] = {}
    for run in CASES.values():
        found = ways(run, factors)
        times: dict[str, list[float]] = {name: [] for name in found}
        for turn in range(REPEATS + 1):  # the first compiles
            for name, way in found.items():
                started = time.perf_counter()
                way()
                if turn:
                    times[name].append(time.perf_counter() - started)
        medians = {name: statistics.median(taken) for name, taken in times.items()}
        for name, taken in medians.items():
            rates.setdefault(name, []).append(f"{count / taken:.0f} ({medians['loop in Python'] / taken:.2f})")
    for name, row in rates.items():
        table.add_row(name, *row)
    Console(width=200).print(table)


if __name__ == "__main__":
    main()
