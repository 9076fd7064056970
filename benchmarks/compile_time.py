"""How long a user waits: from the start of a process to the first result, with an empty cache of programs and with a warm one;
and tracing, lowering and compiling apart.

python benchmarks/compile_time.py [--repeats 3] [mechanism ...]
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings

from rich.console import Console
from rich.table import Table

#: What is asked for (s): first result of `simulate` and of its gradient, with an empty and a warm cache.
ASKED = {("simulate", "empty"): 6.0, ("simulate", "warm"): 3.0, ("gradient", "empty"): 15.0, ("gradient", "warm"): 6.0}
GRADIENTS = ("bricard", "mcpherson-overconstrained", "four-bar-case-1")


def child(name: str, what: str) -> None:
    """In a process of its own: the first result, told with the parts of its compilation."""
    parts: dict[str, float] = {}
    import jax

    def listen(event: str, seconds: float, **_):
        kind = {"jaxpr_trace_duration": "trace", "jaxpr_to_mlir_module_duration": "lower"}.get(event.split("/")[-1])
        kind = "compile" if event.endswith("backend_compile_duration") else kind
        if kind:
            parts[kind] = parts.get(kind, 0.0) + seconds

    jax.monitoring.register_event_duration_secs_listener(listen)
    import equinox as eqx
    import jax.numpy as jnp

    import jaxmb as mb
    from jaxmb.mechanisms import get_mechanism

    mechanism = get_mechanism(name)
    system, state = mechanism.build()
    t1 = 0.05 * mechanism.t1

    def end(system):
        return jnp.sum(mb.simulate(system, state, t1=t1, singular="pass").q[-1] ** 2)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the governor is stiff
        if what == "simulate":
            jax.block_until_ready(mb.simulate(system, state, t1=t1, singular="pass").q)
        else:
            jax.block_until_ready(eqx.filter_jit(eqx.filter_value_and_grad(end))(system)[0])
    print(json.dumps(parts))


def wait(name: str, what: str, cache: str) -> tuple[float, dict[str, float]]:
    """Wall clock (s) of a process that makes one result."""
    started = time.perf_counter()
    command = [sys.executable, __file__, "--child", what, name]
    out = subprocess.run(command, env=os.environ | {"JAXMB_CACHE": cache}, capture_output=True, text=True, check=True)
    return time.perf_counter() - started, json.loads(out.stdout)


def measure(name: str, what: str, repeats: int) -> dict[str, tuple[float, dict[str, float]]]:
    """Medians over processes, and the parts of the last one."""
    found: dict[str, list] = {"empty": [], "warm": []}
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as cache:
            for state in found:
                found[state].append(wait(name, what, cache))
    return {state: (statistics.median(x[0] for x in runs), runs[-1][1]) for state, runs in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--child", choices=("simulate", "gradient"))
    options = parser.parse_args()
    if options.child:
        return child(options.names[0], options.child)
    from jaxmb.mechanisms import MECHANISMS

    names = options.names or list(MECHANISMS)
    columns = ("mechanism", "what", "empty cache", "trace", "lower", "compile", "warm cache", "asked")
    table = Table(*columns, title="Seconds from the start of the process to the first result")
    cases = [(name, "simulate") for name in names] + [(name, "gradient") for name in names if name in GRADIENTS]
    for name, what in cases:
        found = measure(name, what, options.repeats)
        (empty, parts), (warm, _) = found["empty"], found["warm"]
        asked = [ASKED[what, state] for state in ("empty", "warm")]
        verdict = "reached" if empty <= asked[0] and warm <= asked[1] else "not reached"
        split = [f"{parts.get(part, 0.0):.1f}" for part in ("trace", "lower", "compile")]
        table.add_row(name, what, f"{empty:.1f}", *split, f"{warm:.1f}", f"{asked[0]:g}, {asked[1]:g}: {verdict}")
    Console(width=140).print(table)
    return None


if __name__ == "__main__":
    main()
