"""All velocities a pose allows."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..errors import ModelError, is_concrete
from ..scaling import scaling_of
from ..state import State
from ..system import System
from .closing import Correction
from .dependence import RANK_TOLERANCE, decompose


def velocity_basis(system: System, state: State, *, dof: int | None = None) -> Float[Array, "nv dof"]:
    """Z with J Z = 0 and Z' M Z = 1: `state.v + Z @ y` satisfies the constraints for every y when `state.v` does.

    The kinetic energy of Z y is |y|^2 / 2, so that y from a normal distribution gives velocities of equal mean energy in every
    direction. `dof`, the number of columns, is found from concrete values; inside jit, grad or vmap give it (NaN if it is too
    large). Z is one basis of many; its derivative is the smallest change that keeps both properties.
    """
    equations = system.equations()
    terms = equations.terms(state.t, state.q, jnp.zeros_like(state.v))
    scaling = scaling_of(equations, state.q, terms.J)
    J, _ = jax.lax.stop_gradient(scaling.jacobian(terms.J))
    if is_concrete(J):
        found = J.shape[1] - decompose(np.asarray(J)).rank
        if dof is not None and dof != found:
            raise ModelError(
                f"velocity_basis was given dof={dof}, but the mechanism has {found} degrees of freedom here. Leave dof out."
            )
        dof = found
    if dof is None:
        raise ModelError(
            "velocity_basis needs dof= inside jit, grad or vmap, where no rank can be found. Take it from "
            "redundancy(system, state).dof."
        )
    if not dof:
        return jnp.zeros((state.v.size, 0))
    null = jnp.linalg.svd(J)[2][-dof:] if equations.row_names else jnp.eye(state.v.size)
    forbidden = jnp.max(jnp.abs(J @ null.T), initial=0.0) > RANK_TOLERANCE
    Z = scaling.columns[:, None] * jnp.where(forbidden, jnp.nan, null.T)
    if equations.row_names:
        # Nothing but rounding in value; its derivative keeps J Z = 0 where J changes.
        Z = Z + jax.vmap(lambda z: Correction("inertia", scaling).newton(terms.mass, terms.J, terms.J @ z), 1, 1)(Z)
    L = jnp.linalg.cholesky(Z.T @ terms.M @ Z)
    return jax.scipy.linalg.solve_triangular(L, Z.T, lower=True).T
