"""The second way in: energies and constraints as plain functions of any generalised coordinates."""

from collections.abc import Callable, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from .errors import ModelError
from .functions import as_function
from .state import State
from .terms import Equations, Terms


class GeneralizedSystem(Equations):
    """A mechanism in generalised coordinates of the user's choice (relative angles, a slider's x, ...).

    `kinetic(q, v, p)` and `potential(q, p)` are energies (J), `constraint(q, t, p)` a vector that vanishes, `force(q, v, t, p)`
    the generalised forces that are in no potential; `parameters` is any pytree p, whose numbers can be differentiated.
    `coordinates` names the entries of q. The equations follow by differentiation of Lagrange's: d/dt T_v - T_q + V_q = force.
    """

    kinetic: Callable
    potential: Callable | None
    constraint: Callable | None
    force: Callable | None
    parameters: Any
    coordinates: tuple[str, ...] = eqx.field(static=True)

    def __init__(
        self,
        kinetic: Callable,
        potential: Callable | None = None,
        constraint: Callable | None = None,
        force: Callable | None = None,
        parameters: Any = None,
        *,
        coordinates: Sequence[str],
    ):
        self.kinetic = as_function(kinetic)
        self.potential, self.constraint, self.force = (
            None if f is None else as_function(f) for f in (potential, constraint, force)
        )
        self.parameters = jax.tree.map(lambda x: jnp.asarray(x, float), parameters)
        self.coordinates = tuple(coordinates)
        if len(set(self.coordinates)) != len(self.coordinates) or not self.coordinates:
            raise ModelError(
                f"GeneralizedSystem has coordinates {self.coordinates}; give at least one name, each once."
            )
        zero = jnp.zeros(len(self.coordinates))
        shapes = (("kinetic", self._kinetic, (zero, zero), ()), ("potential", self._potential, (zero,), ()))
        for name, function, arguments, wanted in shapes:
            found = jax.eval_shape(function, *arguments).shape
            if found != wanted:
                raise ModelError(
                    f"GeneralizedSystem has {name} that returns shape {found}; an energy is a scalar, shape ()."
                )
        if len(self._rows) != 1:
            raise ModelError(
                f"GeneralizedSystem has constraint that returns shape {self._rows}; it must return a vector."
            )

    def state(self, q, v=None, t=0.0) -> State:
        """Positions and speeds in the order of `coordinates` (at rest by default)."""
        q = jnp.asarray(q, float)
        v = jnp.zeros_like(q) if v is None else jnp.asarray(v, float)
        wanted = (len(self.coordinates),)
        if q.shape != wanted or v.shape != wanted:
            raise ModelError(
                f"GeneralizedSystem has coordinates {self.coordinates}, but q, v have shapes {q.shape}, {v.shape}."
            )
        return State(jnp.asarray(t, float), q, v)

    def equations(self) -> "GeneralizedSystem":
        return self

    @property
    def row_names(self) -> tuple[str, ...]:
        return tuple(f"constraint.{k + 1}" for k in range(self._rows[0]))

    @property
    def speed_names(self) -> tuple[str, ...]:
        return self.coordinates

    @property
    def _rows(self) -> tuple[int, ...]:
        zero = jnp.zeros(len(self.coordinates))
        return jax.eval_shape(self._constraint, zero, jnp.zeros(())).shape

    def _kinetic(self, q, v) -> Float[Array, "..."]:
        return jnp.asarray(self.kinetic(q, v, self.parameters), float)

    def _potential(self, q) -> Float[Array, "..."]:
        return jnp.zeros(()) if self.potential is None else jnp.asarray(self.potential(q, self.parameters), float)

    def _constraint(self, q, t) -> Float[Array, "..."]:
        return jnp.zeros(0) if self.constraint is None else jnp.asarray(self.constraint(q, t, self.parameters), float)

    @eqx.filter_jit
    def terms(self, t, q, v):
        def rate(q, t, v):
            return jax.jvp(self._constraint, (q, t), (v, jnp.ones(())))[1]

        _, drift = jax.jvp(lambda q, t: rate(q, t, v), (q, t), (v, jnp.ones(())))
        momentum = jax.grad(self._kinetic, argnums=1)
        _, momentum_drift = jax.jvp(lambda q: momentum(q, v), (q,), (v,))
        applied = jnp.zeros_like(v) if self.force is None else jnp.asarray(self.force(q, v, t, self.parameters), float)
        Q = applied + jax.grad(self._kinetic)(q, v) - jax.grad(self._potential)(q) - momentum_drift
        return Terms(
            mass=jax.jacfwd(momentum, argnums=1)(q, v),
            Phi=self._constraint(q, t),
            jacobian=jax.jacfwd(self._constraint)(q, t),
            Phi_dot=rate(q, t, v),
            gamma=-drift,
            Q=Q,
            power=jnp.dot(applied, v),
        )

    def energies(self, q, v):
        return self._kinetic(q, v), self._potential(q)
