"""Where a mechanism is and how it moves."""

import equinox as eqx
from jaxtyping import Array, Float


class State(eqx.Module):
    """Time `t` (s), positions `q` and speeds `v`, in the coordinates of a system."""

    t: Float[Array, "*batch"]
    q: Float[Array, "*batch nq"]
    v: Float[Array, "*batch nv"]
