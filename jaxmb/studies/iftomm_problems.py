"""The benchmark problems A01 to A05 of the IFToMM library: what is asked of each, and with what it is run.

The documented settings live here, once: the page, the command line and the tests read them.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import diffrax

from ..errors import ModelError, did_you_mean
from ..formulations import NullSpaceQR, UdwadiaKalaba
from ..integrators.adams import Adams
from ..integrators.generalized_alpha import GeneralizedAlpha
from ..integrators.radau import Radau
from ..integrators.rattle import Rattle


class Pair(NamedTuple):
    """A solver with a formulation (None: the default) and the stabilization that `simulate` chooses for it."""

    solver: diffrax.AbstractSolver
    formulation: Any = None
    fixed: bool = False
    """Whether its levels are step sizes (s) and not tolerances."""


#: By name. A new solver needs a line here, and one in the levels below.
PAIRS: dict[str, Pair] = {
    "Dopri8": Pair(diffrax.Dopri8()),
    "Tsit5": Pair(diffrax.Tsit5()),
    "Dopri5": Pair(diffrax.Dopri5()),
    "Adams": Pair(Adams()),
    "Radau": Pair(Radau()),
    "Kvaerno5": Pair(diffrax.Kvaerno5()),
    "GeneralizedAlpha": Pair(GeneralizedAlpha()),
    "Rattle": Pair(Rattle(), fixed=True),
    "Dopri8, UdwadiaKalaba": Pair(diffrax.Dopri8(), UdwadiaKalaba()),
    "Dopri8, NullSpaceQR": Pair(diffrax.Dopri8(), NullSpaceQR()),
}
Levels = Mapping[str, tuple[float, ...]]


class Problem(NamedTuple):
    """A problem of the library, and what is asked of it."""

    title: str
    mechanism: str
    kind: str
    """smooth, singular or stiff: what makes it hard."""
    outputs: tuple[str, ...]
    """Columns of the trusted trajectory that count (m)."""
    speeds: tuple[str, ...]
    """Columns (m/s) whose error is shown too."""
    goals: tuple[float, float, float]
    """Errors (m) asked for: coarse, fine, and the one the documented setting reaches."""
    setting: tuple[str, float]
    """The documented setting: a pair, and its relative and absolute tolerance."""
    levels: Levels
    max_steps: int = 10_000
    """A run that needs more has failed; for steps of fixed size they are as many as there are."""

    @property
    def singular(self) -> str:
        """What `simulate` is told to do at singular configurations."""
        return "pass" if self.kind == "singular" else "stop"


def _decades(first: int, last: int) -> tuple[float, ...]:
    """10^-first to 10^-last."""
    return tuple(float(f"1e-{k}") for k in range(first, last + 1))


_SMOOTH: Levels = {
    "Dopri8": _decades(3, 13),
    "Tsit5": _decades(3, 11),
    "Dopri5": _decades(3, 11),
    "Adams": _decades(3, 12),
    "Radau": _decades(3, 10),
    "Kvaerno5": _decades(4, 7),
    "GeneralizedAlpha": _decades(4, 6),
    "Dopri8, UdwadiaKalaba": _decades(3, 12),
    "Dopri8, NullSpaceQR": _decades(3, 12),
}
#: Tighter ones than 1e-10 gain nothing: what is lost in passing a singular configuration is about 1e-8.
_PASSING: Levels = {
    "Dopri8": (*_decades(4, 9), 3e-10),
    "Tsit5": _decades(4, 10),
    "Dopri5": _decades(4, 10),
    "Adams": _decades(4, 9),
    "Radau": _decades(4, 8),
    "GeneralizedAlpha": _decades(5, 6),
}


def _n_four_bar(windows: int, levels: Levels) -> Problem:
    return Problem(
        title=f"A02 N-four-bar, N = {windows}",
        mechanism=f"n-four-bar-{windows}",
        kind="singular",
        outputs=("B0x", "B0y"),
        speeds=("B0vx", "B0vy"),
        goals=(1e-3, 1e-5, 1e-7),
        setting=("Dopri8", 3e-10),
        levels=levels,
        max_steps=4_000,
    )


PROBLEMS: dict[str, Problem] = {
    "a01": Problem(
        title="A01 simple pendulum",
        mechanism="simple-pendulum",
        kind="smooth",
        outputs=("x", "y"),
        speeds=("vx", "vy"),
        goals=(1e-3, 1e-6, 1e-10),
        setting=("Dopri8", 1e-13),
        levels={**_SMOOTH, "Rattle": (1e-2, 1e-3, 1e-4)},
    ),
    "a02-1": _n_four_bar(1, {**_PASSING, "Rattle": (1e-3, 1e-4)}),
    "a02-2": _n_four_bar(2, _PASSING),
    "a02-10": _n_four_bar(10, {name: _PASSING[name] for name in ("Dopri8", "Tsit5", "Dopri5", "Adams")}),
    "a02-40": _n_four_bar(
        40,
        {
            "Dopri8": (1e-5, 1e-6, 1e-7, 1e-9, 3e-10),
            "Tsit5": (1e-6, 1e-8),
            "Dopri5": (1e-6, 1e-8, 1e-9),
            "Adams": (1e-7, 1e-9),
        },
    ),
    "a03": Problem(
        title="A03 Andrews' squeezer",
        mechanism="andrews-squeezer",
        kind="smooth",
        outputs=("Fx", "Fy"),
        speeds=("Fvx", "Fvy"),
        goals=(1e-5, 1e-8, 1e-10),
        setting=("Dopri8", 1e-10),
        levels={**_SMOOTH, "Rattle": (1e-5, 1e-6)},
    ),
    "a04": Problem(
        title="A04 Bricard's mechanism",
        mechanism="bricard",
        kind="smooth",
        outputs=("P3x", "P3y", "P3z"),
        speeds=("P3vx", "P3vy", "P3vz"),
        goals=(1e-3, 1e-6, 1e-9),
        setting=("Dopri8", 1e-11),
        levels={**_SMOOTH, "Rattle": (1e-2, 1e-3)},
    ),
    "a05": Problem(
        title="A05 flyball governor",
        mechanism="flyball-governor",
        kind="stiff",
        outputs=("s",),
        speeds=("sdot",),
        goals=(1e-3, 1e-5, 1e-8),
        setting=("Radau", 1e-10),
        levels={
            "Radau": _decades(3, 10),
            "Kvaerno5": _decades(3, 9),
            "GeneralizedAlpha": _decades(3, 6),
            "Tsit5": (1e-5,),
            "Dopri8": (1e-5,),
            "Adams": (1e-5,),
        },
        max_steps=60_000,
    ),
}
#: What `quick` leaves out: problems that take minutes.
LONG = ("a02-10", "a02-40", "a05")


def find_problem(key: str) -> Problem:
    """A problem by its name, as a02-10."""
    if key not in PROBLEMS:
        raise ModelError(
            f"bench iftomm was asked for the problem '{key}', which does not exist. There are: {', '.join(PROBLEMS)}."
            f"{did_you_mean(key, PROBLEMS)}"
        )
    return PROBLEMS[key]
