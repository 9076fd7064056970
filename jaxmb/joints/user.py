"""A constraint of the user's own."""

from collections.abc import Callable
from typing import ClassVar

import jax
import jax.numpy as jnp

from ..errors import ModelError
from ..functions import as_function
from ..spatial import identity_pose
from .base import Joint


class UserJoint(Joint):
    """`function(F, G, t)` of the two frames (their position `p` and axes `x`, `y`, `z` in the world) and time, zero
    when the joint is closed; a vector of any length. Jacobian and gamma follow by differentiation."""

    function: Callable

    rows: ClassVar[tuple[str, ...]] = ()
    rheonomic: ClassVar[bool] = True

    def __init__(
        self, first: str, second: str, function: Callable, *, point=None, at=None, to=None, axis="z", axis_to=None
    ):
        super().__init__(first, second, point=point, at=at, to=to, axis=axis, axis_to=axis_to)
        self.function = as_function(function)
        shape = self._shape
        if len(shape) != 1:
            raise ModelError(
                f"UserJoint('{first}', '{second}') has a function that returns shape {shape}; it must return a vector. "
                "Wrap a scalar with jnp.atleast_1d."
            )

    @property
    def _shape(self) -> tuple[int, ...]:
        pose = identity_pose()
        return jax.eval_shape(lambda: jnp.asarray(self.function(pose, pose, jnp.zeros(())))).shape

    @property
    def nrows(self) -> int:
        return self._shape[0]

    def residual(self, F, G, t):
        return self.function(F, G, t)
