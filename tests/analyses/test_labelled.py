"""The redundancy analysis against mechanism theory: labelled mechanisms at three poses, in all units."""

import numpy as np
import pytest
import scipy.linalg

import jaxmb as mb

from .labelled import MECHANISMS
from .labelled.model import HERE, Model

#: Those of the default suite: one of each family, with poses that are singular and paradoxical loops among them.
DEFAULT = (
    "double_pendulum",
    "flat_parallelogram",
    "driven_slider_crank",
    "door_on_two_hinges",
    "bennett_loop",
    "h_frame",
)
#: Factors of all lengths and of all masses.
UNITS = ((1.0, 1.0), (1e-3, 1e-6), (1e-3, 1e6), (1e3, 1e-6), (1e3, 1e6))
NAMES = [pytest.param(m, id=m.name, marks=() if m.name in DEFAULT else pytest.mark.slow) for m in MECHANISMS]


def test_the_set_has_what_was_asked_for():
    names = {mechanism.name for mechanism in MECHANISMS}
    assert len(names) == len(MECHANISMS) >= 30
    asked = """pendulum mixed_chain planar_four_bar four_bar_in_space four_bar_rssr door_on_two_hinges door_on_three_hinges
    h_frame flat_parallelogram three_cranks_in_space bennett_loop bricard_loop sarrus_loop stewart_platform
    driven_stewart_platform delta_with_ball_rods delta_with_hinged_parallelograms rigid_axle_on_two_arms gear_pair
    planetary_gear_with_three_planets slider_crank_in_space driven_slider_crank two_windows five_windows""".split()
    assert names.issuperset(asked)


def test_labels_count_what_there_is():
    """rows - redundant = speeds - dof, whatever the program says."""
    for mechanism in MECHANISMS:
        model = Model(1.0, 1.0, HERE)
        mechanism.draw(model, 0)
        kind = mechanism.coordinates
        speeds = kind.nv if isinstance(kind, mb.Planar | mb.PointMass) else 6
        assert mechanism.rank == speeds * len(model.bodies) - mechanism.dof, mechanism.name


@pytest.mark.parametrize("mechanism", NAMES)
def test_report_is_the_label(mechanism):
    wrong = []
    for pose in range(3):
        singular = mechanism.here_dof[pose] > mechanism.dof
        redundant = mechanism.here_redundant(pose)
        wanted = {
            "rows": mechanism.rows,
            "rank": mechanism.here_rank(pose),
            "dof": mechanism.here_dof[pose],
            "redundant": redundant,
            "structural_dof": mechanism.dof,
            "structurally_redundant": mechanism.redundant,
            "singular": singular,
            "conflicting": False,
            "exit_code": int(redundant > 0),
        }
        for length, mass in UNITS:
            system, state = mechanism.build(pose, length, mass)
            report = mb.redundancy(system, state)
            case = f"pose {pose}, length {length:g}, mass {mass:g}"
            wrong += [
                f"{case}: {k} {getattr(report, k)}, not {x}" for k, x in wanted.items() if getattr(report, k) != x
            ]
            assert report.gap > 1e6
            assert len(report.freedoms) == report.dof
            assert sum(found.redundant for found in report.redundant_sets) == redundant
            if not singular:
                said = {joint: report.reactions[joint].verdict for joint in mechanism.reactions}
                wrong += [f"{case}: {k} {said[k]}, not {x}" for k, x in mechanism.reactions.items() if said[k] != x]
        if redundant:
            wrong += uniqueness_errors(system, state, report)
    assert not wrong


def uniqueness_errors(system, state, report):
    """Adds a random self-stress to the multipliers and looks at what each joint does to its bodies (forces, and torques over the
    size)."""
    # In these coordinates speeds are velocities and angular velocities, and all rows are those of joints.
    kinds = {name: kind if kind.nv < 6 else mb.Quaternion() for name, kind in system.coordinates.items()}
    plain = system.with_coordinates(kinds)
    state = plain.convert(state, system)
    J = np.asarray(plain.equations().terms(state.t, state.q, state.v).J) * columns(plain, report.size)[None, :]
    rows = np.linalg.norm(J, axis=1, keepdims=True)
    null = scipy.linalg.null_space((J / rows).T, rcond=1e-9)
    stress = null @ np.random.default_rng(2).normal(size=null.shape[1])
    loads, wrong = {}, []
    for name, verdict in report.reactions.items():
        mine = [k for k, row in enumerate(report.names) if row.rpartition(".")[0] == name]
        loads[name] = np.abs((J[mine] / rows[mine]).T @ stress[mine]).max()
        free = np.linalg.matrix_rank(null[mine], tol=1e-8)
        said = verdict.count - len(verdict.combinations)
        wrong += [] if free == said else [f"{name}: {said} free components, not {free}"]
    scale = max(loads.values())
    for name, load in loads.items():
        unique = report.reactions[name].verdict == "unique"
        wrong += (
            [] if unique == (load < 1e-8 * scale) else [f"{name}: unique {unique}, but moved by {load / scale:.1e}"]
        )
    return wrong


def columns(system, size):
    """The size for speeds that are translations, 1 for rotations."""
    each = {6: [size] * 3 + [1.0] * 3, 3: [size, size, 1.0], 2: [size, size]}
    return np.concatenate([each[kind.nv] for kind in system.coordinates.values()])
