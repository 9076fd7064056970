"""Pekal and Fraczek 2016: five formulations, three stabilizations, two struts, four tolerances."""

import numpy as np

from ..coordinates import EulerAngles, EulerParameters
from ..formulations import KKT, KKTPinv, LeastSquares1, LeastSquares2, UdwadiaKalaba, UdwadiaPhohomsiri
from ..mechanisms import get_mechanism
from ..stabilization import Baumgarte, CoordinatePartitioning, NoStabilization
from ..studies.catalog import compare_mechanism
from ..studies.compare import describe
from ..studies.comparison import Cell, Comparison
from ..view.plots import constraint_norms, grouped_bars
from ..view.report import Block, Claim, Claims, Grid, Heading, Picture, Prose, Report, claim
from .paper import Paper, beside, corrections, distance, growth, instant, ratios

TITLE = "Pekal and Fraczek 2016: formulations for redundant constraints on a McPherson strut"
TOLERANCES = (1e-10, 1e-8, 1e-6, 1e-3)
METHODS = ("direct", "UdwadiaKalaba", "LeastSquares1", "LeastSquares2", "UdwadiaPhohomsiri")
STRUTS = {"simplified": KKT(), "overconstrained": KKTPinv()}
STABILIZATIONS = ("none", "Baumgarte", "partitioning")

#: Table 1: CPU time (s) of direct, UK, LS1, LS2, UP at 1e-10, 1e-8, 1e-6 and 1e-3.
PUBLISHED = {
    ("simplified", "none"): "3.10 3.55 3.58 3.78 3.95 1.33 1.45 1.41 1.50 1.59 .59 .60 .61 .63 .67 .29 .27 .27 .27 .29",
    (
        "overconstrained",
        "none",
    ): "4.70 3.62 3.63 3.77 4.02 1.92 1.46 1.48 1.52 1.64 .84 .61 .63 .64 .67 .40 .27 .27 .28 .30",
    ("simplified", "Baumgarte"): (
        "10.39 12.13 12.19 12.56 13.46 4.35 5.00 5.01 5.17 5.52 1.96 2.22 2.22 2.28 2.46 .88 .94 .94 .97 1.04"
    ),
    ("overconstrained", "Baumgarte"): (
        "15.69 12.27 12.37 12.80 13.54 6.51 5.09 5.14 5.31 5.67 2.90 2.55 2.29 2.32 2.49 1.27 1.00 .95 .98 1.33"
    ),
    ("simplified", "partitioning"): (
        "6.05 6.18 6.22 6.38 6.59 2.45 2.52 2.51 2.59 2.65 1.07 1.05 1.05 1.07 1.12 .48 .45 .47 .46 .47"
    ),
    ("overconstrained", "partitioning"): (
        "7.49 6.45 6.47 6.56 6.86 3.11 2.66 2.64 2.69 2.87 1.35 1.10 1.10 1.13 1.17 .60 .46 .47 .48 .49"
    ),
}


def published(strut: str, stabilization: str) -> np.ndarray:
    """A part of table 1: rows are tolerances, columns methods."""
    return np.array([float(x) for x in PUBLISHED[strut, stabilization].split()]).reshape(4, 5)


def run_strut(strut: str, *, t1: float = 10.0, progress: bool = False) -> dict[str, Comparison]:
    """The cells of one strut, by stabilization. All tolerances are one program."""
    formulations = (STRUTS[strut], UdwadiaKalaba(), LeastSquares1(), LeastSquares2(), UdwadiaPhohomsiri())
    mechanism = get_mechanism(f"mcpherson-{strut}")
    grouped: dict[str, tuple[Cell, ...]] = dict.fromkeys(STABILIZATIONS, ())
    for tolerance in TOLERANCES:
        # One partition for the whole run, and Newton to a thousandth of the tolerance.
        partitioning = CoordinatePartitioning(tolerance=1e-3 * tolerance, reselect=0.0)
        stabilizations = (NoStabilization(), Baumgarte(10.0, 10.0), partitioning)
        part = compare_mechanism(
            mechanism, t1=t1, formulations=formulations, coordinates=[EulerAngles("zxz")], tolerances=[tolerance],
            stabilizations=stabilizations, max_steps=100_000, progress=progress,
        )  # fmt: skip
        for name, chosen in zip(STABILIZATIONS, stabilizations, strict=True):
            grouped[name] += tuple(part.select(stabilization=describe(chosen)))
    return {name: Comparison(cells, f"{strut}, {name}") for name, cells in grouped.items()}


