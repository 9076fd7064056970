"""Moving frames for the tests of the forces."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from jaxmb.spatial import Motion, Pose

T = jnp.asarray(0.4, float)


def motion(p=(0, 0, 0), R=None, v=(0, 0, 0), w=(0, 0, 0)) -> Motion:
    R = np.eye(3) if R is None else R
    p, R, v, w = (jnp.asarray(x, float) for x in (p, R, v, w))
    return Motion(Pose(p, R), v, w)


@eqx.filter_jit
def _loads(force, motions, t):
    return force.loads(*motions, t=t)


def loads(force, *motions, t=T):
    """Force and torque on each port, as NumPy arrays."""
    return [(np.asarray(f), np.asarray(tau)) for f, tau in _loads(force, motions, t)]
