"""MuJoCo: joint coordinates, loops as constraints that are as hard as its steps allow, the loop over steps in C."""

# pyright: reportAttributeAccessIssue=false
# (what is compiled does not say what is in it)

import time
from collections.abc import Callable
from functools import partial

import numpy as np

from . import mujoco_models as models
from .base import Method, Model, Outcome, Peer, steps_between
from .numbers import Andrews, Strut

#: With solref = 2 dt constraints are as hard as MuJoCo lets them be; its default softness is silently wrong on A02.
HEADER = """<mujoco><compiler angle="radian" boundmass="0" boundinertia="0"/>
<option gravity="{gravity}" timestep="{dt!r}" integrator="{integrator}" solver="Newton" iterations="100" tolerance="1e-12"
 ls_iterations="100"><flag contact="disable" eulerdamp="disable"/></option>
<default><equality solref="{stiff!r} 1" solimp="0.9999 0.9999 0.001"/></default>"""


def _model(
    scene: Callable[[], models.Scene],
    methods: tuple[Method, ...],
    ts: np.ndarray,
    control: Callable[[np.ndarray], np.ndarray] | None = None,
) -> Model:
    """`control` gives what actuators do at some times."""
    import mujoco
    import mujoco.rollout

    made = scene()
    full = mujoco.mjtState.mjSTATE_FULLPHYSICS

    def prepare(integrator: str, dt: float):
        header = HEADER.format(gravity=made.gravity, dt=dt, integrator=integrator, stiff=2 * dt)
        model = mujoco.MjModel.from_xml_string(f"{header}{made.xml}</mujoco>")
        data = mujoco.MjData(model)
        for name, speed in made.speeds.items():
            data.joint(name).qvel[0] = speed
        mujoco.mj_forward(model, data)
        state = np.zeros(mujoco.mj_stateSize(model, full))
        mujoco.mj_getState(model, data, state, full)
        return model, data, state

    prepare(methods[0].name, methods[0].levels[0])  # a mistake in the model shows here

    def run(name: str, level: float) -> Outcome:
        every = steps_between(ts, level)
        count = every * (len(ts) - 1)
        model, data, state = prepare(name, level)
        # Constant over a step, so the value in its middle.
        given = None if control is None else control((np.arange(count) + 0.5) * level)[None]
        started = time.perf_counter()
        states, sensors = mujoco.rollout.rollout(model, data, state[None], given, nstep=count)
        took = time.perf_counter() - started
        # Sensors are those of the start of a step; the end has to be asked for.
        mujoco.mj_setState(model, data, np.asarray(states)[0, -1], full)
        mujoco.mj_forward(model, data)
        found = np.concatenate([np.asarray(sensors)[0, ::every], data.sensordata[None]])[:, list(made.columns)]
        # After an instability it starts again from its reference pose, with no more than a warning.
        lost = any(data.warning[k].number for k in (mujoco.mjtWarning.mjWARN_BADQPOS, mujoco.mjtWarning.mjWARN_BADQACC))
        return Outcome(np.full_like(found, np.nan) if lost else found, took)

    mujoco.set_mju_user_warning(lambda message: None)  # else it writes a file where one happens to be
    return Model(methods, run)


def _rk4(*levels: float) -> tuple[Method, ...]:
    return (Method("RK4", levels),)


def _four_bar(*levels: float, finer: tuple[float, ...] = ()) -> tuple[Method, ...]:
    """The error is of first order in the step with both methods, so that the cheaper one is tried with finer steps too."""
    return (*_rk4(*levels), Method("implicitfast", levels + finer))


_coarse = (1e-2, 5e-3, 2e-3, 1e-3, 5e-4)


def _push(t: np.ndarray) -> np.ndarray:
    return np.stack([Strut.push_mean + Strut.push_amplitude * np.sin(t), np.full_like(t, Strut.lift)], 1)


_strut = partial(_model, models.strut, _rk4(1e-2, 5e-3, 2e-3, 1e-3, 5e-4), control=_push)

MUJOCO = Peer(
    "mujoco",
    "mujoco",
    "mujoco",
    {
        "a01": partial(_model, models.pendulum, _rk4(0.05, 0.02, 0.01, 0.005, 0.002, 0.001)),
        "a02-2": partial(
            _model,
            partial(models.n_four_bar, 2),
            _four_bar(*_coarse, 2e-4, finer=(1e-4, 5e-5, 2e-5, 1e-5, 4e-6)),
        ),
        "a02-10": partial(_model, partial(models.n_four_bar, 10), _four_bar(*_coarse, 2e-4, finer=(1e-4, 5e-5))),
        "a02-40": partial(_model, partial(models.n_four_bar, 40), _four_bar(*_coarse)),
        "a03": partial(
            _model,
            models.andrews,
            _rk4(1e-4, 5e-5, 2.5e-5, 1e-5, 5e-6),
            control=lambda t: np.full((len(t), 1), Andrews.torque),
        ),
        "a04": partial(_model, models.bricard, _rk4(0.02, 0.01, 0.005, 0.002, 0.001)),
        "a05": partial(_model, models.governor, _rk4(5e-4, 2.5e-4, 2e-4, 1e-4)),
        "mcpherson-simplified": _strut,
        "mcpherson-overconstrained": _strut,
    },
)