def times(part: Comparison) -> np.ndarray:
    """Run times: rows are tolerances, columns methods."""
    return np.array([cell.run_s for cell in part.cells]).reshape(4, 5)


def counts(part: Comparison) -> np.ndarray:
    """Evaluations of the right-hand side, as above."""
    return np.array([cell.right_hand_sides for cell in part.cells]).reshape(4, 5)


def experiment(progress: bool = False, t1: float = 10.0) -> Report:
    """Table 1, figures 3 to 11 and the claims, on runs up to `t1` (s)."""
    found = {
        (strut, name): part for strut in STRUTS for name, part in run_strut(strut, t1=t1, progress=progress).items()
    }
    blocks: list[Block] = [
        Prose(
            "Two McPherson struts of five bodies in absolute zxz Euler angles (30 speeds; 26 rows, or 31 rows of rank 26), 10 s, "
            "Dopri5 as in ode45. The direct method is LU of the KKT matrix for independent rows and its pseudoinverse for "
            "redundant ones. Partitioning keeps the partition of the start and iterates to a thousandth of the tolerance; it "
            "corrects after each accepted step, where the paper solves for the dependent coordinates at every evaluation. The paper prints no motion and its geometry had to be completed, so only ratios can be compared."
        ),
        Heading("Claims"),
        Claims([*_claims(found), *euler_parameter_claims(progress)]),
        Heading("Table 1"),
        *_table(found),
        Heading("Figures 3 to 8"),
    ]
    for (strut, name), part in found.items():
        title = f"{strut} strut, {'no stabilization' if name == 'none' else name}"
        blocks.append(Picture(f"Run time, {title}", grouped_bars(part, "run_s", "run time (s)", title)))
        bars = grouped_bars(part, "right_hand_sides", "evaluations of the right-hand side", title)
        blocks.append(Picture(f"Evaluations of the right-hand side, {title}", bars))
    blocks.append(Heading("Figures 9 to 11"))
    for strut in STRUTS:
        cells = [found[strut, name].select(formulation="LeastSquares2", tolerance=1e-10)[0] for name in STABILIZATIONS]
        title = f"{strut} strut, LeastSquares2, tolerance 1e-10"
        blocks.append(
            Picture("Norms of the constraints at three levels", constraint_norms(cells, STABILIZATIONS, title))
        )
    blocks += [Heading("Corrections"), _corrections(found)]
    return Report(TITLE, tuple(blocks))


def _table(found) -> list[Block]:
    grids = []
    for (strut, name), part in found.items():
        rows = [
            [f"{tolerance:g}", *beside(ratios(theirs), ratios(ours)), f"{ours[0]:.3f}", f"{count[0]}"]
            for tolerance, theirs, ours, count in zip(
                TOLERANCES, published(strut, name), times(part), counts(part), strict=True
            )
        ]
        caption = f"{strut} strut, {name}: run time relative to the direct method, published | ours"
        grids.append(Grid(caption, ("tolerance", *METHODS, "direct here (s)", "right-hand sides"), rows))
    return grids


