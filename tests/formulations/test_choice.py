import jax
import jax.numpy as jnp
import numpy as np

import jaxmb as mb
from jaxmb.formulations.choice import Choice, rates

from ..models import door


def test_the_number_chooses_and_only_numbers_change():
    system = door()
    state = system.state(omega={"door": (0, 0, 1.0)}, velocity={"door": (0, 0.45, 0)})
    terms = system.equations().terms(state.t, state.q, state.v)
    members = (mb.UdwadiaKalaba(), mb.StaticPenalty(1e2), mb.Index2Lagrange(), mb.Deflated())
    chosen = jax.jit(lambda k: rates(Choice(members, k), terms, terms.gamma).a)
    for k, member in enumerate(members):
        assert np.allclose(chosen(jnp.asarray(k)), rates(member, terms, terms.gamma).a, atol=1e-10)
    assert not np.allclose(chosen(jnp.asarray(0)), chosen(jnp.asarray(1)), atol=1e-8), "the members differ"
