"""Park, Yoo and Hwang 2000: the partial velocity matrix against coordinate partitioning and constraint stabilization."""

import numpy as np
from matplotlib.figure import Figure

from ..analyses.simulate import simulate
from ..formulations import EXACT_FORMULATIONS, KKT, PartialVelocities
from ..mechanisms import get_mechanism
from ..stabilization import Baumgarte, CoordinatePartitioning, Projection
from ..studies.catalog import compare_mechanism
from ..studies.comparison import Cell, Comparison
from ..view.plots import FLOOR, legend, new_figure
from ..view.report import Block, Claim, Claims, Grid, Heading, Picture, Prose, Report, claim
from .paper import Instant, Paper, corrections, distance, instant, passages

TITLE = "Park, Yoo and Hwang 2000: partial velocity matrix for constrained systems"
METHODS = ("proposed", "GCP", "CS")
GAIN = 10.0
#: CPU ratio, function evaluations and average step (s) of proposed, GCP and CS (tables 1 and 2; table 3 has no steps).
TABLES_1_2 = {
    ("double-pendulum", 5.0): ((1.00, 96, 0.052), (1.70, 96, 0.052), (1.10, 140, 0.035)),
    ("double-pendulum", 10.0): ((1.00, 151, 0.066), (1.65, 152, 0.066), (1.65, 283, 0.035)),
    ("double-pendulum", 50.0): ((1.00, 625, 0.080), (1.86, 607, 0.082), (2.17, 1313, 0.038)),
    ("four-bar-case-1", 10.0): ((1.00, 303, 0.033), (1.60, 295, 0.034), (2.31, 699, 0.014)),
    ("four-bar-case-2", 10.0): ((1.00, 311, 0.032), (1.60, 311, 0.032), (1.80, 707, 0.014)),
}
#: By tolerance of the integrator and of the positions.
TABLE_3 = {
    (1e-5, 1e-3): ((1.00, 210), (1.68, 210), (3.59, 662)),
    (1e-3, 1e-3): ((1.00, 157), (1.58, 157), (2.76, 399)),
    (1e-3, 1e-5): ((1.00, 154), (1.33, 152), (1.80, 399)),
}
#: Tolerance of the first two examples, which the paper does not print.
TOLERANCE = 1e-5


def run_methods(name: str, t1: float, tolerance: float, positions: float, **options) -> dict[str, Cell]:
    """The three methods on one example: one program for all tolerances."""
    partitioning = CoordinatePartitioning(tolerance=positions)
    pairs = [(PartialVelocities(), partitioning), (KKT(), partitioning), (KKT(), Baumgarte(GAIN, GAIN))]
    part = compare_mechanism(
        get_mechanism(name), t1=t1, pairs=pairs, tolerances=[tolerance], repeats=7, max_steps=20_000, **options
    )
    return dict(zip(METHODS, part.cells, strict=True))


def experiment(progress: bool = False) -> Report:
    """Tables 1 to 3, the singular four-bar and the reaction N2y."""
    first = {key: run_methods(*key, TOLERANCE, TOLERANCE, progress=progress) for key in TABLES_1_2}
    spatial = {key: run_methods("spatial-four-bar", 10.0, *key, progress=progress) for key in TABLE_3}
    passing = singular_cells(progress)
    reaction = _reaction()
    blocks: list[Block] = [
        Prose(
            "Proposed: partial velocities; GCP: KKT with generalized coordinate partitioning; CS: KKT with Baumgarte's constraint "
            f"stabilization. The integrator of the paper is not named (it is of Adams type); here it is Dopri5. The gains of CS are "
            f"not printed: alpha = beta = {GAIN:g} 1/s here. The first two examples are run at {TOLERANCE:g}."
        ),
        Heading("Claims"),
        Claims(_claims(first, spatial, passing, reaction)),
        Heading("Tables 1 and 2"),
        _tables_1_2(first),
        Heading("Table 3"),
        _table_3(spatial),
        Heading("The singular four-bar"),
        Prose(
            "As printed, case I never reaches y2 = 0. With gravity it does, first at 0.83 s and six times in 10 s. By default a run "
            "stops there and names the joints; the table shows what each method does when it is told to go on (singular='pass')."
        ),
        passages("10 s: largest error to the parallelogram branch, or how the run ended", passing),
        Picture("Figure 4: y2 over time with gravity", _paths(passing)),
        Heading("The reaction N2y"),
        Picture("Figure 8: reaction at the spherical joint on link 2", _reaction_figure(reaction)),
        Heading("Corrections"),
        _corrections(reaction[-1]),
    ]
    return Report(TITLE, tuple(blocks))


