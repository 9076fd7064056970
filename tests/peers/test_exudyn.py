"""Degrees of freedom and redundant constraints against Exudyn [Gerstmayr 2023], and its models of the benchmark problems, where
it is installed (the extra `bench`)."""

import numpy as np
import pytest

import jaxmb as mb
from jaxmb.peers.exudyn import EXUDYN

from ..analyses.labelled import MECHANISMS
from .errors import error_of

exudyn = pytest.importorskip("exudyn")

#: What Exudyn's generic joint forbids (translation and rotation x, y, z of the frames, z is the axis) to be one of ours.
AXES = {
    mb.Fixed: (1, 1, 1, 1, 1, 1),
    mb.Revolute: (1, 1, 1, 1, 1, 0),
    mb.Prismatic: (1, 1, 0, 1, 1, 1),
    mb.Cylindrical: (1, 1, 0, 1, 1, 0),
    mb.Spherical: (1, 1, 1, 0, 0, 0),
    mb.PlanarJoint: (0, 0, 1, 1, 1, 0),
    mb.InLine: (1, 1, 0, 0, 0, 0),
    mb.InPlane: (0, 0, 1, 0, 0, 0),
}


def in_exudyn(system: mb.System):
    """The bodies and joints of a system in its reference pose as an assembled Exudyn model."""
    from exudyn.itemInterface import MarkerBodyRigid, ObjectGround, ObjectJointGeneric
    from exudyn.rigidBodyUtilities import RigidBodyInertia

    model = exudyn.SystemContainer().AddSystem()
    numbers, com = {"ground": model.AddObject(ObjectGround())}, {"ground": np.zeros(3)}
    for name, body in system.bodies.items():
        com[name] = np.asarray(body.com)
        pose = body.pose
        numbers[name] = model.CreateRigidBody(
            inertia=RigidBodyInertia(mass=float(body.mass), inertiaTensor=np.asarray(body.inertia)),
            referencePosition=np.asarray(pose.p + pose.R @ body.com),
            referenceRotationMatrix=np.asarray(pose.R),
        )

    def marker(port):
        frame = exudyn.HT(rotation=np.asarray(port.frame.R), translation=np.asarray(port.frame.p) - com[port.body])
        return model.AddMarker(MarkerBodyRigid(bodyNumber=numbers[port.body], localHT=frame))

    for joint in system.joints.values():
        markers = [marker(port) for port in joint.ports]
        model.AddObject(ObjectJointGeneric(markerNumbers=markers, constrainedAxes=list(AXES[type(joint)])))
    model.Assemble()
    return model


def expressible(mechanism):
    system, _ = mechanism.build(0)
    return bool(system.joints) and all(type(joint) in AXES for joint in system.joints.values())


def test_exudyn_counts_the_same():
    from exudyn.solver import ComputeSystemDegreeOfFreedom

    chosen, wrong = [mechanism for mechanism in MECHANISMS if expressible(mechanism)], []
    for mechanism in chosen:
        for pose in range(3):
            system, _ = mechanism.build(pose)
            found = ComputeSystemDegreeOfFreedom(in_exudyn(system))
            theirs = (found["degreeOfFreedom"], found["redundantConstraints"])
            ours = (mechanism.here_dof[pose], mechanism.here_redundant(pose))
            if theirs != ours:
                wrong.append(f"{mechanism.name}, pose {pose}: {theirs}, not {ours}")
    assert not wrong
    assert len(chosen) >= 12


@pytest.mark.parametrize(
    ("key", "method", "level", "error"),
    [
        ("a01", "TrapezoidalIndex2", 1e-3, 1e-4),
        ("a01", "RK67, joint coordinates", 0.01, 1e-10),
        ("a02-2", "GeneralizedAlpha", 1e-3, 3e-4),
        ("a02-10", "GeneralizedAlpha", 2e-3, 2e-3),
        ("a03", "TrapezoidalIndex2", 1e-5, 1e-6),
        ("a03", "GeneralizedAlpha", 2.5e-5, 2e-5),
        ("a04", "GeneralizedAlpha", 5e-3, 2e-4),
        ("a05", "GeneralizedAlpha, joint coordinates", 1e-3, 1e-3),
        ("mcpherson-simplified", "GeneralizedAlpha", 5e-3, 5e-4),
        ("mcpherson-overconstrained", "GeneralizedAlpha", 5e-3, 5e-4),
    ],
)
def test_exudyn_reaches_the_reference(key, method, level, error):
    assert error_of(EXUDYN, key, method, level) < error
