"""The problems in space in Exudyn: A04, A05 and the McPherson strut."""

# pyright: reportAttributeAccessIssue=false
# (what is compiled does not say what is in it)

import math
from typing import Any

import numpy as np

from .exudyn_models import Builder, Built
from .numbers import GRAVITY, Bricard, Governor, Strut


def _inertia(mass: float, diagonal):
    import exudyn.rigidBodyUtilities

    utilities: Any = exudyn.rigidBodyUtilities
    return utilities.RigidBodyInertia(mass=mass, inertiaTensor=np.diag(np.asarray(diagonal, float)))


def _turned_y(angle: float) -> np.ndarray:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])


def bricard() -> Built:
    b = Builder()
    P, bodies = Bricard.CORNERS, [b.ground]
    for k in range(5):
        inertia, center = _inertia(1.0, Bricard.inertia(k)), (P[k] + P[k + 1]) / 2
        bodies.append(b.mbs.CreateRigidBody(inertia=inertia, referencePosition=center, gravity=[0.0, -GRAVITY, 0.0]))
    bodies.append(b.ground)
    for k, axis in enumerate(Bricard.AXES):
        b.mbs.CreateRevoluteJoint(itemNumbers=[bodies[k], bodies[k + 1]], position=P[k], axis=axis, show=False)
    return b.done(b.body_sensor(bodies[2], (P[2] - P[1]) / 2, (0, 1, 2)))


def governor() -> Built:
    b, K = Builder(), Governor
    gravity, spin = [0.0, 0.0, -GRAVITY], [0.0, 0.0, K.spin]

    def body(mass, inertia, center, R=None):
        return b.mbs.CreateRigidBody(
            inertia=_inertia(mass, inertia),
            referencePosition=center,
            referenceRotationMatrix=np.eye(3) if R is None else R,
            initialVelocity=np.cross(spin, center),
            initialAngularVelocity=spin,
            gravity=gravity,
        )

    shaft = body(K.shaft_mass, (K.shaft_across, K.shaft_across, K.shaft_along), [0.0, 0.0, 0.5])
    slider = body(K.slider_mass, [K.slider_inertia] * 3, [0.0, 0.0, K.slider])
    b.mbs.CreateRevoluteJoint(itemNumbers=[b.ground, shaft], position=[0.0, 0.0, 0.0], axis=[0.0, 0.0, 1.0], show=False)
    b.mbs.CreatePrismaticJoint(
        itemNumbers=[shaft, slider], position=[0.0, 0.0, K.slider], axis=[0.0, 0.0, 1.0], show=False
    )
    for x, angle in ((K.offset, K.alpha), (-K.offset, math.pi - K.alpha)):
        R, hinge = _turned_y(angle), np.array([x, 0.0, 1.0])
        center = hinge + R @ np.array([K.rod_com, 0.0, 0.0])
        rod = body(K.rod_mass, (K.rod_along, K.rod_across, K.rod_across), center, R)
        b.mbs.CreateRevoluteJoint(itemNumbers=[shaft, rod], position=hinge, axis=[0.0, 1.0, 0.0], show=False)
        b.spring(b.marker(slider, (x, 0, 0)), b.marker(rod, (0.5 - K.rod_com, 0, 0)), K.free, K.stiffness, K.damping)
    return b.done(b.body_sensor(slider, (0, 0, 0), (2,)))


def governor_tree() -> Built:
    b, K = Builder(), Governor
    joint = b.exu.JointType
    kinds = [joint.RevoluteZ, joint.PrismaticZ, joint.RevoluteY, joint.RevoluteY]
    offsets = [(0, 0, 0), (0, 0, K.slider), (K.offset, 0, 1), (-K.offset, 0, 1)]
    turns = [np.eye(3), np.eye(3), _turned_y(K.alpha), _turned_y(math.pi - K.alpha)]
    masses = [K.shaft_mass, K.slider_mass, K.rod_mass, K.rod_mass]
    coms = [(0, 0, 0.5), (0, 0, 0), (K.rod_com, 0, 0), (K.rod_com, 0, 0)]
    rod = np.diag([K.rod_along, K.rod_across, K.rod_across])
    shaft = np.diag([K.shaft_across, K.shaft_across, K.shaft_along])
    inertias = [shaft, K.slider_inertia * np.eye(3), rod, rod]
    speeds = [K.spin, 0.0, 0.0, 0.0]
    tree = b.tree(kinds, [-1, 0, 0, 0], offsets, turns, masses, coms, inertias, (0, 0, -GRAVITY), speeds)

    def on(link: int, at) -> Any:
        return b.mbs.AddMarker(
            b.items.MarkerKinematicTreeRigid(objectNumber=tree, linkNumber=link, localPosition=list(at))
        )

    for link, x in ((2, K.offset), (3, -K.offset)):
        b.spring(on(1, (x, 0.0, 0.0)), on(link, (0.5, 0.0, 0.0)), K.free, K.stiffness, K.damping)
    return b.done(b.tree_sensor(tree, 1, (0.0, 0.0, 0.0), (2,)))


def strut(overconstrained: bool) -> Built:
    b, P = Builder(), {name: np.array(point) for name, point in Strut.P.items()}
    gravity, bodies = [0.0, 0.0, -Strut.gravity], {}
    for name, center in Strut.COM.items():
        inertia = _inertia(Strut.mass, [Strut.inertia] * 3)
        bodies[name] = b.mbs.CreateRigidBody(inertia=inertia, referencePosition=list(center), gravity=gravity)
    for name in ("P1A", "P1B") if overconstrained else ("P1A",):
        pair = [b.ground, bodies["arm"]]
        b.mbs.CreateRevoluteJoint(itemNumbers=pair, position=P[name], axis=[1.0, 0.0, 0.0], show=False)
    balls = (("arm", "knuckle", "P2"), ("top", None, "P11"), ("knuckle", "tie_rod", "P9"), ("tie_rod", "rack", "P12"))
    for first, second, name in balls:
        pair = [bodies[first], b.ground if second is None else bodies[second]]
        b.mbs.CreateSphericalJoint(itemNumbers=pair, position=P[name], show=False)
    pair = [bodies["knuckle"], bodies["top"]]
    b.mbs.CreateGenericJoint(itemNumbers=pair, position=P["P4"], constrainedAxes=[1, 1, 0, 1, 1, 0], show=False)
    pair = [b.ground, bodies["rack"]]
    b.mbs.CreatePrismaticJoint(itemNumbers=pair, position=P["P12"], axis=[0.0, 1.0, 0.0], show=False)

    def push(mbs, t, load):
        return [0.0, Strut.push_mean + Strut.push_amplitude * math.sin(t), 0.0]

    b.mbs.CreateForce(itemNumber=bodies["arm"], loadVector=[0.0, 0.0, Strut.lift], show=False)
    b.mbs.CreateForce(itemNumber=bodies["rack"], loadVector=[0.0, 0.0, 0.0], loadVectorUserFunction=push, show=False)
    wheel = P["P8"] - np.array(Strut.COM["knuckle"])
    return b.done(b.body_sensor(bodies["rack"], (0, 0, 0), (1,)), b.body_sensor(bodies["knuckle"], wheel, (0, 1, 2)))
