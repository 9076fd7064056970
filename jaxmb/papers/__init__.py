"""The papers as experiments: `PAPERS["pf"].experiment()` runs one and gives a report."""

from .carvalho import PAPER as _CARVALHO
from .kurz_burkhardt_eberhard import PAPER as _KURZ_BURKHARDT_EBERHARD
from .newhart import PAPER as _NEWHART
from .paper import Paper as Paper
from .paper import find as find
from .park_yoo_hwang import PAPER as _PARK_YOO_HWANG
from .pekal_fraczek import PAPER as _PEKAL_FRACZEK

PAPERS: dict[str, Paper] = {
    paper.key: paper for paper in (_PEKAL_FRACZEK, _PARK_YOO_HWANG, _CARVALHO, _NEWHART, _KURZ_BURKHARDT_EBERHARD)
}
