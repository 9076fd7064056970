"""The command line."""

import math
import re
from typing import Annotated

import diffrax
import typer
from rich.console import Console
from rich.table import Table

from .analyses.redundancy import redundancy
from .coordinates import EulerAngles, EulerParameters, Planar, Quaternion
from .errors import ModelError, SimulationError, did_you_mean
from .formulations import ALL_FORMULATIONS
from .io.text import require_folder, write_text
from .mechanisms import MECHANISMS, get_mechanism
from .papers import PAPERS, find
from .studies.catalog import compare_mechanism
from .studies.compare import STABILIZATIONS
from .studies.iftomm import run_iftomm
from .studies.iftomm_problems import find_problem
from .studies.peers import find_peer, run_peers
from .studies.peers_problems import find_peer_problem
from .system import System
from .view.iftomm import iftomm_report
from .view.peers import peers_report

app = typer.Typer(
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    help="Mechanisms with redundant constraints, in JAX.",
)
bench = typer.Typer(no_args_is_help=True, help="Benchmarks: error over cost of solvers and formulations.")
app.add_typer(bench, name="bench")

COORDINATES = (Quaternion(), EulerParameters(), EulerAngles(), Planar())
SOLVERS = (diffrax.Dopri5(), diffrax.Tsit5(), diffrax.Dopri8(), diffrax.Bosh3())


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


def numbers(text: str, what: str) -> tuple[float, ...]:
    """Positive numbers from a comma-separated list."""
    try:
        values = tuple(float(part) for part in text.split(","))
    except ValueError:
        values = ()
    if not values or not all(0 < x < math.inf for x in values):
        raise ModelError(f"Asked for {what} '{text}'. Give positive numbers with commas between, as 1e-3,1e-6.")
    return values


@app.command("compare")
def compare_command(
    mechanism: Annotated[str, typer.Argument(help="Name of a mechanism; `jaxmb mechanisms` lists them.")],
    tolerances: Annotated[
        str, typer.Option(help="Comma-separated relative and absolute tolerances of the integrator, as 1e-3,1e-6.")
    ] = "1e-6",
    t1: Annotated[float | None, typer.Option(help="End time in s (default: that of the published run).")] = None,
    formulations: Annotated[
        str | None, typer.Option(help="Comma-separated, as udwadia-kalaba,kkt-pinv (default: all).")
    ] = None,
    stabilizations: Annotated[
        str, typer.Option(help="Comma-separated: no-stabilization, baumgarte, coordinate-partitioning, projection.")
    ] = "no-stabilization,baumgarte,coordinate-partitioning,projection",
    coordinates: Annotated[
        str | None,
        typer.Option(
            help="Comma-separated: quaternion, euler-parameters, euler-angles, planar; or 'published', those of the paper "
            "(default: as built)."
        ),
    ] = None,
    solvers: Annotated[str, typer.Option(help="Comma-separated: dopri5, tsit5, dopri8, bosh3.")] = "dopri5",
    repeats: Annotated[int, typer.Option(min=1, help="Timed runs per cell; the median is shown.")] = 3,
    max_steps: Annotated[int, typer.Option(min=1, help="A run that needs more steps than this has failed.")] = 1000,
    singular: Annotated[str, typer.Option(help="At singular configurations: stop, or pass unchecked.")] = "stop",
    csv: Annotated[str | None, typer.Option(help="Also write the table to this CSV file.")] = None,
    json: Annotated[str | None, typer.Option(help="Also write the table to this JSON file.")] = None,
    html: Annotated[str | None, typer.Option(help="Also write a report with plots to this HTML file.")] = None,
) -> None:
    """Run the formulations of the literature side by side on one mechanism.

    Example: jaxmb compare mcpherson-overconstrained --stabilizations projection --html strut.html
    """
    entry = get_mechanism(mechanism)
    chosen_tolerances = numbers(tolerances, "tolerances")
    for path in (csv, json, html):
        require_folder(path or ".")
    chosen_coordinates = None
    if coordinates == "published":
        chosen_coordinates = None if entry.published is None else [entry.published]
    elif coordinates is not None:
        chosen_coordinates = choose(coordinates, COORDINATES, "coordinates")
    end = entry.t1 if t1 is None else t1
    result = compare_mechanism(
        entry,
        t1=end,
        formulations=choose(formulations, ALL_FORMULATIONS, "formulation"),
        stabilizations=choose(stabilizations, STABILIZATIONS, "stabilization"),
        coordinates=chosen_coordinates,
        solvers=choose(solvers, SOLVERS, "solver"),
        tolerances=chosen_tolerances,
        repeats=repeats,
        max_steps=max_steps,
        singular=singular,
        title=f"{entry.name}: {end:g} s, {solvers}, tolerance {tolerances}",
        progress=True,
    )
    Console().print(result.table())
    for path, text in ((csv, result.to_csv), (json, result.to_json), (html, result.to_html)):
        if path is not None:
            write_text(path, text())
            Console(stderr=True).print(f"wrote {path}")


