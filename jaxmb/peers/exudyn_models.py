"""The problems in Exudyn: absolute coordinates and joints; for A01 and A05 also its trees of joint coordinates."""

# pyright: reportAttributeAccessIssue=false
# (what is compiled does not say what is in it)

import math
from typing import Any, NamedTuple

import numpy as np

from .numbers import GRAVITY, Andrews


class Built(NamedTuple):
    """An assembled model and its sensors, with the coordinates of each that count."""

    mbs: Any
    sensors: tuple[tuple[Any, tuple[int, ...]], ...]
    container: Any
    """Kept alive: the model is inside."""


class Builder:
    """Few words around a model under construction. Exudyn's numbers of items are of types of its own."""

    def __init__(self):
        import exudyn
        import exudyn.itemInterface as items

        self.exu: Any = exudyn
        self.items: Any = items
        self.container: Any = self.exu.SystemContainer()
        self.mbs: Any = self.container.AddSystem()
        self.ground: Any = self.mbs.AddObject(items.ObjectGround())

    def marker(self, body: Any, at) -> Any:
        place = [*map(float, at), 0.0][:3]
        return self.mbs.AddMarker(self.items.MarkerBodyPosition(bodyNumber=body, localPosition=place))

    def flat_body(self, pose, mass: float, inertia: float, speed=(0.0, 0.0, 0.0)) -> Any:
        node = self.items.NodeRigidBody2D(referenceCoordinates=list(map(float, pose)), initialVelocities=list(speed))
        number = self.mbs.AddNode(node)
        return self.mbs.AddObject(self.items.ObjectRigidBody2D(nodeNumber=number, mass=mass, inertia=inertia))

    def flat_pin(self, A: Any, at_A, B: Any, at_B) -> None:
        self.mbs.AddObject(self.items.ObjectJointRevolute2D(markerNumbers=[self.marker(A, at_A), self.marker(B, at_B)]))

    def spring(self, A: Any, B: Any, length: float, stiffness: float, damping: float) -> None:
        self.mbs.AddObject(
            self.items.ObjectConnectorSpringDamper(
                markerNumbers=[A, B], referenceLength=length, stiffness=stiffness, damping=damping
            )
        )

    def body_sensor(self, body: Any, at, columns: tuple[int, ...]) -> tuple[Any, tuple[int, ...]]:
        place, kind = [*map(float, at), 0.0][:3], self.exu.OutputVariableType.Position
        sensor = self.items.SensorBody(
            bodyNumber=body, localPosition=place, storeInternal=True, outputVariableType=kind
        )
        return self.mbs.AddSensor(sensor), columns

    def done(self, *sensors) -> Built:
        self.mbs.Assemble()
        return Built(self.mbs, sensors, self.container)

    def tree(self, kinds, parents, offsets, turns, masses, coms, inertias, gravity, speeds) -> Any:
        """A tree of joint coordinates as one object."""
        count, lists = len(masses), (self.exu.Vector3DList, self.exu.Matrix3DList)
        node = self.mbs.AddNode(
            self.items.NodeGenericODE2(
                referenceCoordinates=[0.0] * count,
                initialCoordinates=[0.0] * count,
                initialCoordinates_t=list(speeds),
                numberOfODE2Coordinates=count,
            )
        )
        filled = []
        for kind, values in ((1, turns), (0, offsets), (1, inertias), (0, coms)):
            filled.append(lists[kind]())
            for value in values:
                filled[-1].Append(np.asarray(value, float))
        transformations, places, J, com = filled
        return self.mbs.AddObject(
            self.items.ObjectKinematicTree(
                nodeNumber=node,
                jointTypes=kinds,
                linkParents=parents,
                jointTransformations=transformations,
                jointOffsets=places,
                linkInertiasCOM=J,
                linkCOMs=com,
                linkMasses=list(masses),
                baseOffset=[0.0, 0.0, 0.0],
                gravity=list(gravity),
            )
        )

    def tree_sensor(self, tree: Any, link: int, at, columns: tuple[int, ...]) -> tuple[Any, tuple[int, ...]]:
        kind = self.exu.OutputVariableType.Position
        sensor = self.items.SensorKinematicTree(
            objectNumber=tree, linkNumber=link, localPosition=list(at), storeInternal=True, outputVariableType=kind
        )
        return self.mbs.AddSensor(sensor), columns


