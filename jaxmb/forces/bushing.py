"""A rubber mount: stiffness and damping in all six directions."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from ..errors import ModelError
from ..ports import pair
from ..spatial import compose, dot, rotation_vector, turn
from .base import MeasuredForce


class Bushing(MeasuredForce):
    """Linear stiffness and damping against the displacement (m, in the axes of the first frame) and the rotation vector
    (rad) of the second frame from the first: three translational and three rotational values, or a 6 x 6 matrix.

    The z axis of both frames is `axis`. The rotation must stay below half a turn.
    """

    stiffness: Float[Array, "6 6"]
    damping: Float[Array, "6 6"]

    def __init__(
        self,
        first: str,
        second: str,
        *,
        stiffness,
        damping=(0.0,) * 6,
        point=None,
        at=None,
        to=None,
        axis="z",
        axis_to=None,
    ):
        self.ports = pair("Bushing", first, second, point, at, to, axis, axis_to)
        self.stiffness = _six(stiffness, f"Bushing('{first}', '{second}') stiffness")
        self.damping = _six(damping, f"Bushing('{first}', '{second}') damping")

    def measure(self, F, G):  # pyright: ignore[reportIncompatibleMethodOverride]
        return jnp.concatenate([turn(F.R.T, G.p - F.p), rotation_vector(compose(F.R.T, G.R))])

    def magnitude(self, x, xdot, t):
        return turn(self.stiffness, x) + turn(self.damping, xdot)

    def energy(self, *poses):
        x = self.measure(*poses)
        return 0.5 * dot(x, turn(self.stiffness, x))


def _six(value, what: str) -> Float[Array, "6 6"]:
    array = jnp.asarray(value, float)
    if array.shape not in ((6,), (6, 6)):
        raise ModelError(
            f"{what} has shape {array.shape}; give six numbers (three N/m, three N m/rad) or a 6 x 6 matrix."
        )
    return jnp.diag(array) if array.ndim == 1 else array
