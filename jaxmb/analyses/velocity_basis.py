"""All velocities a pose allows."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..errors import ModelError, is_concrete
from ..scaling import scaling_of
from ..state import State
from ..system import System
from .dependence import decompose


def velocity_basis(system: System, state: State, *, dof: int | None = None) -> Float[Array, "nv dof"]:
    """Z with J Z = 0 and Z' M Z = 1: `state.v + Z @ y` satisfies the constraints for every y when `state.v` does.

    The kinetic energy of Z y is |y|^2 / 2, so that y from a normal distribution gives velocities of equal mean energy in every
    direction. `dof`, the number of columns, is found from concrete values; inside jit give it. The basis has no derivative
    (it is one of many); the velocities made with it are those of a fixed pose.
    """
    equations = system.equations()
    terms = equations.terms(state.t, state.q, jnp.zeros_like(state.v))
    scaling = scaling_of(equations, state.q, terms.J)
    J, _ = scaling.jacobian(terms.J)
    if is_concrete(J):
        found = J.shape[1] - decompose(np.asarray(J)).rank
        if dof is not None and dof != found:
            raise ModelError(
                f"velocity_basis was given dof={dof}, but the mechanism has {found} degrees of freedom here. Leave dof out."
            )
        dof = found
    if dof is None:
        raise ModelError(
            "velocity_basis needs dof= inside jit, grad or vmap, where no rank can be found. Take it from redundancy(system, state).dof."
        )
    if not dof:
        return jnp.zeros((state.v.size, 0))
    Z = scaling.columns[:, None] * jnp.linalg.eigh(J.T @ J)[1][:, :dof]
    L = jnp.linalg.cholesky(Z.T @ terms.M @ Z)
    return jnp.linalg.solve(L, Z.T).T
