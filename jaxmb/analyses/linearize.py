"""Small motions about a place of rest."""

from collections.abc import Callable, Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Complex, Float

from ..errors import ModelError, is_concrete
from ..forces import Force, Gravity
from ..state import State
from ..system import System
from .balance import imbalance, no_stiffness, reach, relative
from .modes import Modes, count_modes, find_modes
from .moment import Moment, as_output
from .tangent import count_free, damping, free_motions, release, stiffness

#: Largest |v| (m/s, rad/s), |Phi| (parts of the size, rad) and part of the forces left over of a state that counts as rest.
AT_REST = 1e-9
ASSEMBLED = 1e-6
NEARLY_BALANCED = 1e-6


class Linearization(eqx.Module):
    """x' = A x + B u, y = C x + D u with x = (xi, xi'): small motions q = q_rest + Z xi that the constraints allow.

    The basis Z has Z' M Z = 1, so xi'' + damping xi' + stiffness xi = load u. Nothing but A, B, C, D changes with another
    basis by more than a rotation; eigenvalues, modes and responses do not.
    """

    stiffness: Float[Array, "d d"]
    """Z' K Z (1/s2), with the geometric stiffness of the reactions at rest."""
    damping: Float[Array, "d d"]
    """Z' C Z (1/s)."""
    load: Float[Array, "d inputs"]
    """Z' Q of each input."""
    C: Float[Array, "outputs x"]
    D: Float[Array, "outputs inputs"]
    Z: Float[Array, "n d"]
    no_stiffness: Float[Array, ""]
    """What counts as no stiffness (1/s2): rounding of what is there."""
    inputs: tuple[str, ...] = eqx.field(static=True)
    outputs: tuple[str, ...] = eqx.field(static=True)
    state: State
    system: Any

    @property
    def dof(self) -> int:
        """Number of degrees of freedom."""
        return self.Z.shape[1]

    @property
    def A(self) -> Float[Array, "x x"]:
        zero, one = jnp.zeros((self.dof, self.dof)), jnp.eye(self.dof)
        return jnp.block([[zero, one], [-self.stiffness, -self.damping]])

    @property
    def B(self) -> Float[Array, "x inputs"]:
        return jnp.concatenate([jnp.zeros_like(self.load), self.load])

    def modes(self, count: int | None = None) -> Modes:
        """Eigenvalues, frequencies, damping ratios and shapes.

        A pair of complex eigenvalues is one mode, and so is each real one and each motion without stiffness; `count` is their
        number. It is found from known values; inside jit, grad or vmap it is taken as the number of degrees of freedom, which
        it is unless a motion is overdamped or unstable. With another number than the true one all is NaN.
        """
        if count is None:
            known = is_concrete(self.stiffness, self.damping)
            count = int(count_modes(self.stiffness, self.damping, self.no_stiffness)) if known else self.dof
        eigenvalue, shape, rigid = find_modes(self.stiffness, self.damping, self.no_stiffness, self.Z, count)
        return Modes(eigenvalue, shape, rigid, self.state, self.system)

    def frequency_response(self, frequencies) -> Complex[Array, "f outputs inputs"]:
        """Outputs per unit of each input, as complex amplitudes at the given frequencies (Hz)."""
        frequencies = jnp.asarray(frequencies, float)
        if not self.inputs or not self.outputs or frequencies.ndim != 1:
            raise ModelError(
                f"frequency_response needs inputs, outputs and a list of frequencies (Hz), but has inputs {self.inputs}, outputs "
                f"{self.outputs} and frequencies of shape {frequencies.shape}. Name inputs and outputs in linearize."
            )

        def response(frequency):
            s = 2j * jnp.pi * frequency
            xi = jnp.linalg.solve(
                s**2 * jnp.eye(self.dof) + s * self.damping + self.stiffness, self.load.astype(complex)
            )
            return self.C @ jnp.concatenate([xi, s * xi]) + self.D

        return jax.vmap(response)(frequencies)


def linearize(
    system,
    state: State,
    *,
    inputs: Mapping[str, Force | Gravity] | None = None,
    outputs: Mapping[str, Callable | str] | None = None,
    dof: int | None = None,
) -> Linearization:
    """Small motions about a state at rest (speeds zero, joints closed, forces in balance), as `equilibrium` finds it.

    `inputs` are forces of unit size by name, for example `Applied("rack", (0, 1, 0))` or `JointForce("A", Actuator(-1.0))`.
    `outputs` are joint coordinates ("A", "A.angle", "A.angle_rate") or functions of a `Moment` that return a number, for example
    `lambda m: m.point("arm", "end")[2]` or `lambda m: m.acceleration("arm")[2]`.

    Constraints may be redundant. Differentiable with respect to every number of the system (through the state, too, when it
    comes from `equilibrium`). Inside jit, grad or vmap the number of degrees of freedom has to be given as `dof`, because
    shapes depend on it; with a wrong one, or away from rest, all is NaN.
    """
    inputs, outputs = dict(inputs or {}), dict(outputs or {})
    state = State(state.t, state.q, state.v)
    dof = _degrees_of_freedom(system, state, dof)
    alone = tuple(_alone(system, name, force) for name, force in inputs.items())
    measured = tuple((name, as_output(system, name, output)) for name, output in outputs.items())
    raw, check = _linearize(system, state, alone, measured, dof)
    if is_concrete(check):
        _check(system, state, check, dof)
    K, C, load, C_output, D, Z, none = raw
    return Linearization(K, C, load, C_output, D, Z, none, tuple(inputs), tuple(outputs), state, system)