def singular_cells(progress: bool = False) -> Comparison:
    """What each method does at the singular configurations of case I with gravity, when it is told to go on."""
    return compare_mechanism(
        get_mechanism("four-bar-case-1-gravity"), formulations=EXACT_FORMULATIONS, repeats=1,
        tolerances=[1e-5, 1e-9], stabilizations=[CoordinatePartitioning(), Baumgarte(GAIN, GAIN), Projection()],
        max_steps=20_000, singular="pass", progress=progress,
    )  # fmt: skip


def _tables_1_2(found) -> Grid:
    rows = []
    for (name, t1), theirs in TABLES_1_2.items():
        cells = found[name, t1]
        for method, (ratio, count, step) in zip(METHODS, theirs, strict=True):
            cell = cells[method]
            rows.append([
                f"{name}, {t1:g} s", method, f"{ratio:.2f} | {cell.run_s / cells['proposed'].run_s:.2f}",
                f"{count} | {cell.right_hand_sides}", f"{count / theirs[0][1]:.2f} | {_count_ratio(cells, method):.2f}",
                f"{step:.3f} | {t1 / cell.right_hand_sides:.3f}", f"{cell.error:.0e}",
            ])  # fmt: skip
    header = ("example", "method", "time ratio", "evaluations", "their ratio", "time per evaluation (s)", "error")
    caption = "Published | ours; the average step of the paper is the time simulated per evaluation"
    return Grid(caption, header, rows)


def _table_3(found) -> Grid:
    rows = []
    for (tolerance, positions), theirs in TABLE_3.items():
        cells = found[tolerance, positions]
        for method, (ratio, count) in zip(METHODS, theirs, strict=True):
            cell = cells[method]
            rows.append([
                f"{tolerance:g}, {positions:g}", method, f"{ratio:.2f} | {cell.run_s / cells['proposed'].run_s:.2f}",
                f"{count} | {cell.right_hand_sides}", f"{count / theirs[0][1]:.2f} | {_count_ratio(cells, method):.2f}",
                f"{cell.error:.0e}",
            ])  # fmt: skip
    header = ("tolerances", "method", "time ratio", "evaluations", "their ratio", "error")
    return Grid("Spatial four-bar, 10 s, published | ours; tolerances of integrator and positions", header, rows)


def _count_ratio(cells: dict[str, Cell], method: str) -> float:
    return cells[method].right_hand_sides / cells["proposed"].right_hand_sides


def _claims(first, spatial, passing: Comparison, reaction) -> list[Claim]:
    everything = [*first.values(), *spatial.values()]
    gcp = [cells["GCP"].run_s / cells["proposed"].run_s for cells in everything]
    cs = [cells["CS"].run_s / cells["proposed"].run_s for cells in everything]
    same = [abs(_count_ratio(cells, "GCP") - 1) for cells in everything]
    more = [_count_ratio(cells, "CS") for cells in everything]
    spurious = passing.select(formulation="KKT", stabilization="Baumgarte", tolerance=1e-5)[0]
    (proposed,) = passing.select(
        formulation="PartialVelocities", stabilization="CoordinatePartitioning", tolerance=1e-5
    )
    lost = [c for c in passing.cells if not c.ok or c.error > 1e-2]
    _, found, truth, _ = reaction
    lowest = float(np.min(get_mechanism("four-bar-case-1").read_reference()["y2"]))
    return [
        claim("The proposed method is faster than GCP (1.33 to 1.86 times)", min(gcp) > 1,
              f"GCP takes {min(gcp):.2f} to {max(gcp):.2f} times as long, mean {np.mean(gcp):.2f}"),
        claim("It is faster than CS (1.10 to 3.59 times)", min(cs) > 1,
              f"CS takes {min(cs):.2f} to {max(cs):.2f} times as long, mean {np.mean(cs):.2f}"),
        claim("GCP needs as many evaluations as the proposed method", max(same) < 0.05,
              f"counts differ by at most {100 * max(same):.0f} %"),
        claim("CS needs more evaluations (1.5 to 3.2 times)", min(more) > 1.0,
              f"{min(more):.2f} to {max(more):.2f} times as many"),
        claim("In case I as printed the mechanism becomes singular", lowest <= 0,
              f"y2 never falls below {lowest:.3f} m; it does with gravity"),
        claim("At a singular configuration CS gives a spurious motion", True if not spurious.ok or spurious.error > 0.1 else None,
              f"with gravity at 1e-5: status {spurious.status}, error {spurious.error:.1e}; its gains and integrator are not printed"),
        claim("The proposed method passes it", proposed.ok and proposed.error < 1e-2,
              f"with partitioning at 1e-5: {proposed.status}, error {proposed.error:.0e}; of all {len(passing.cells)} cells "
              f"{len(lost)} fail or leave the branch"),
        claim("Reactions follow from the partition (N2y)", float(np.max(np.abs(found - truth))) < 1e-3 * float(np.max(np.abs(truth))),
              f"largest error of N2y {np.max(np.abs(found - truth)):.1e} N of {np.max(np.abs(truth)):.1f} N at 1e-8"),
    ]  # fmt: skip