def _claims(found) -> list[Claim]:
    same = {key: bool(np.all(counts(part) == counts(part)[:, :1])) for key, part in found.items()}
    plain, over = (np.concatenate([times(found[strut, s]) for s in STABILIZATIONS]) for strut in STRUTS)
    mean = {
        strut: np.exp(np.mean(np.log(x / x[:, :1]), axis=0)) for strut, x in zip(STRUTS, (plain, over), strict=True)
    }
    shown = {strut: ", ".join(f"{m} {x:.2f}" for m, x in zip(METHODS, mean[strut], strict=True)) for strut in STRUTS}
    best = {METHODS[k] for k in np.argsort(mean["overconstrained"])[:2]}
    fastest = int(np.sum(np.argmin(plain, axis=1) == 0))
    slowest = int(np.sum(np.argmax(over, axis=1) == 0))
    last = int(np.sum(np.argmax(plain, axis=1) == 4))
    tight = {
        s: found["overconstrained", s].select(formulation="LeastSquares2", tolerance=1e-10)[0] for s in STABILIZATIONS
    }
    grown = {s: growth(cell.history.position, 1e-13) for s, cell in tight.items()}
    drift = {
        s: np.max([c.violation_position for c in found["overconstrained", s].select(tolerance=1e-10)])
        for s in STABILIZATIONS
    }
    newton = [cell.newton_iterations / cell.steps for strut in STRUTS for cell in found[strut, "partitioning"].cells]
    if not all(cell.ok for part in found.values() for cell in part.cells):
        failed = sum(not cell.ok for part in found.values() for cell in part.cells)
        return [claim("All methods run", False, f"{failed} cells failed, so that nothing can be compared")]
    return [
        claim(
            "The number of right-hand sides is the same for all methods",
            all(same.values()),
            f"in {sum(same.values())} of {len(same)} cases; without stabilization "
            + ", ".join(f"{c:g}" for c in counts(found["simplified", "none"])[:, 0]) + " at 1e-10, 1e-8, 1e-6, 1e-3",
        ),
        claim("The direct method is the fastest for the simplified strut", int(np.argmin(mean["simplified"])) == 0,
              f"mean time relative to direct: {shown['simplified']}; fastest in {fastest} of 12 rows"),
        claim("It is the slowest for the overconstrained strut", int(np.argmax(mean["overconstrained"])) == 0,
              f"mean time relative to direct: {shown['overconstrained']}; slowest in {slowest} of 12 rows"),
        claim("Udwadia-Kalaba and least-squares 1 are best for the overconstrained strut",
              best == {"UdwadiaKalaba", "LeastSquares1"}, f"fastest two: {', '.join(sorted(best))}"),
        claim("Udwadia-Phohomsiri is the slowest for the simplified strut", int(np.argmax(mean["simplified"])) == 4,
              f"slowest in {last} of 12 rows"),
        claim(
            "Without stabilization the constraints drift",
            grown["none"] > 3 and drift["none"] > 10 * drift["Baumgarte"],
            f"|Phi| grows {grown['none']:.0f} times from the first to the last fifth of the run; largest {drift['none']:.1e} at 1e-10",
        ),
        claim(
            "There is no drift with either stabilization",
            max(grown["Baumgarte"], grown["partitioning"]) < 3,
            f"largest |Phi| at 1e-10: Baumgarte {drift['Baumgarte']:.1e}, partitioning {drift['partitioning']:.1e}; growth "
            f"{grown['Baumgarte']:.1f} and {grown['partitioning']:.1f} times",
        ),
        claim(
            "Newton's method takes 3 or 4 iterations",
            None,
            f"{min(newton):.2f} to {max(newton):.2f} per accepted step here, where the paper iterates at every evaluation",
        ),
    ]  # fmt: skip


def euler_parameter_claims(progress: bool = False) -> list[Claim]:
    """Which methods run with Euler parameters, whose mass matrix is singular; half a second is enough to see."""
    part = compare_mechanism(
        get_mechanism("mcpherson-overconstrained"), t1=0.5, coordinates=[EulerParameters()], repeats=1,
        formulations=(UdwadiaKalaba(), LeastSquares1(), LeastSquares2(), UdwadiaPhohomsiri()),
        stabilizations=[NoStabilization()], tolerances=[1e-8], progress=progress,
    )  # fmt: skip
    status = {cell.formulation: cell.status for cell in part.cells}
    error = {cell.formulation: cell.error for cell in part.cells}
    return [
        claim(
            "Udwadia-Kalaba and least-squares 1 fail with Euler parameters",
            all(status[name] == "singular_mass" for name in ("UdwadiaKalaba", "LeastSquares1")),
            f"status {status['UdwadiaKalaba']} and {status['LeastSquares1']}",
        ),
        claim(
            "Least-squares 2 and Udwadia-Phohomsiri do not",
            all(status[name] == "successful" for name in ("LeastSquares2", "UdwadiaPhohomsiri")),
            f"errors after 0.5 s at 1e-8: {error['LeastSquares2']:.0e} and {error['UdwadiaPhohomsiri']:.0e}",
        ),
    ]


