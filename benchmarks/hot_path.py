"""Where each microsecond of a run goes: the pieces of a step, timed inside of a compiled loop.

python benchmarks/hot_path.py [mechanism ...]
"""

import sys
import time
from collections.abc import Callable

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
from rich.console import Console
from rich.table import Table

import jaxmb as mb
from jaxmb.analyses.choices import solves_by_blocks, start_null
from jaxmb.integrators.field import Carried, Field
from jaxmb.integrators.watch import watch
from jaxmb.mechanisms import get_mechanism

DEFAULT = ("bricard", "mcpherson-overconstrained", "andrews-squeezer", "n-four-bar-2", "n-four-bar-10", "n-four-bar-40")
#: Hand-written C++ for the right-hand side of Bricard's mechanism, its best row dropped by an oracle.
CPP_BRICARD = 6.9
LOOPS, REPEATS = 500, 9


def timer(function: Callable, x) -> Callable[[], float]:
    """What tells the microseconds of one call, in a loop in which each depends on the one before, so that none is left out."""

    @eqx.filter_jit
    def loop(x):
        def body(_, x):
            out = jax.tree.leaves(eqx.filter(function(x), eqx.is_inexact_array))
            return x + 1e-30 * sum(jnp.sum(leaf) for leaf in out)

        return jax.lax.fori_loop(0, LOOPS, body, x)

    def time_once() -> float:
        started = time.perf_counter()
        jax.block_until_ready(loop(x))
        return 1e6 * (time.perf_counter() - started) / LOOPS

    time_once()
    return time_once


def microseconds(function: Callable, x) -> float:
    """Of one call, the best of several."""
    time_once = timer(function, x)
    return min(time_once() for _ in range(REPEATS))


def pieces(name: str) -> dict[str, float]:
    """Microseconds of each piece, and of a right-hand side and a step in a whole run."""
    mechanism = get_mechanism(name)
    system, state = mechanism.build()
    t1 = 0.3 * mechanism.t1
    state = mb.simulate(system, state, t1=t1, singular="pass").final.state
    equations, projection = system.equations(), mb.Projection()
    field = Field(equations, mb.Deflated(), projection)
    t, q, v = state.t, state.q, state.v
    terms = eqx.filter_jit(equations.terms)(t, q, v)
    by_blocks = solves_by_blocks(equations, mb.Deflated(), projection, diffrax.Dopri8(), None, None)
    null = start_null(terms.jacobian, by_blocks)
    zero, carried = jnp.zeros(()), Carried(null, ())
    both, n = jnp.concatenate([q, v]), q.size  # all of the state changes from call to call, as in a run

    def correct(q, v):
        out = projection.correct(equations, t, q, v, equations.terms(t, q, v), null, ())
        return out.q, out.v, out.terms.Phi

    def refresh(s):
        return null.at(jax.tree.map(lambda x: (1.0 + s) * x, terms.jacobian))

    def watched(s):
        jacobian = jax.tree.map(lambda x: (1.0 + s) * x, terms.jacobian)
        _, too_far, watching = watch(null).step(null, null, jacobian, jnp.asarray(0.1), True)
        return too_far.astype(float), watching

    found = {
        "terms": microseconds(lambda x: equations.terms(t, x[:n], x[n:]), both),
        "solve": microseconds(
            lambda Q: mb.Deflated().particular(terms.mass, terms.jacobian, Q, terms.gamma, null).a, terms.Q
        ),
        "right-hand side": microseconds(lambda x: field(t, (x[:n], x[n:], zero, zero), carried), both),
        "two terms and the correction": microseconds(lambda x: correct(x[:n], x[n:]), both),
        "null space": microseconds(refresh, zero),
        "watch": microseconds(watched, zero),
    }
    return found | whole_run(system, mechanism)


def whole_run(system, mechanism) -> dict[str, float]:
    _, start = mechanism.build()

    def run():
        return mb.simulate(system, start, t1=mechanism.t1, singular="pass", rtol=1e-8, atol=1e-8)

    sol = run()
    times = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        jax.block_until_ready(run().q)
        times.append(time.perf_counter() - started)
    steps = int(sol.stats.steps) + int(sol.stats.rejected)
    return {"step": 1e6 * min(times) / steps, "run (ms)": 1e3 * min(times), "steps": float(steps)}


def main() -> None:
    names = sys.argv[1:] or DEFAULT
    columns = {name: pieces(name) for name in names}
    table = Table("microseconds of one call", *names, title="Dopri8 at 1e-8; a step has 14 right-hand sides")
    for row in next(iter(columns.values())):
        table.add_row(row, *(f"{columns[name][row]:.1f}" for name in names))
    console = Console(width=160)
    console.print(table)
    if "bricard" in columns:
        ratio = columns["bricard"]["right-hand side"] / CPP_BRICARD
        console.print(f"Right-hand side of bricard: {ratio:.2f} times that of hand-written C++ ({CPP_BRICARD} us).")


if __name__ == "__main__":
    main()
