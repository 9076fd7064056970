"""The problems in MuJoCo's XML: trees of joint coordinates, loops closed by equality constraints."""

import math
from typing import NamedTuple

import numpy as np

from .numbers import GRAVITY, Andrews, Bricard, Governor, Strut


class Scene(NamedTuple):
    """What is between the options and the end of a model file, and how it starts."""

    xml: str
    """The world body and what follows it; the site `out` is in the outputs."""
    gravity: str
    speeds: dict[str, float]
    """Of joints, by name."""
    columns: tuple[int, ...]
    """Which of the sensors' numbers are the outputs."""


def _vector(*numbers: float | int) -> str:
    return " ".join(repr(float(x)) for x in numbers)


def _body(name: str, place: str, joint: str, inertial: str, inside: str = "") -> str:
    return f'<body name="{name}" {place}>{joint}{inertial}{inside}</body>'


def _inertial(mass: float, com, inertia) -> str:
    return f'<inertial pos="{_vector(*com)}" mass="{mass!r}" diaginertia="{_vector(*inertia)}"/>'


def _scene(bodies: str, more: str = "", sites=("out",), **rest) -> Scene:
    sensors = "".join(f'<framepos objtype="site" objname="{site}"/>' for site in sites)
    return Scene(f"<worldbody>{bodies}</worldbody>{more}<sensor>{sensors}</sensor>", **rest)


def pendulum() -> Scene:
    inertial = _inertial(1.0, (-1, 0, 0), [1e-14] * 3)  # a point mass is refused
    body = _body("b", "", '<joint axis="0 0 1"/>', inertial, '<site name="out" pos="-1 0 0"/>')
    return _scene(body, gravity=_vector(0, -GRAVITY, 0), speeds={}, columns=(0, 1))


def n_four_bar(windows: int) -> Scene:
    bodies, loops, speeds = "", "", {}
    J, thin = 1 / 12, 1e-8
    for i in range(windows + 1):
        inside = '<site name="out" pos="0 1 0"/>' if i == 0 else ""
        speeds[f"u{i}"] = -1.0
        if i < windows:
            inertial = _inertial(1.0, (0.5, 0, 0), (thin, J, J))
            inside += _body(f"c{i}", 'pos="0 1 0"', f'<joint name="c{i}" axis="0 0 1"/>', inertial)
            loops += f'<connect body1="c{i}" body2="u{i + 1}" anchor="1 0 0"/>'
            speeds[f"c{i}"] = 1.0
        inertial = _inertial(1.0, (0, 0.5, 0), (J, thin, J))
        bodies += _body(f"u{i}", f'pos="{i} 0 0"', f'<joint name="u{i}" axis="0 0 1"/>', inertial, inside)
    more = f"<equality>{loops}</equality>"
    return _scene(bodies, more, gravity=_vector(0, -GRAVITY, 0), speeds=speeds, columns=(0, 1))


def andrews() -> Scene:
    links = Andrews.links()
    carried = {parent: child for child, parent in Andrews.PARENT.items()}
    sites = {
        "K1": f'<site name="out" pos="{_vector(Andrews.rr, 0, 0)}"/>',
        "K3": f'<site name="D" pos="{_vector(*Andrews.D_ON_K3, 0)}"/>',
    }

    def link(name: str, before: float = 0.0) -> str:
        x = links[name]
        place = f'pos="{_vector(*Andrews.pin_of(name), 0)}" axisangle="{_vector(0, 0, 1, x.angle - before)}"'
        inside = sites.get(name, "") + (link(carried[name], x.angle) if name in carried else "")
        inertial = _inertial(x.mass, (*x.com, 0), [x.inertia] * 3)
        return _body(name, place, f'<joint name="{name}" axis="0 0 1"/>', inertial, inside)

    bodies = "".join(link(name) for name in links if name not in Andrews.PARENT)
    bodies += f'<site name="C" pos="{_vector(*Andrews.C, 0)}"/>'
    pins = "".join(
        f'<connect body1="{name}" body2="K2" anchor="{_vector(*Andrews.E_ON[name], 0)}"/>'
        for name in ("K3", "K4", "K6")
    )
    spring = f'<spatial stiffness="{Andrews.c0}" springlength="{Andrews.l0}"><site site="C"/><site site="D"/></spatial>'
    more = f'<equality>{pins}</equality><tendon>{spring}</tendon><actuator><motor joint="K1"/></actuator>'
    return _scene(bodies, more, gravity="0 0 0", speeds={}, columns=(0, 1))


