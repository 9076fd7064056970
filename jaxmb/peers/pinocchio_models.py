"""The problems in Pinocchio: trees of joint coordinates, loops closed by rigid constraints."""

# pyright: reportAttributeAccessIssue=false
# (what is compiled does not say what is in it)

import importlib
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .numbers import GRAVITY, Andrews, Bricard, Governor, Strut


class Tree(NamedTuple):
    """A model with its loops and how it starts (in its neutral configuration)."""

    model: Any
    loops: list
    speed: np.ndarray
    outputs: tuple[tuple[int, tuple[float, float, float], tuple[int, ...]], ...]
    """Joint, point in its frame, and the coordinates of it that count."""
    force: Callable[[float, np.ndarray, np.ndarray], np.ndarray] | None = None
    """Generalized forces at (t, q, v)."""


class Builder:
    """Few words around a model under construction."""

    def __init__(self, gravity):
        self.pin: Any = importlib.import_module("pinocchio")
        self.model = self.pin.Model()
        self.model.gravity.linear = np.array(gravity, float)

    def place(self, at, axis: str = "z", angle: float = 0.0):
        return self.pin.SE3(self.pin.utils.rotate(axis, angle), np.array(at, float))

    def add(self, parent: int, joint, place, mass: float, com, inertia) -> int:
        number = self.model.addJoint(parent, joint, place, f"joint{self.model.njoints}")
        body = self.pin.Inertia(mass, np.array(com, float), np.diag(inertia))
        self.model.appendBodyToJoint(number, body, self.pin.SE3.Identity())
        return number

    def loop(self, A: int, on_A, B: int, on_B):
        """A point of A that stays on one of B."""
        kind, frame = self.pin.ContactType.CONTACT_3D, self.pin.ReferenceFrame.LOCAL
        return self.pin.RigidConstraintModel(kind, self.model, A, self.place(on_A), B, self.place(on_B), frame)

    def at(self, joint: int) -> int:
        """Where the speed of a joint is; the same place holds its coordinate in trees of simple joints."""
        return self.model.idx_vs[joint]


def pendulum() -> Tree:
    b = Builder((0, -GRAVITY, 0))
    hinge = b.add(0, b.pin.JointModelRZ(), b.place((0, 0, 0)), 1.0, (-1, 0, 0), (0, 0, 0))
    return Tree(b.model, [], np.zeros(1), ((hinge, (-1, 0, 0), (0, 1)),))


def n_four_bar(windows: int) -> Tree:
    b = Builder((0, -GRAVITY, 0))
    uprights, couplers = [], []
    for i in range(windows + 1):
        inertia = (1 / 12, 0, 1 / 12)
        uprights.append(b.add(0, b.pin.JointModelRZ(), b.place((i, 0, 0)), 1.0, (0, 0.5, 0), inertia))
        if i < windows:
            inertia = (0, 1 / 12, 1 / 12)
            couplers.append(b.add(uprights[i], b.pin.JointModelRZ(), b.place((0, 1, 0)), 1.0, (0.5, 0, 0), inertia))
    loops = [b.loop(couplers[i], (1, 0, 0), uprights[i + 1], (0, 1, 0)) for i in range(windows)]
    speed = np.zeros(b.model.nv)
    speed[[b.at(joint) for joint in uprights]] = -1.0
    speed[[b.at(joint) for joint in couplers]] = 1.0
    return Tree(b.model, loops, speed, ((uprights[0], (0, 1, 0), (0, 1)),))