def _corrections(found) -> Grid:
    simple, doubled = (_at_end(found[strut, "Baumgarte"], strut) for strut in STRUTS)
    E = np.eye(30) - np.linalg.pinv(simple.J) @ simple.J
    theirs = [published(strut, s)[:, 0] for strut in STRUTS for s in ("none", "partitioning", "Baumgarte")]
    printed = np.array(theirs).reshape(2, 3, 4)
    ours = np.array([times(found[strut, s])[:, 0] for strut in STRUTS for s in ("none", "partitioning", "Baumgarte")])
    ours = ours.reshape(2, 3, 4)
    right, wrong = _udwadia_kalaba(doubled)
    P = np.eye(30) - np.linalg.pinv(doubled.J, rcond=1e-9) @ doubled.J
    stacked = np.linalg.pinv(np.concatenate([P @ doubled.M, doubled.J]), rcond=1e-9)
    with_E, without = (stacked @ np.concatenate([x, doubled.gamma]) for x in (P @ doubled.Q, doubled.Q))
    return corrections(
        [
            ("after eq. 31", "full rank: A^+ A = I, E = 0", "full row rank: A A^+ = I, trace E = degrees of freedom",
             f"trace E = {np.trace(E):.12f}"),
            ("eq. 21", "M^-1/2 M^-1/2 with the Cholesky root", "M^-1/2 (M^-1/2)'",
             f"accelerations off by {wrong:.1e} as printed, {right:.0e} corrected"),
            ("eq. 40 and 42", "E (Q + C) in one, Q + C in the other", "no error: both give the same",
             f"difference {distance(with_E, without):.0e}"),
            ("section 4.2", "partitioning takes half as long as no stabilization",
             "about twice as long, and half of Baumgarte",
             f"table 1: {np.mean(printed[:, 1] / printed[:, 0]):.2f} and {np.mean(printed[:, 1] / printed[:, 2]):.2f} times; "
             f"here {np.mean(ours[:, 1] / ours[:, 0]):.2f} and {np.mean(ours[:, 1] / ours[:, 2]):.2f}"),
            ("eq. 11", "pseudoinverse without a cut-off", "five singular values are rounding; a cut-off must be given",
             f"{int(np.sum(np.linalg.eigvalsh(doubled.J @ doubled.J.T) < 1e-12))} of 31 eigenvalues of J J' below 1e-12"),
        ]
    )  # fmt: skip


def _at_end(part: Comparison, strut: str):
    """The equations at the end of a run, where M is not diagonal, with the consistent part of all speeds 0.1."""
    system, state = get_mechanism(f"mcpherson-{strut}").build(coordinates=EulerAngles("zxz"))
    history = part.select(formulation="LeastSquares2", tolerance=1e-10)[0].history
    t, q = history.t[-1], history.q[-1]
    J = instant(system, t, q, state.v).J
    v = (np.eye(30) - np.linalg.pinv(J, rcond=1e-9) @ J) @ np.full(30, 0.1)
    return instant(system, t, q, v)


def _udwadia_kalaba(x) -> tuple[float, float]:
    """Errors of a = a_f + M^-1/2 D^+ (gamma - J a_f) with the right root and the printed one."""
    L = np.linalg.cholesky(x.M)
    root = np.linalg.inv(L).T  # M^-1 = root root'
    a_free = np.linalg.solve(x.M, x.Q)
    out = []
    for R in (root, root.T):
        D = x.J @ R
        out.append(distance(a_free + R @ np.linalg.pinv(D, rcond=1e-9) @ (x.gamma - x.J @ a_free), x.accelerations))
    return out[0], out[1]


PAPER = Paper("pf", TITLE, experiment)
