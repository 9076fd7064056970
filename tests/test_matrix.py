"""Formulations x mechanisms x coordinates at random consistent states: accelerations, multipliers and declared failures.

Truth is the least-squares solution of the equations by NumPy. All formulations of a cell are compiled as one program.
"""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmb as mb
from jaxmb.formulations.choice import rates
from jaxmb.mechanisms import get_mechanism
from jaxmb.spatial import Pose
from jaxmb.status import status_name

STATES = 20
MECHANISMS = {  # degrees of freedom, redundant rows
    "mcpherson-simplified": (4, 0),
    "mcpherson-overconstrained": (4, 5),
    "bricard": (1, 1),
    "spatial-four-bar": (1, 0),
}
COORDINATES = {
    "quaternion": mb.Quaternion(),
    "euler-angles": mb.EulerAngles("zxz"),
    "euler-parameters": mb.EulerParameters(),
}
EXACT = [f for f in mb.ALL_FORMULATIONS if isinstance(f, mb.Formulation) and f.exact]


@functools.cache
def random_states(name):
    """Poses and twists of consistent states: random instants of a run, with random velocities made consistent."""
    system, _state = get_mechanism(name).build()
    system = system.with_coordinates(mb.Quaternion())
    rng = np.random.default_rng(7)
    ts = np.sort(rng.uniform(0.2, 3.0, 6 * STATES))
    sol = mb.simulate(system, system.state(), t1=3.0, ts=ts)
    equations = system.equations()

    @eqx.filter_jit
    def consistent(t, q, v):
        terms = equations.terms(t, q, v)
        v = v - jnp.linalg.pinv(terms.J, rtol=1e-8) @ terms.Phi_dot
        return equations.poses(q), equations.twists(q, v)

    v = jnp.asarray(rng.normal(size=sol.v.shape))
    poses, twists = jax.vmap(consistent)(sol.t, sol.q, v)
    # Away from the singular rotations of zxz angles, which are tested elsewhere.
    usable = np.all(np.abs(np.asarray(poses.R)[:, :-1, 2, 2]) < 0.95, axis=1)
    assert usable.sum() >= STATES
    keep = np.flatnonzero(usable)[:STATES]
    return sol.t[keep], jax.tree.map(lambda x: x[keep, :-1], poses), twists[keep, :-1]


@functools.cache
def cell(name, kind):
    """Terms and what every formulation makes of them, at all states."""
    system, _ = get_mechanism(name).build()
    coordinates = COORDINATES[kind]
    system = system.with_coordinates(coordinates)
    equations = system.equations()
    dof, _ = MECHANISMS[name]
    t, poses, twists = random_states(name)
    formulations = [f if not f.needs_dof else type(f)(dof=dof) for f in EXACT]
    penalties = [mb.StaticPenalty(mu=mu) for mu in (1e4, 1e5)]

    @eqx.filter_jit
    @functools.partial(jax.vmap, in_axes=(0, 0, 0, 0))
    def evaluate(t, p, R, twists):
        q = jax.vmap(lambda p, R: coordinates.from_pose(Pose(p, R)))(p, R)
        v = jax.vmap(coordinates.from_twist)(q, twists).reshape(-1)
        q = q.reshape(-1)
        terms = equations.terms(t, q, v)
        outs = [rates(f, terms, terms.gamma) for f in [*formulations, *penalties]]

        def twist_rate(a):
            return jax.jvp(equations.twists, (q, v), (equations.qdot(q, v), a))[1][:-1]

        return terms, terms.M, outs, [twist_rate(out.a) for out in outs]

    return evaluate(t, poses.p, poses.R, twists)


