"""How the cost of a right-hand side grows with the number of bodies: N-four-bar ladders and spatial chains.

python benchmarks/growth.py [N ...]
"""

import sys
import time

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from rich.console import Console
from rich.table import Table

import jaxmb as mb
from jaxmb.analyses.choices import solves_by_blocks, start_null
from jaxmb.integrators.field import Carried, Field
from jaxmb.mechanisms.n_four_bar import n_four_bar

SIZES = (5, 10, 20, 50, 100, 200, 500)
#: The exponent is that of a line through the times from here on.
FROM = 20
REPEATS = 7


def ladder(N: int):
    """IFToMM A02 with N windows, at its start."""
    system = n_four_bar(windows=N)
    return system, system.state()


def chain(N: int):
    """N rods hinged in turn about y and z, hanging from the ground."""
    bodies = {f"rod{k}": mb.rod((k, 0, 0), (k + 1, 0, 0), mass=1.0, radius=0.05) for k in range(N)}
    names = ["ground", *bodies]
    joints = {f"hinge{k}": mb.Revolute(names[k], names[k + 1], point=(k, 0, 0), axis="yz"[k % 2]) for k in range(N)}
    system = mb.System(bodies, joints, {"gravity": mb.Gravity()})
    return system, system.state()


def measure(system, state) -> tuple[float, float]:
    """Microseconds of a right-hand side, and seconds until it was compiled."""
    started = time.perf_counter()

    @eqx.filter_jit
    def begin(system, state):
        equations = system.equations()
        by_blocks = solves_by_blocks(equations, mb.Deflated(), mb.Projection(), diffrax.Dopri8(), None, None)
        return equations, start_null(equations.terms(state.t, state.q, state.v).jacobian, by_blocks)

    equations, null = begin(system, state)
    loops = max(10, 20_000 // len(system.bodies))

    @eqx.filter_jit
    def loop(equations, null, v):
        field, zero = Field(equations, mb.Deflated(), mb.NoStabilization()), jnp.zeros(())

        def body(_, v):
            return v + 1e-30 * field(state.t, (state.q + 1e-30 * v[0], v, zero, zero), Carried(null, ()))[1]

        return jax.lax.fori_loop(0, loops, body, v)

    jax.block_until_ready(loop(equations, null, state.v))
    ready = time.perf_counter() - started
    times = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        jax.block_until_ready(loop(equations, null, state.v))
        times.append(time.perf_counter() - started)
    return 1e6 * min(times) / loops, ready


def main() -> None:
    sizes = tuple(int(x) for x in sys.argv[1:]) or SIZES
    console = Console(width=120)
    for name, build in (("ladder (A02)", ladder), ("spatial chain", chain)):
        table = Table("N", "speeds", "rows", "us / right-hand side", "us / N", "s to compile", title=name)
        found = []
        for N in sizes:
            system, state = build(N)
            us, ready = measure(system, state)
            found.append(us)
            rows = len(system.equations().row_names)
            table.add_row(*(str(x) for x in (N, state.v.size, rows)), f"{us:.1f}", f"{us / N:.2f}", f"{ready:.1f}")
        console.print(table)
        large = [(N, us) for N, us in zip(sizes, found, strict=True) if N >= FROM]
        if len(large) > 1:
            exponent = np.polyfit(*np.log(np.array(large)).T, 1)[0]
            console.print(f"Exponent from N = {FROM} on: {exponent:.2f}\n")


if __name__ == "__main__":
    main()
