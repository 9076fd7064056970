"""Which element of a model is NaN or infinite."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ..forces import Gravity
from ..packed import Packed, force_terms, joint_terms
from ..state import State
from ..system import System

#: How far ahead of the last good state to look, as parts of the run: what is NaN from some time or place on is not so there yet.
AHEAD = (0.0, 1e-12, 1e-9, 1e-7, 1e-5, 1e-3)


def culprits(system, state: State, span: float) -> tuple[str, ...]:
    """Names of the elements with a value that is not finite at `state`, or else shortly after it; the run is `span` (s) long."""
    for part in AHEAD:
        parts = jax.device_get(_values(system, state, part * span))
        named = tuple(name for name, finite in parts.items() if not np.all(finite))
        if named:
            return named
    return ()


@eqx.filter_jit
def _values(system, state: State, dt):
    """Whether each element is finite when the state has moved on by dt at its speeds."""
    equations = system.equations()
    t, q, v = state.t + dt, equations.retract(state.q, dt * state.v), state.v
    if not isinstance(system, System) or not isinstance(equations, Packed):
        terms = equations.terms(t, q, v)
        return {f"the term {name}": _finite(getattr(terms, name)) for name in ("M", "Q", "Phi", "gamma")}
    rides = equations.rides(equations.poses(q), equations.twists(q, v))
    joints, found = len(equations.joints), {}
    forces = [name for name, force in system.forces.items() if not isinstance(force, Gravity)]
    kinds = [
        ("joint", tuple(system.joints), joint_terms, rides[:joints]),
        ("force", forces, force_terms, rides[joints:]),
    ]
    for kind, names, function, groups in kinds:
        for group, motion in groups:
            each = group.map(lambda *x, f=function: _finite(f(t, *x)), motion)
            found |= {f"{kind} '{names[k]}'": each[i] for i, k in enumerate(group.order)}
    found |= {f"body '{name}'": _finite((body.mass, body.inertia)) for name, body in system.bodies.items()}
    return found


def _finite(tree):
    return jnp.all(jnp.stack([jnp.all(jnp.isfinite(x)) for x in jax.tree.leaves(tree)]))