@functools.cache
def truth(name, kind):
    """Accelerations and minimum-norm multipliers by NumPy."""
    terms, M, _, _ = cell(name, kind)
    a, lam = [], []
    for k in range(STATES):
        J = np.asarray(terms.J[k])
        m, n = J.shape
        K = np.block([[np.asarray(M[k]), J.T], [J, np.zeros((m, m))]])
        x = np.linalg.lstsq(K, np.concatenate([terms.Q[k], terms.gamma[k]]), rcond=1e-10)[0]
        a.append(x[:n])
        lam.append(np.linalg.lstsq(J.T, np.asarray(terms.Q[k]) - np.asarray(M[k]) @ x[:n], rcond=1e-8)[0])
    return np.array(a), np.array(lam)


# The redundant mechanisms in the default coordinates are in the default suite; the others are longer than it allows.
CELLS = [
    pytest.param(name, kind, marks=() if redundant and kind == "quaternion" else pytest.mark.slow)
    for name, (_, redundant) in MECHANISMS.items()
    for kind in COORDINATES
]


def must_fail(formulation, name, kind):
    cls = type(formulation)
    redundant = MECHANISMS[name][1] > 0 and not cls.tolerates_redundancy
    singular = kind == "euler-parameters" and not cls.tolerates_singular_mass
    return ({"redundant"} if redundant else set()) | ({"singular_mass"} if singular else set())


@pytest.mark.parametrize(("name", "kind"), CELLS)
def test_states_are_consistent(name, kind):
    terms, *_ = cell(name, kind)
    dof, redundant = MECHANISMS[name]
    assert np.max(np.abs(terms.Phi)) < 1e-9
    assert np.max(np.abs(terms.Phi_dot)) < 1e-9
    J = np.asarray(terms.J)
    for k in range(STATES):
        assert np.linalg.matrix_rank(J[k], rtol=1e-7) == J.shape[2] - dof == J.shape[1] - redundant


@pytest.mark.parametrize(("name", "kind"), CELLS)
@pytest.mark.parametrize("number", range(len(EXACT)), ids=[type(f).__name__ for f in EXACT])
def test_accelerations_and_multipliers(number, name, kind):
    _, _, outs, _ = cell(name, kind)
    out, formulation = outs[number], EXACT[number]
    statuses = {status_name(jax.tree.map(lambda x, k=k: x[k], out.status)) for k in range(STATES)}
    expected = must_fail(formulation, name, kind)
    if expected:
        assert statuses <= expected, f"{type(formulation).__name__} must refuse with {expected}, gave {statuses}"
        assert np.all(np.isnan(out.a)), "a refused solve must not give a plausible number"
        return
    assert statuses == {"successful"}
    a, lam = truth(name, kind)
    scale = np.maximum(1.0, np.max(np.abs(a), axis=1, keepdims=True))
    assert np.max(np.abs(out.a - a) / scale) < 1e-9
    scale = np.maximum(1.0, np.max(np.abs(lam), axis=1, keepdims=True))
    if type(formulation) is not mb.Deflated:  # its multipliers are made the smallest in `solve`, not in a run
        assert np.max(np.abs(out.lam - lam) / scale) < 1e-8


@pytest.mark.parametrize(("name", "kind"), CELLS)
def test_static_penalty_converges_at_its_rate(name, kind):
    _, _, outs, _ = cell(name, kind)
    a, _ = truth(name, kind)
    soft, stiff = (np.max(np.abs(np.asarray(out.a) - a)) for out in outs[len(EXACT) :])
    assert 8.0 < soft / stiff < 12.0, "ten times the penalty leaves a tenth of the error"


@pytest.mark.slow
@pytest.mark.parametrize("name", MECHANISMS)
def test_motion_does_not_depend_on_coordinates(name):
    number = [type(f).__name__ for f in EXACT].index("LeastSquares2")
    reference = np.asarray(cell(name, "quaternion")[3][number])
    scale = np.max(np.abs(reference))
    for kind in ("euler-angles", "euler-parameters"):
        assert np.max(np.abs(np.asarray(cell(name, kind)[3][number]) - reference)) < 1e-9 * scale