def andrews() -> Tree:
    b = Builder((0, 0, 0))
    links, joints = Andrews.links(), {}
    for name in ("K1", "K2", "K3", "K5", "K4", "K7", "K6"):
        x, parent = links[name], Andrews.PARENT.get(name)
        before = 0.0 if parent is None else links[parent].angle
        place = b.place((*Andrews.pin_of(name), 0), angle=x.angle - before)
        on = 0 if parent is None else joints[parent]
        joints[name] = b.add(on, b.pin.JointModelRZ(), place, x.mass, (*x.com, 0), [x.inertia] * 3)
    loops = [
        b.loop(joints[name], (*Andrews.E_ON[name], 0), joints["K2"], (*Andrews.E_ON["K2"], 0))
        for name in ("K3", "K4", "K6")
    ]
    crank, lever = b.at(joints["K1"]), b.at(joints["K3"])
    gamma, size = links["K3"].angle, b.model.nv

    def force(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        out = np.zeros(size)
        c, s = math.cos(gamma + q[lever]), math.sin(gamma + q[lever])
        dx, dy = Andrews.D_ON_K3
        arm = c * dx - s * dy, s * dx + c * dy
        x, y = (Andrews.B[k] + arm[k] - Andrews.C[k] for k in (0, 1))
        length = math.hypot(x, y)
        out[crank] = Andrews.torque
        out[lever] = -Andrews.c0 * (length - Andrews.l0) / length * (arm[0] * y - arm[1] * x)
        return out

    return Tree(b.model, loops, np.zeros(size), ((joints["K1"], (Andrews.rr, 0, 0), (0, 1)),), force)


def bricard() -> Tree:
    b = Builder((0, -GRAVITY, 0))
    P, joints = Bricard.CORNERS, [0]
    kinds = (b.pin.JointModelRX, b.pin.JointModelRY, b.pin.JointModelRZ)
    for k in range(5):
        kind, place = kinds[int(np.argmax(Bricard.AXES[k]))], b.place(P[k] - P[max(0, k - 1)])
        joints.append(b.add(joints[-1], kind(), place, 1.0, (P[k + 1] - P[k]) / 2, Bricard.inertia(k)))
    # The last hinge: two points of its axis.
    loops = [b.loop(joints[5], P[5] - P[4] + x, 0, P[5] + x) for x in (0 * Bricard.AXES[5], Bricard.AXES[5] / 2)]
    return Tree(b.model, loops, np.zeros(5), ((joints[2], tuple(P[2] - P[1]), (0, 1, 2)),))


def governor() -> Tree:
    K, b = Governor, Builder((0, 0, -GRAVITY))
    across, along = K.shaft_across, K.shaft_along
    shaft = b.add(0, b.pin.JointModelRZ(), b.place((0, 0, 0)), K.shaft_mass, (0, 0, 0.5), (across, across, along))
    inertia = [K.slider_inertia] * 3
    slider = b.add(shaft, b.pin.JointModelPZ(), b.place((0, 0, K.slider)), K.slider_mass, (0, 0, 0), inertia)
    sides = ((K.offset, K.alpha), (-K.offset, math.pi - K.alpha))
    inertia = (K.rod_along, K.rod_across, K.rod_across)
    rods = [
        b.add(shaft, b.pin.JointModelRY(), b.place((x, 0, 1), "y", angle), K.rod_mass, (K.rod_com, 0, 0), inertia)
        for x, angle in sides
    ]
    height, places = b.at(slider), [(b.at(rod), angle) for rod, (_, angle) in zip(rods, sides, strict=True)]

    def force(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        out = np.zeros(4)
        for k, start in places:
            c, s = math.cos(start + q[k]), math.sin(start + q[k])
            x, z = 0.5 * c, 1 - 0.5 * s - K.slider - q[height]
            length = math.hypot(x, z)
            by_angle, by_height = (-0.5 * s * x - 0.5 * c * z) / length, -z / length
            pull = -K.stiffness * (length - K.free) - K.damping * (by_angle * v[k] + by_height * v[height])
            out[k] += pull * by_angle
            out[height] += pull * by_height
        return out

    speed = np.zeros(4)
    speed[b.at(shaft)] = K.spin
    return Tree(b.model, [], speed, ((slider, (0, 0, 0), (2,)),), force)


def strut() -> Tree:
    """In joint coordinates a second hinge of the arm has no rows, so that both struts are the same model."""
    b = Builder((0, 0, -Strut.gravity))
    P = {name: np.array(point) for name, point in Strut.P.items()}

    def add(name: str, parent: int, joint, at: np.ndarray, before: np.ndarray) -> int:
        com = np.array(Strut.COM[name]) - at
        return b.add(parent, joint, b.place(at - before), Strut.mass, com, [Strut.inertia] * 3)

    arm = add("arm", 0, b.pin.JointModelRX(), P["P1A"], np.zeros(3))
    knuckle = add("knuckle", arm, b.pin.JointModelSpherical(), P["P2"], P["P1A"])
    slide = b.model.addJoint(knuckle, b.pin.JointModelPZ(), b.place(P["P4"] - P["P2"]), "slide")
    top = add("top", slide, b.pin.JointModelRZ(), P["P4"], P["P4"])
    tie_rod = add("tie_rod", knuckle, b.pin.JointModelSpherical(), P["P9"], P["P2"])
    rack = add("rack", 0, b.pin.JointModelPY(), np.array(Strut.COM["rack"]), np.zeros(3))
    loops = [
        b.loop(top, P["P11"] - P["P4"], 0, P["P11"]),
        b.loop(tie_rod, P["P12"] - P["P9"], rack, P["P12"] - np.array(Strut.COM["rack"])),
    ]
    size, hinge, rail, lever = b.model.nv, b.at(arm), b.at(rack), Strut.COM["arm"][1]

    def force(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        out = np.zeros(size)
        out[hinge] = Strut.lift * lever * math.cos(q[hinge])
        out[rail] = Strut.push_mean + Strut.push_amplitude * math.sin(t)
        return out

    wheel = tuple(P["P8"] - P["P2"])
    return Tree(b.model, loops, np.zeros(size), ((rack, (0, 0, 0), (1,)), (knuckle, wheel, (0, 1, 2))), force)
