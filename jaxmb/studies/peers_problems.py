"""The problems on which other engines are run next to jaxmb, with the errors at which run times are compared."""

from typing import NamedTuple

from ..errors import ModelError, did_you_mean
from .iftomm_problems import PROBLEMS as IFTOMM
from .iftomm_problems import Problem


class PeerProblem(NamedTuple):
    problem: Problem
    goal: float
    """The error (m) at which run times are compared."""
    pair: str = "Dopri8"
    """With what jaxmb is run, at the levels of the problem."""

    @property
    def levels(self) -> tuple[float, ...]:
        return self.problem.levels[self.pair]


def _strut(kind: str) -> PeerProblem:
    levels = {"Dopri8": tuple(float(f"1e-{k}") for k in range(4, 12))}
    outputs, speeds = ("y5_rack", "P8x", "P8y", "P8z"), ("ydot5",)
    goals = (1e-3, 1e-6, 1e-8)
    name = f"mcpherson-{kind}"
    return PeerProblem(
        Problem(f"McPherson strut, {kind}", name, "smooth", outputs, speeds, goals, ("Dopri8", 1e-10), levels), 1e-6
    )


PROBLEMS: dict[str, PeerProblem] = {
    "a01": PeerProblem(IFTOMM["a01"], 1e-7),
    "a02-2": PeerProblem(IFTOMM["a02-2"], 2e-6),
    "a02-10": PeerProblem(IFTOMM["a02-10"], 1e-6),
    "a02-40": PeerProblem(IFTOMM["a02-40"], 1e-4),
    "a03": PeerProblem(IFTOMM["a03"], 6e-7),
    "a04": PeerProblem(IFTOMM["a04"], 5e-6),
    "a05": PeerProblem(IFTOMM["a05"], 1e-5, "Radau"),
    "mcpherson-simplified": _strut("simplified"),
    "mcpherson-overconstrained": _strut("overconstrained"),
}
#: What `quick` leaves out unless it is named: problems that take minutes.
LONG = ("a02-10", "a02-40", "a05")


def find_peer_problem(key: str) -> PeerProblem:
    """A problem by its name, as a02-10."""
    if key not in PROBLEMS:
        raise ModelError(
            f"bench peers was asked for the problem '{key}', which does not exist. There are: {', '.join(PROBLEMS)}."
            f"{did_you_mean(key, PROBLEMS)}"
        )
    return PROBLEMS[key]
