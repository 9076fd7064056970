"""How redundant joints share a load that the equations of rigid bodies leave open."""

from collections.abc import Mapping

import jax.numpy as jnp
import jax.scipy as jsp
import numpy as np
from jaxtyping import Array, Float

from .errors import ModelError, is_concrete, unknown_name
from .formulations.base import RANK_TOLERANCE
from .formulations.deflated import null_space
from .outputs import wrench_maps
from .scaling import scaling_of
from .system import System


def share(
    system: System, t, q, v, lam: Float[Array, " m"], compliances: Float[Array, "joints 2"]
) -> Float[Array, " m"]:
    """The multipliers with the same effect on the motion that store the least energy in the joints,
    sum over joints of (c_t |force|^2 + c_r |torque|^2) / 2, for translational and rotational compliances c_t (m/N) and c_r
    (rad/(N m)) of each joint: what joints give that are soft, but much stiffer than the loads need.

    min (lam + N c)' W (lam + N c) over c, where N spans the null space of J' and W = G' C G with wrench = G lam.
    """
    equations = system.equations()
    J = equations.terms(t, q, v).J
    scaling = scaling_of(equations, q, J)
    J_scaled, D = scaling.jacobian(J)
    null = null_space(J_scaled)
    # Projected, so that the basis turns with J and derivatives are whole.
    N = D[:, None] * (null.N - J_scaled @ (jnp.linalg.pinv(J_scaled, rtol=RANK_TOLERANCE) @ null.N))
    W = _energy(system, t, q, v, compliances, lam.size)
    zero = jnp.where(null.null, 0.0, 1.0)
    NWN = N.T @ W @ N
    size = jnp.trace(NWN)
    # Columns without a null vector get a pivot of their own.
    pivots = jnp.diag(zero * jnp.where(size > 0, size, 1.0))
    c = jsp.linalg.cho_solve(jsp.linalg.cho_factor(NWN + pivots), N.T @ (W @ lam))
    return lam - N @ c


def _energy(system: System, t, q, v, compliances, m: int) -> Float[Array, "m m"]:
    """W = G' C G of all joints; rows that coordinates bring of themselves have no reaction and stay as they are."""
    equations = system.equations()
    W = jnp.zeros((m, m))
    for group, maps in wrench_maps(equations, t, q, v):
        G, rows = maps[1], equations.row_index(group)
        C = jnp.repeat(compliances[np.array(group.order)], 3, axis=1)
        W = W.at[rows[:, :, None], rows[:, None, :]].set(jnp.einsum("jir,ji,jis->jrs", G, C, G))
    return W


def compliances_of(system: System, compliance) -> Float[Array, "joints 2"]:
    """Translational and rotational compliance of every joint: one pair for all of them, or pairs by joint name."""
    if not isinstance(compliance, Mapping):
        compliance = dict.fromkeys(system.joints, compliance)
    for name in compliance:
        if name not in system.joints:
            raise unknown_name("compliance names joint", "Joints", name, system.joints)
    missing = [name for name in system.joints if name not in compliance]
    if missing:
        raise ModelError(
            f"compliance has no pair for joints {', '.join(missing)}. Give (translational m/N, rotational rad/(N m)) for every "
            "joint."
        )
    out = []
    for name in system.joints:
        pair = jnp.asarray(compliance[name], float)
        if pair.shape != (2,) or (is_concrete(pair) and not np.all(np.asarray(pair) > 0)):
            raise ModelError(
                f"compliance of joint '{name}' is {compliance[name]}. Give two positive numbers: translational m/N and "
                "rotational rad/(N m)."
            )
        out.append(pair)
    return jnp.stack(out)
