"""Differentiable multibody dynamics for mechanisms whose constraints may be redundant."""

from .compiler import configure as _configure

_configure()

# analyses
from .analyses.assemble import assemble_state as assemble_state
from .analyses.equilibrium import equilibrium as equilibrium
from .analyses.gradcheck import GradCheck as GradCheck
from .analyses.gradcheck import gradcheck as gradcheck
from .analyses.inverse_dynamics import inverse_dynamics as inverse_dynamics
from .analyses.kinematics import kinematics as kinematics
from .analyses.linearize import linearize as linearize
from .analyses.redundancy import redundancy as redundancy
from .analyses.simulate import simulate as simulate
from .analyses.velocity_basis import velocity_basis as velocity_basis

# bodies
from .body import Body as Body
from .body import box as box
from .body import cylinder as cylinder
from .body import point_mass as point_mass
from .body import rod as rod
from .body import sphere as sphere

# coordinates
from .coordinates import Coordinates as Coordinates
from .coordinates import EulerAngles as EulerAngles
from .coordinates import EulerParameters as EulerParameters
from .coordinates import Planar as Planar
from .coordinates import PointMass as PointMass
from .coordinates import Quaternion as Quaternion

# errors
from .errors import ModelError as ModelError
from .errors import SimulationError as SimulationError

# events
from .events import AtTime as AtTime
from .events import Change as Change
from .events import Event as Event
from .events import Gap as Gap
from .events import LowerLimit as LowerLimit
from .events import UpperLimit as UpperLimit

# forces and laws
from .forces import Actuator as Actuator
from .forces import Applied as Applied
from .forces import Branches as Branches
from .forces import Bushing as Bushing
from .forces import Force as Force
from .forces import Gravity as Gravity
from .forces import JointForce as JointForce
from .forces import Law as Law
from .forces import Linear as Linear
from .forces import MeasuredForce as MeasuredForce
from .forces import PointToPoint as PointToPoint
from .forces import Table as Table
from .forces import UserForce as UserForce
from .forces import UserLaw as UserLaw
from .forces import joint_spring as joint_spring
from .forces import spring as spring

# formulations
from .formulations import ALL_FORMULATIONS as ALL_FORMULATIONS
from .formulations import EXACT_FORMULATIONS as EXACT_FORMULATIONS
from .formulations import KKT as KKT
from .formulations import Accel as Accel
from .formulations import AugmentedLagrangian as AugmentedLagrangian
from .formulations import Deflated as Deflated
from .formulations import Formulation as Formulation
from .formulations import GoicoleaOrden as GoicoleaOrden
from .formulations import HeaneyHou as HeaneyHou
from .formulations import Index2Lagrange as Index2Lagrange
from .formulations import Index2Penalty as Index2Penalty
from .formulations import KKTPinv as KKTPinv
from .formulations import LeastSquares1 as LeastSquares1
from .formulations import LeastSquares2 as LeastSquares2
from .formulations import NullSpaceQR as NullSpaceQR
from .formulations import NullSpaceSVD as NullSpaceSVD
from .formulations import PartialVelocities as PartialVelocities
from .formulations import Partition as Partition
from .formulations import RateFormulation as RateFormulation
from .formulations import Schur as Schur
from .formulations import StaticPenalty as StaticPenalty
from .formulations import UdwadiaKalaba as UdwadiaKalaba
from .formulations import UdwadiaPhohomsiri as UdwadiaPhohomsiri

# functions of time
from .functions import Tabulated as Tabulated

# the second way in
from .generalized import GeneralizedSystem as GeneralizedSystem

# integrators and what events do
from .integrators.actions import Impact as Impact
from .integrators.actions import Lock as Lock
from .integrators.actions import Release as Release
from .integrators.actions import Stop as Stop
from .integrators.adams import Adams as Adams
from .integrators.generalized_alpha import HHT as HHT
from .integrators.generalized_alpha import GeneralizedAlpha as GeneralizedAlpha
from .integrators.index_one import IndexOneDAE as IndexOneDAE
from .integrators.radau import Radau as Radau
from .integrators.rattle import Rattle as Rattle

# files
from .io.results import load as load

# joints
from .joints import BodyDriver as BodyDriver
from .joints import ConstantVelocity as ConstantVelocity
from .joints import Coupler as Coupler
from .joints import Cylindrical as Cylindrical
from .joints import Distance as Distance
from .joints import Driver as Driver
from .joints import Fixed as Fixed
from .joints import Gear as Gear
from .joints import InLine as InLine
from .joints import InPlane as InPlane
from .joints import Joint as Joint
from .joints import ParallelAxes as ParallelAxes
from .joints import PerpendicularAxes as PerpendicularAxes
from .joints import PlanarJoint as PlanarJoint
from .joints import PlanarPrismatic as PlanarPrismatic
from .joints import PlanarRevolute as PlanarRevolute
from .joints import PlanarSlot as PlanarSlot
from .joints import Prismatic as Prismatic
from .joints import Revolute as Revolute
from .joints import Screw as Screw
from .joints import Spherical as Spherical
from .joints import Universal as Universal
from .joints import UserJoint as UserJoint
from .ports import port as port

# systems, states and what comes out
from .solution import Solution as Solution

# stabilizations
from .stabilization import Baumgarte as Baumgarte
from .stabilization import CoordinatePartitioning as CoordinatePartitioning
from .stabilization import NoStabilization as NoStabilization
from .stabilization import Projection as Projection
from .stabilization import Stabilization as Stabilization
from .stabilization import VelocityProjection as VelocityProjection
from .state import State as State
from .status import Status as Status
from .studies.compare import compare as compare
from .studies.fit import Fit as Fit
from .studies.identify import identify as identify
from .studies.identify import misfit as misfit
from .studies.map_runs import map_runs as map_runs
from .system import System as System
from .terms import Terms as Terms
from .trajectory import SampledMotion as SampledMotion
