from .alternatives import Alternatives as Alternatives
from .base import NoStabilization as NoStabilization
from .base import Stabilization as Stabilization
from .baumgarte import Baumgarte as Baumgarte
from .coordinate_partitioning import CoordinatePartitioning as CoordinatePartitioning
from .projection import Projection as Projection
from .velocity_projection import VelocityProjection as VelocityProjection
