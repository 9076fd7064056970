from .base import Coordinates as Coordinates
from .euler_angles import EulerAngles as EulerAngles
from .euler_parameters import EulerParameters as EulerParameters
from .planar import Planar as Planar
from .point_mass import PointMass as PointMass
from .quaternion import Quaternion as Quaternion
