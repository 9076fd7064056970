import jax
import jax.numpy as jnp

import jaxmb as mb


def test_state_is_a_pytree_of_three():
    state = mb.State(jnp.zeros(()), jnp.ones(7), jnp.ones(6))
    assert len(jax.tree.leaves(state)) == 3
    stacked = jax.tree.map(lambda x: jnp.stack([x, x]), state)
    assert stacked.q.shape == (2, 7) and stacked.t.shape == (2,)