def bricard() -> Scene:
    P = Bricard.CORNERS
    chain = ""
    for k in reversed(range(5)):
        site = f'<site name="out" pos="{_vector(*(P[2] - P[1]))}"/>' if k == 1 else ""
        place = f'pos="{_vector(*(P[k] - P[max(0, k - 1)]))}"'
        inertial = _inertial(1.0, (P[k + 1] - P[k]) / 2, Bricard.inertia(k))
        chain = _body(f"r{k}", place, f'<joint axis="{_vector(*Bricard.AXES[k])}"/>', inertial, site + chain)
    # The last hinge, about x: two points of its axis.
    anchors = (P[5] - P[4], P[5] - P[4] + Bricard.AXES[5] / 2)
    loops = "".join(f'<connect body1="r4" body2="world" anchor="{_vector(*anchor)}"/>' for anchor in anchors)
    more = f"<equality>{loops}</equality>"
    return _scene(chain, more, gravity=_vector(0, -GRAVITY, 0), speeds={}, columns=(0, 1, 2))


def governor() -> Scene:
    K = Governor
    across, along = K.shaft_across, K.shaft_along
    feet = "".join(f'<site name="foot{k}" pos="{_vector(x, 0, 0)}"/>' for k, x in ((1, K.offset), (2, -K.offset)))
    inside = _body(
        "slider",
        f'pos="0 0 {K.slider}"',
        '<joint type="slide" axis="0 0 1"/>',
        _inertial(K.slider_mass, (0, 0, 0), [K.slider_inertia] * 3),
        '<site name="out" pos="0 0 0"/>' + feet,
    )
    for k, x, angle in ((1, K.offset, K.alpha), (2, -K.offset, math.pi - K.alpha)):
        place = f'pos="{x} 0 1" axisangle="{_vector(0, 1, 0, angle)}"'
        inertial = _inertial(K.rod_mass, (K.rod_com, 0, 0), (K.rod_along, K.rod_across, K.rod_across))
        inside += _body(f"rod{k}", place, '<joint axis="0 1 0"/>', inertial, f'<site name="middle{k}" pos=".5 0 0"/>')
    shaft = _inertial(K.shaft_mass, (0, 0, 0.5), (across, across, along))
    springs = "".join(
        f'<spatial stiffness="{K.stiffness}" damping="{K.damping}" springlength="{K.free}">'
        f'<site site="foot{k}"/><site site="middle{k}"/></spatial>'
        for k in (1, 2)
    )
    bodies = _body("shaft", "", '<joint name="shaft" axis="0 0 1"/>', shaft, inside)
    more = f"<tendon>{springs}</tendon>"
    return _scene(bodies, more, gravity=_vector(0, 0, -GRAVITY), speeds={"shaft": K.spin}, columns=(2,))


def strut() -> Scene:
    """In joint coordinates a second hinge of the arm has no rows, so that both struts are the same model."""
    P = {name: np.array(point) for name, point in Strut.P.items()}
    com = {name: np.array(point) for name, point in Strut.COM.items()}

    def body(name: str, origin, parent, joint: str, inside: str = "") -> str:
        inertial = _inertial(Strut.mass, com[name] - origin, [Strut.inertia] * 3)
        return _body(name, f'pos="{_vector(*(origin - parent))}"', joint, inertial, inside)

    ball, zero = '<joint type="ball"/>', np.zeros(3)
    cylindrical = '<joint type="slide" axis="0 0 1"/><joint axis="0 0 1"/>'
    top = body("top", P["P4"], P["P2"], cylindrical)
    tie_rod = body("tie_rod", P["P9"], P["P2"], ball)
    wheel = f'<site name="out" pos="{_vector(*(P["P8"] - P["P2"]))}"/>'
    knuckle = body("knuckle", P["P2"], P["P1A"], ball, wheel + top + tie_rod)
    middle = f'<site name="middle" pos="{_vector(*(com["arm"] - P["P1A"]))}"/>'
    bodies = body("arm", P["P1A"], zero, '<joint axis="1 0 0"/>', middle + knuckle)
    rack = '<joint name="rack" type="slide" axis="0 1 0"/>'
    bodies += body("rack", com["rack"], zero, rack, '<site name="rack" pos="0 0 0"/>')
    loops = f'<connect body1="top" body2="world" anchor="{_vector(*(P["P11"] - P["P4"]))}"/>'
    loops += f'<connect body1="tie_rod" body2="rack" anchor="{_vector(*(P["P12"] - P["P9"]))}"/>'
    lift = '<general site="middle" refsite="ground" gear="0 0 1 0 0 0"/>'
    bodies += '<site name="ground" pos="0 0 0"/>'
    more = f'<equality>{loops}</equality><actuator><motor joint="rack"/>{lift}</actuator>'
    gravity = _vector(0, 0, -Strut.gravity)
    return _scene(bodies, more, ("rack", "out"), gravity=gravity, speeds={}, columns=(1, 3, 4, 5))