def _paths(passing: Comparison):
    """All paths look the same, so that their differences are shown below them."""
    figure = Figure(figsize=(9.5, 6.0), layout="constrained")
    axes, below = figure.subplots(2, 1, sharex=True)
    reference = get_mechanism("four-bar-case-1-gravity").read_reference()
    axes.plot(reference["t"], reference["y2"], "k", lw=5, alpha=0.3, label="parallelogram branch")
    chosen = (("PartialVelocities", "CoordinatePartitioning"), ("KKT", "Baumgarte"), ("Deflated", "Projection"))
    for (formulation, stabilization), width in zip(chosen, (3.0, 2.0, 1.0), strict=True):
        (cell,) = passing.select(formulation=formulation, stabilization=stabilization, tolerance=1e-5)
        y2 = cell.history.q[:, 4]
        axes.plot(cell.history.t, y2, lw=width, label=f"{formulation} +\n{stabilization}")
        below.semilogy(cell.history.t[1:], np.maximum(np.abs(y2 - reference["y2"])[1:], FLOOR), lw=1.1)
    axes.set(ylabel="y2 (m)", title="case I with gravity, tolerance 1e-5")
    below.set(xlabel="time (s)", ylabel="|y2 - branch| (m)")
    for panel in (axes, below):
        panel.grid(alpha=0.3)
    legend(axes)
    return figure


def _reaction() -> tuple[np.ndarray, np.ndarray, np.ndarray, Instant]:
    """Times, N2y by partial velocities and the trusted one, and the equations at the end."""
    mechanism = get_mechanism("spatial-four-bar")
    reference = mechanism.read_reference()
    system, state = mechanism.build()
    sol = simulate(
        system, state, t1=10.0, ts=reference["t"], formulation=PartialVelocities(dof=1), rtol=1e-8, atol=1e-8,
        stabilization=CoordinatePartitioning(),
    )  # fmt: skip
    last = instant(system, sol.t[-1], sol.q[-1], sol.v[-1])
    return reference["t"], np.asarray(sol.reaction("C").force[:, 1]), reference["N2y"], last


def _reaction_figure(reaction):
    figure, axes = new_figure(9.5, 4.2)
    t, found, truth, _ = reaction
    axes.plot(t, found, lw=1.1, label="PartialVelocities")
    axes.plot(t, truth, "ko", ms=4, fillstyle="none", label="reference")
    axes.set(xlabel="time (s)", ylabel="N2y (N)", title="spatial four-bar, tolerance 1e-8")
    legend(axes)
    return figure


def _corrections(x: Instant) -> Grid:
    lam = np.linalg.lstsq(x.J.T, x.Q - x.M @ x.accelerations, rcond=None)[0]
    i = int(np.argmax(np.abs(np.linalg.svd(x.J)[2][-1])))
    d = np.delete(np.arange(18), i)
    B = np.zeros((18, 1))
    B[d], B[i] = -np.linalg.solve(x.J[:, d], x.J[:, [i]]), 1.0
    A = np.concatenate([B.T @ x.M, x.J])
    right = np.linalg.solve(A, np.concatenate([B.T @ x.Q, x.gamma]))
    wrong = np.linalg.solve(A, np.concatenate([B.T @ x.Q, 0 * x.gamma]))
    multipliers = np.linalg.solve(x.J[:, d].T, (x.Q - x.M @ right)[d])
    return corrections(
        [
            ("eq. 20", "R' M", "B' M with B = [-A_d^-1 A_i; I]",
             f"accelerations agree to {distance(right, x.accelerations):.0e} with B"),
            ("eq. 10", "right-hand side without gamma-bar", "gamma - 2 alpha Phi' - beta^2 Phi",
             f"accelerations off by {distance(wrong, x.accelerations):.1g} without gamma"),
            ("eq. 22 to 24", "dots lost, index of the block", "A_d' lam = (Q - M a)_d",
             f"multipliers agree to {distance(multipliers, lam):.0e}"),
            ("case I", "theta1 = 1.074", "probably 1.047 (60 degrees), as theta3 is in case II", "both are in the catalog"),
            ("table 2", "'Case I' twice", "the second is case II", "l0 = 1.9 m"),
            ("section 4.3", "lengths lost", "Haug 1989, section 12.3: 2, 12.2 and 7.4 m", "m L^2 / 12 gives the printed inertias"),
        ]
    )  # fmt: skip


PAPER = Paper("pyh", TITLE, experiment)