@app.command("paper")
def paper_command(
    key: Annotated[str, typer.Argument(help="pf, pyh, c, n or kbe.")],
    out: Annotated[str | None, typer.Option(help="HTML report (default: the key with .html, here).")] = None,
    markdown: Annotated[str | None, typer.Option(help="Also write the report without figures to this file.")] = None,
) -> None:
    """Run the experiment of a paper and write a report: its tables beside ours, its claims with our verdicts.

    Example: jaxmb paper pf --out pf.html
    """
    paper = find(PAPERS, key)
    path = f"{key}.html" if out is None else out
    for wanted in (path, markdown):
        require_folder(wanted or ".")
    report = paper.experiment(True)
    write_text(path, report.html())
    if markdown is not None:
        write_text(markdown, report.markdown())
    table = Table("claim", "verdict", "number", title=paper.title, title_justify="left")
    for claim in report.claims:
        color = {"holds": "green", "does not hold": "red"}.get(claim.verdict, "yellow")
        table.add_row(claim.text, f"[{color}]{claim.verdict}[/{color}]", claim.number)
    Console().print(table)
    Console(stderr=True).print(f"wrote {path}")


@bench.callback()
def bench_group() -> None:
    """Benchmarks: error over cost of solvers and formulations."""


@bench.command("iftomm")
def iftomm_command(
    problems: Annotated[
        str | None,
        typer.Option(help="Comma-separated: a01, a02-1, a02-2, a02-10, a02-40, a03, a04, a05 (default: all)."),
    ] = None,
    out: Annotated[str, typer.Option(help="HTML report with the curves.")] = "iftomm.html",
    json: Annotated[str | None, typer.Option(help="Also write all numbers to this JSON file.")] = None,
    csv: Annotated[str | None, typer.Option(help="Also write all numbers to this CSV file.")] = None,
    markdown: Annotated[str | None, typer.Option(help="Also write the report without figures to this file.")] = None,
    repeats: Annotated[int, typer.Option(min=1, help="Timed runs per point; the median is shown.")] = 5,
    quick: Annotated[
        bool, typer.Option("--quick", help="Two tolerances per pair, run once, without long problems.")
    ] = False,
) -> None:
    """Run the IFToMM problems A01 to A05: error over cost of each solver, and the cheapest run below each error.

    All of them take about half an hour, most of it compilation and A02 with N = 40. Times are steadier with
    OPENBLAS_NUM_THREADS=1 in the environment: matrices of this size gain nothing from threads, and on a busy machine lose much.

    Example: jaxmb bench iftomm --problems a01,a04 --quick --out iftomm.html
    """
    chosen = None if problems is None else list(dict.fromkeys(part.strip() for part in problems.split(",")))
    for key in chosen or ():
        find_problem(key)
    for path in (out, json, csv, markdown):
        require_folder(path or ".")
    found = run_iftomm(chosen, repeats=repeats, quick=quick, progress=True)
    report = iftomm_report(found)
    Console().print(found.table())
    for path, text in ((out, report.html), (json, found.to_json), (csv, found.to_csv), (markdown, report.markdown)):
        if path is not None:
            write_text(path, text())
            Console(stderr=True).print(f"wrote {path}")


