"""The command line."""

import re
from typing import Annotated

import equinox as eqx
import typer
from rich.console import Console
from rich.table import Table

from .errors import ModelError, SimulationError, did_you_mean
from .formulations import ALL_FORMULATIONS
from .mechanisms import MECHANISMS, get_mechanism
from .studies.compare import STABILIZATIONS, compare, reference_error, write

app = typer.Typer(
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    help="Mechanisms with redundant constraints, in JAX.",
)

#: Columns of a reference that are loads or energies; the error of a motion does not count them.
LOADS = re.compile(r"^(R\d|M1|N2|lambda|rod_tension|E|phi_maxabs)")


def kebab(name: str) -> str:
    """UdwadiaKalaba -> udwadia-kalaba, KKTPinv -> kkt-pinv."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", name).lower()


def choose(names: str | None, members, kind: str):
    """The members named in a comma-separated list of kebab-case names; all of them without one."""
    if names is None:
        return tuple(members)
    known = {kebab(type(member).__name__): member for member in members}
    chosen = []
    for name in (part.strip() for part in names.split(",")):
        if name not in known:
            listing = ", ".join(known)
            raise ModelError(
                f"Asked for {kind} '{name}', which does not exist. There are: {listing}.{did_you_mean(name, known)}"
            )
        chosen.append(known[name])
    return tuple(chosen)


@app.command("compare")
def compare_command(
    mechanism: Annotated[str, typer.Argument(help="Name of a mechanism; `jaxmb mechanisms` lists them.")],
    rtol: Annotated[float, typer.Option(help="Relative and absolute tolerance of the integrator.")] = 1e-6,
    t1: Annotated[float | None, typer.Option(help="End time in s (default: that of the published run).")] = None,
    formulations: Annotated[
        str | None, typer.Option(help="Comma-separated, as udwadia-kalaba,kkt-pinv (default: all).")
    ] = None,
    stabilizations: Annotated[
        str, typer.Option(help="Comma-separated: no-stabilization, baumgarte, coordinate-partitioning, projection.")
    ] = "no-stabilization,baumgarte,coordinate-partitioning,projection",
    repeats: Annotated[int, typer.Option(min=1, help="Timed runs per cell; the median is shown.")] = 3,
    csv: Annotated[str | None, typer.Option(help="Also write the table to this CSV file.")] = None,
    json: Annotated[str | None, typer.Option(help="Also write the table to this JSON file.")] = None,
) -> None:
    """Run the formulations of the literature side by side on one mechanism.

    Example: jaxmb compare mcpherson-overconstrained --stabilizations projection
    """
    entry = get_mechanism(mechanism)
    chosen = choose(formulations, ALL_FORMULATIONS, "formulation")
    stabilized = choose(stabilizations, STABILIZATIONS, "stabilization")
    system, state = entry.build()
    end = entry.t1 if t1 is None else t1
    ts, error = None, None
    if entry.reference is not None:
        table = entry.read_reference()
        rows = table["t"] <= end
        reference = {name: column[rows] for name, column in table.items() if not LOADS.match(name)}
        ts, end = reference["t"], float(reference["t"][-1])
        # Compiled as a whole, what is not compared (reactions) is not computed.
        outputs = eqx.filter_jit(lambda sol: {k: x for k, x in entry.outputs(sol).items() if k in reference})
        error = reference_error(outputs, reference)
    result = compare(
        system, state, t1=end, ts=ts, formulations=chosen, stabilizations=stabilized, rtol=rtol, atol=rtol,
        error=error, repeats=repeats, title=f"{entry.name}: {end:g} s, tolerance {rtol:g}, Dopri5", progress=True,
    )  # fmt: skip
    Console().print(result.table())
    for path, text in ((csv, result.to_csv()), (json, result.to_json())):
        if path is not None:
            write(path, text)
            Console(stderr=True).print(f"wrote {path}")


@app.command("mechanisms")
def mechanisms_command() -> None:
    """List the mechanisms of the literature. Example: jaxmb mechanisms"""
    table = Table("name", "what it is")
    for entry in MECHANISMS.values():
        table.add_row(entry.name, entry.summary)
    Console().print(table)


@app.command("formulations")
def formulations_command() -> None:
    """List the formulations and what each can do. Example: jaxmb formulations"""
    table = Table("name", "exact", "redundant rows", "singular mass", "what it is")
    for member in ALL_FORMULATIONS:
        cls = type(member)
        marks = ["yes" if flag else "no" for flag in (cls.exact, cls.tolerates_redundancy, cls.tolerates_singular_mass)]
        table.add_row(kebab(cls.__name__), *marks, (cls.__doc__ or "").strip().splitlines()[0])
    Console().print(table)


def main() -> None:
    """Entry point: errors of the user are sentences, not tracebacks."""
    try:
        app()
    except (ModelError, SimulationError) as error:
        Console(stderr=True).print(f"[red]error:[/red] {error}", highlight=False)
        raise SystemExit(2) from None


if __name__ == "__main__":
    main()
