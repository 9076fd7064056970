"""Local coordinates and axes that go with the bodies."""

import jax
import jax.numpy as jnp
import numpy as np

import jaxmb as mb
from jaxmb.formulations.deflated import null_space
from jaxmb.integrators.field import Carried, Field
from jaxmb.integrators.local import Local

from ..models import spatial_loop


def local(dv=0.3):
    system, state = spatial_loop(stiffness=2000.0)
    equations = system.equations()
    v = dv * mb.velocity_basis(system, state)[:, 0]
    carried = Carried(null_space(equations.terms(state.t, state.q, v).J), ())
    return Local(Field(equations, mb.Deflated(), mb.NoStabilization()), carried, state.q), equations, state.q, v


def test_rates_are_the_accelerations_in_turning_axes():
    """d/dt of u = R' v along the motion, by differences of the axes."""
    at, equations, q, v = local()
    u = equations.to_axes(q, v)
    rate, _, _ = at.rates(jnp.zeros(()), jnp.zeros_like(u), u)
    zero = jnp.zeros(())
    _, a, _, _ = at.field(zero, (q, v, zero, zero), at.carried)
    _, expected = jax.jvp(equations.to_axes, (q, v), (equations.qdot(q, v), a))
    np.testing.assert_allclose(rate, expected, atol=1e-10)


def test_few_columns_are_those_of_the_free_motions():
    """On what the joints allow, the derivatives by one column for the one freedom are the full ones."""
    at, equations, q, v = local()
    u = equations.to_axes(q, v)
    t = jnp.zeros(())
    full, few = at.derivatives(t, u, None), at.derivatives(t, u, 1)
    free = u / jnp.linalg.norm(u)
    for a, b in zip(full, few, strict=True):
        np.testing.assert_allclose(b @ free, a @ free, atol=1e-8 * float(jnp.max(jnp.abs(a))))
        assert np.linalg.matrix_rank(np.asarray(b), rtol=1e-9) == 1