@bench.command("peers")
def peers_command(
    problems: Annotated[
        str | None,
        typer.Option(
            help="Comma-separated: a01, a02-2, a02-10, a02-40, a03, a04, a05, mcpherson-simplified, mcpherson-overconstrained "
            "(default: all)."
        ),
    ] = None,
    engines: Annotated[
        str | None, typer.Option(help="Comma-separated: exudyn, mujoco, pinocchio, scipy (default: all).")
    ] = None,
    out: Annotated[str, typer.Option(help="HTML report with the curves.")] = "peers.html",
    json: Annotated[str | None, typer.Option(help="Also write all numbers to this JSON file.")] = None,
    csv: Annotated[str | None, typer.Option(help="Also write all numbers to this CSV file.")] = None,
    markdown: Annotated[str | None, typer.Option(help="Also write the report without figures to this file.")] = None,
    repeats: Annotated[int, typer.Option(min=1, help="Timed runs per point; the median is shown.")] = 5,
    quick: Annotated[bool, typer.Option("--quick", help="Run each point once, without long problems.")] = False,
) -> None:
    """Run jaxmb next to other engines, all on one core: error over run time, and ratios of run times at equal error.

    Engines that are not installed are reported and left out; pip install exudyn mujoco pin for all of them. Set
    OPENBLAS_NUM_THREADS=1 in the environment: threads that share one core wait for each other.

    Example: jaxmb bench peers --problems a01,a04 --engines exudyn,mujoco --out peers.html
    """
    chosen, named = (
        None if text is None else list(dict.fromkeys(part.strip() for part in text.split(",")))
        for text in (problems, engines)
    )
    for key in chosen or ():
        find_peer_problem(key)
    for name in named or ():
        find_peer(name)
    for path in (out, json, csv, markdown):
        require_folder(path or ".")
    found = run_peers(chosen, engines=named, repeats=repeats, quick=quick, progress=True)
    report = peers_report(found)
    Console().print(found.table())
    for path, text in ((out, report.html), (json, found.to_json), (csv, found.to_csv), (markdown, report.markdown)):
        if path is not None:
            write_text(path, text())
            Console(stderr=True).print(f"wrote {path}")


@app.command("check")
def check_command(
    mechanism: Annotated[str, typer.Argument(help="Name of a mechanism; `jaxmb mechanisms` lists them.")],
) -> None:
    """Say what can move, which constraints are redundant, and which reactions are unique.

    Exit code 0: clean; 1: redundant or in a singular configuration; 2: the constraints contradict each other.

    Example: jaxmb check mcpherson-overconstrained
    """
    entry = get_mechanism(mechanism)
    system, state = entry.build()
    if not isinstance(system, System):
        raise ModelError(
            f"jaxmb check was asked for '{mechanism}', which is written in generalized coordinates and has no joints. Ask for "
            "a mechanism of bodies and joints."
        )
    report = redundancy(system, state)
    typer.echo(f"{entry.name}: {entry.summary}\n\n{report}")
    raise typer.Exit(report.exit_code)


@app.command("mechanisms")
def mechanisms_command() -> None:
    """List the mechanisms of the literature. Example: jaxmb mechanisms"""
    table = Table("name", "what it is")
    for entry in MECHANISMS.values():
        table.add_row(entry.name, entry.summary)
    table.add_row("static-multipoint", "two bars on a rigid lever, statics, in `jaxmb paper n` [Newhart 2019]")
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