def pendulum() -> Built:
    b = Builder()
    node = b.mbs.AddNode(b.items.NodePoint2D(referenceCoordinates=[-1.0, 0.0]))
    b.mbs.AddObject(b.items.ObjectMassPoint2D(mass=1.0, nodeNumber=node))
    mass = b.mbs.AddMarker(b.items.MarkerNodePosition(nodeNumber=node))
    pivot = b.marker(b.ground, (0, 0, 0))
    b.mbs.AddObject(b.items.ObjectConnectorDistance(markerNumbers=[pivot, mass], distance=1.0))
    b.mbs.AddLoad(b.items.LoadForceVector(markerNumber=mass, loadVector=[0.0, -GRAVITY, 0.0]))
    kind = b.exu.OutputVariableType.Position
    sensor = b.mbs.AddSensor(b.items.SensorNode(nodeNumber=node, storeInternal=True, outputVariableType=kind))
    return b.done((sensor, (0, 1)))


def pendulum_tree() -> Built:
    b = Builder()
    kinds = [b.exu.JointType.RevoluteZ]
    tip = (-1.0, 0.0, 0.0)
    none, gravity = np.zeros(3), (0, -GRAVITY, 0)
    tree = b.tree(kinds, [-1], [none], [np.eye(3)], [1.0], [tip], [np.zeros((3, 3))], gravity, [0.0])
    return b.done(b.tree_sensor(tree, 0, tip, (0, 1)))


def n_four_bar(windows: int) -> Built:
    b = Builder()
    weight = [0.0, -GRAVITY, 0.0]
    uprights = [b.flat_body((i, 0.5, np.pi / 2), 1.0, 1 / 12, (0.5, 0.0, -1.0)) for i in range(windows + 1)]
    couplers = [b.flat_body((i + 0.5, 1.0, 0.0), 1.0, 1 / 12, (1.0, 0.0, 0.0)) for i in range(windows)]
    for body in uprights + couplers:
        mass = b.mbs.AddMarker(b.items.MarkerBodyMass(bodyNumber=body))
        b.mbs.AddLoad(b.items.LoadMassProportional(markerNumber=mass, loadVector=weight))
    start, end = (-0.5, 0.0), (0.5, 0.0)
    for i, upright in enumerate(uprights):
        b.flat_pin(b.ground, (i, 0), upright, start)
    for i, coupler in enumerate(couplers):
        b.flat_pin(uprights[i], end, coupler, start)
        b.flat_pin(uprights[i + 1], end, coupler, end)
    return b.done(b.body_sensor(uprights[0], end, (0, 1)))


def andrews() -> Built:
    b = Builder()
    links, bodies = Andrews.links(), {"ground": b.ground}
    for name, x in links.items():
        c, s = math.cos(x.angle), math.sin(x.angle)
        place = (x.origin[0] + c * x.com[0] - s * x.com[1], x.origin[1] + s * x.com[0] + c * x.com[1])
        bodies[name] = b.flat_body((*place, x.angle), x.mass, x.inertia)

    def on(name: str, at) -> tuple[float, float]:
        """From the centre of mass, where Exudyn has its frame."""
        com = (0.0, 0.0) if name == "ground" else links[name].com
        return at[0] - com[0], at[1] - com[1]

    for name in links:
        parent = Andrews.PARENT.get(name, "ground")
        b.flat_pin(bodies[parent], on(parent, Andrews.pin_of(name)), bodies[name], on(name, (0.0, 0.0)))
    for name in ("K3", "K4", "K6"):
        b.flat_pin(bodies["K2"], on("K2", Andrews.E_ON["K2"]), bodies[name], on(name, Andrews.E_ON[name]))
    ends = b.marker(b.ground, Andrews.C), b.marker(bodies["K3"], on("K3", Andrews.D_ON_K3))
    b.spring(*ends, Andrews.l0, Andrews.c0, 0.0)
    crank = b.mbs.AddMarker(b.items.MarkerBodyRigid(bodyNumber=bodies["K1"], localPosition=[0.0, 0.0, 0.0]))
    b.mbs.AddLoad(b.items.LoadTorqueVector(markerNumber=crank, loadVector=[0.0, 0.0, Andrews.torque]))
    return b.done(b.body_sensor(bodies["K1"], on("K1", (Andrews.rr, 0.0)), (0, 1)))
