"""The mechanisms of the papers and of the benchmark library, by name: `get_mechanism("bricard").build()`."""

from ..errors import ModelError, did_you_mean
from .andrews_squeezer import MECHANISMS as _ANDREWS_SQUEEZER
from .andrews_squeezer import andrews_squeezer as andrews_squeezer
from .bricard import MECHANISMS as _BRICARD
from .bricard import bricard as bricard
from .double_pendulum import MECHANISMS as _DOUBLE_PENDULUM
from .double_pendulum import double_pendulum as double_pendulum
from .flyball_governor import MECHANISMS as _FLYBALL_GOVERNOR
from .flyball_governor import flyball_governor as flyball_governor
from .flyball_governor import flyball_governor_start as flyball_governor_start
from .four_bar import MECHANISMS as _FOUR_BAR
from .four_bar import four_bar as four_bar
from .mcpherson import MECHANISMS as _MCPHERSON
from .mcpherson import mcpherson as mcpherson
from .mechanism import Mechanism as Mechanism
from .n_four_bar import MECHANISMS as _N_FOUR_BAR
from .n_four_bar import n_four_bar as n_four_bar
from .n_four_bar import n_four_bar_start as n_four_bar_start
from .scotch_yoke import MECHANISMS as _SCOTCH_YOKE
from .scotch_yoke import scotch_yoke as scotch_yoke
from .scotch_yoke import scotch_yoke_start as scotch_yoke_start
from .simple_pendulum import MECHANISMS as _SIMPLE_PENDULUM
from .simple_pendulum import simple_pendulum as simple_pendulum
from .simple_pendulum import spatial_pendulum as spatial_pendulum
from .slider_crank import MECHANISMS as _SLIDER_CRANK
from .slider_crank import slider_crank as slider_crank
from .slider_crank_free import MECHANISMS as _SLIDER_CRANK_FREE
from .slider_crank_free import slider_crank_free as slider_crank_free
from .slider_crank_free import slider_crank_free_start as slider_crank_free_start
from .slider_crank_relative import MECHANISMS as _SLIDER_CRANK_RELATIVE
from .slider_crank_relative import slider_crank_relative as slider_crank_relative
from .slider_crank_relative import slider_crank_relative_start as slider_crank_relative_start
from .spatial_four_bar import MECHANISMS as _SPATIAL_FOUR_BAR
from .spatial_four_bar import spatial_four_bar as spatial_four_bar
from .static_multipoint import static_multipoint as static_multipoint
from .static_multipoint import static_solution as static_solution

_FAMILIES = (
    _MCPHERSON,
    _DOUBLE_PENDULUM,
    _FOUR_BAR,
    _SPATIAL_FOUR_BAR,
    _SIMPLE_PENDULUM,
    _N_FOUR_BAR,
    _ANDREWS_SQUEEZER,
    _BRICARD,
    _FLYBALL_GOVERNOR,
    _SLIDER_CRANK,
    _SCOTCH_YOKE,
    _SLIDER_CRANK_RELATIVE,
    _SLIDER_CRANK_FREE,
)

MECHANISMS: dict[str, Mechanism] = {mechanism.name: mechanism for family in _FAMILIES for mechanism in family}


def get_mechanism(name: str) -> Mechanism:
    """A mechanism of the catalog by name."""
    if name == "static-multipoint":
        raise ModelError(
            "Asked for a run of 'static-multipoint', which is a static problem. Solve it with static_solution("
            "static_multipoint()) from jaxmb.mechanisms; `jaxmb paper n` does."
        )
    if name not in MECHANISMS:
        raise ModelError(
            f"Asked for mechanism '{name}', which is not in the catalog. Mechanisms: {', '.join(MECHANISMS)}."
            f"{did_you_mean(name, MECHANISMS)}"
        )
    return MECHANISMS[name]
