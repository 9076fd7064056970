"""Formulations: how M a + J' lam = Q, J a = gamma is solved when rows of J may be dependent.

`EXACT_FORMULATIONS` all give the same accelerations and minimum-norm multipliers where they apply; `ALL_FORMULATIONS`
also hold the penalties and those that act on rates (`RateFormulation`).
"""

from .augmented_lagrangian import AugmentedLagrangian as AugmentedLagrangian
from .base import Accel as Accel
from .base import Formulation as Formulation
from .base import RateFormulation as RateFormulation
from .base import Rates as Rates
from .deflated import Deflated as Deflated
from .goicolea_orden import GoicoleaOrden as GoicoleaOrden
from .heaney_hou import HeaneyHou as HeaneyHou
from .index2_lagrange import Index2Lagrange as Index2Lagrange
from .index2_penalty import Index2Penalty as Index2Penalty
from .kkt import KKT as KKT
from .kkt_pinv import KKTPinv as KKTPinv
from .least_squares1 import LeastSquares1 as LeastSquares1
from .least_squares2 import LeastSquares2 as LeastSquares2
from .null_space_qr import NullSpaceQR as NullSpaceQR
from .null_space_svd import NullSpaceSVD as NullSpaceSVD
from .partial_velocities import PartialVelocities as PartialVelocities
from .partition import Partition as Partition
from .schur import Schur as Schur
from .static_penalty import StaticPenalty as StaticPenalty
from .udwadia_kalaba import UdwadiaKalaba as UdwadiaKalaba
from .udwadia_phohomsiri import UdwadiaPhohomsiri as UdwadiaPhohomsiri

ALL_FORMULATIONS: tuple[Formulation | RateFormulation, ...] = (
    Deflated(),
    KKT(),
    KKTPinv(),
    Schur(),
    UdwadiaKalaba(),
    LeastSquares1(),
    LeastSquares2(),
    UdwadiaPhohomsiri(),
    AugmentedLagrangian(),
    StaticPenalty(),
    HeaneyHou(),
    PartialVelocities(),
    NullSpaceQR(),
    NullSpaceSVD(),
    Partition(),
    GoicoleaOrden(),
    Index2Penalty(),
    Index2Lagrange(),
)

EXACT_FORMULATIONS: tuple[Formulation, ...] = tuple(
    f for f in ALL_FORMULATIONS if isinstance(f, Formulation) and f.exact
)