@eqx.filter_jit
def _linearize(system, state: State, alone, measured, dof: int):
    equations = system.equations()
    t, q = state.t, state.q
    at = release(equations, t, q)
    Z, there = free_motions(at, dof)
    K, C = Z.T @ stiffness(equations, t, q, at.lam) @ Z, Z.T @ damping(equations, t, q) @ Z
    still = jnp.zeros_like(state.v)
    loads = [Z.T @ one.equations().terms(t, q, still).Q for one in alone]
    load = jnp.stack(loads, axis=1) if loads else jnp.zeros((dof, 0))

    def observe(xi, u, du):
        moment = Moment(State(t, equations.retract(q, Z @ xi), Z @ u), system, Z @ du)
        numbers = [_number(name, output(moment)) for name, output in measured]
        return jnp.stack(numbers) if numbers else jnp.zeros(0)

    y_q, y_v, y_a = jax.jacfwd(observe, argnums=(0, 1, 2))(*[jnp.zeros(dof)] * 3)
    speed, violation, right = jnp.max(jnp.abs(state.v), initial=0.0), at.violation, jnp.all(there)
    stiffest = jnp.sqrt(jnp.sum(jax.lax.stop_gradient(K) ** 2))
    left = relative(equations, t, q, at, stiffest, reach(equations, q))
    rest = (speed <= AT_REST) & (violation <= ASSEMBLED) & (left <= NEARLY_BALANCED) & right
    # A factor, because `where` would make a failure's derivative zero.
    keep = jnp.where(rest, 1.0, jnp.nan)
    C_output = jnp.concatenate([y_q - y_a @ K, y_v - y_a @ C], axis=1)
    raw = tuple(x * keep for x in (K, C, load, C_output, y_a @ load, Z, no_stiffness(equations, t, q, at, stiffest)))
    return raw, jax.lax.stop_gradient((speed, violation, left, right))


def _degrees_of_freedom(system, state: State, dof: int | None) -> int:
    if dof is None and not is_concrete(system, state):
        raise ModelError(
            "linearize needs the number of degrees of freedom as a Python int because the shapes of its matrices depend on it, "
            "but it was called inside jit, grad or vmap. Give it: linearize(system, state, dof=1); "
            "linearize(system, state).dof outside tells the number."
        )
    if dof is None:
        return int(_count(system, state))
    if not 0 <= dof <= state.v.shape[-1]:
        raise ModelError(
            f"linearize was given dof={dof}, but the system has {state.v.shape[-1]} speeds. Give a number between."
        )
    return dof


@eqx.filter_jit
def _count(system, state: State):
    return count_free(release(system.equations(), state.t, state.q).null)


def _check(system, state: State, check, dof: int) -> None:
    speed, violation, left, right = (x.item() for x in check)
    if not speed <= AT_REST:
        raise ModelError(
            f"linearize needs a state at rest, but the largest speed is {speed:.3g} (m/s, rad/s). Give "
            "equilibrium(system, state)."
        )
    if not violation <= ASSEMBLED:
        raise ModelError(
            f"linearize needs a closed state, but the constraints are violated by {violation:.1e}. Give "
            "equilibrium(system, state), or call assemble_state(system, state) first."
        )
    if not left <= NEARLY_BALANCED:
        raise ModelError(
            f"linearize needs a state in equilibrium, but {imbalance(system, state.t, state.q)}. Give "
            "equilibrium(system, state); for one with held joints, rest = equilibrium(system, hold=...) and "
            "linearize(rest.system, rest)."
        )
    if not right:
        raise ModelError(
            f"linearize was given dof={dof}, but the degrees of freedom here are {int(_count(system, state))}. Give that number, "
            "or leave dof out where values are known."
        )


def _number(name: str, value) -> Float[Array, ""]:
    value = jnp.asarray(value, float)
    if value.shape != ():
        raise ModelError(
            f"linearize was given output '{name}', a function that returns an array of shape {value.shape}. Return one number; "
            "name each component as an output of its own."
        )
    return value


def _alone(system, name: str, force) -> System:
    """The system with an input as its only force."""
    if not isinstance(system, System) or not isinstance(force, Force | Gravity):
        raise ModelError(
            f"linearize was given input '{name}', a {type(force).__name__} for a {type(system).__name__}. Inputs are forces on a "
            "System of bodies, for example Applied('body', (0, 0, 1))."
        )
    return System(system.bodies, system.joints, {name: force}, coordinates=system.coordinates)
