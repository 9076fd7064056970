"""Eigenvalues and shapes of small motions, xi'' + C xi' + K xi = 0."""

import io
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Complex, Float, Int
from rich import box
from rich.console import Console
from rich.table import Table

from ..errors import ModelError
from ..packed import Packed
from ..spatial import turn
from ..state import State
from .tangent import close_near

#: The damping of a motion without stiffness is none below this part of the rates that are there.
NO_DAMPING = 1e-9
#: Singular values of Newton's matrix below this do not exist: of modes with the same eigenvalue none is followed into another.
SAME = 1e-8
#: A damping ratio below this is printed as none.
UNDAMPED = 1e-9


class BodyShape(eqx.Module):
    """What a body does in each mode, as complex amplitudes in world axes: displacement of its centre of mass (m) and rotation
    vector (rad), for a mode of unit kinetic norm."""

    displacement: Complex[Array, "modes 3"]
    rotation: Complex[Array, "modes 3"]


class Modes(eqx.Module):
    """Free small motions: each is the real part of shape exp(eigenvalue t), in ascending order of |eigenvalue|.

    A pair of complex eigenvalues is one mode (that with the positive imaginary part), and each real one is one. Motions
    without stiffness are `rigid`, with eigenvalue 0. The derivative of an eigenvalue or a shape is that of a mode whose
    eigenvalue no other mode shares; of those that share one, only sums over all of them have a derivative.
    """

    eigenvalue: Complex[Array, "*batch modes"]
    """1/s"""
    shape: Complex[Array, "*batch modes n"]
    """Displacements in the space of the speeds, of unit kinetic norm (shape' M shape = 1)."""
    rigid: Bool[Array, "*batch modes"]
    state: State
    system: Any

    @property
    def frequency(self) -> Float[Array, "*batch modes"]:
        """Frequency (Hz) of the damped oscillation; 0 for one that creeps."""
        return self.eigenvalue.imag / (2 * jnp.pi)

    @property
    def natural_frequency(self) -> Float[Array, "*batch modes"]:
        """|eigenvalue| / 2 pi (Hz), the frequency without damping where that is proportional."""
        return self._magnitude / (2 * jnp.pi)

    @property
    def damping_ratio(self) -> Float[Array, "*batch modes"]:
        """1 and more does not oscillate, below 0 grows; 0 for rigid motions."""
        return -self.eigenvalue.real / jnp.where(self.rigid, 1.0, self._magnitude)

    @property
    def _magnitude(self) -> Float[Array, "*batch modes"]:
        return jnp.where(self.rigid, 0.0, jnp.abs(jnp.where(self.rigid, 1.0, self.eigenvalue)))

    def body(self, name: str) -> BodyShape:
        """What a body does in each mode."""
        self.system.body(name)
        linear, angular = self._twists()
        k = list(self.system.bodies).index(name)
        return BodyShape(linear[:, k], angular[:, k])

    def states(self, k: int, *, amplitude: float = 0.1, n: int = 24) -> State:
        """A period of mode `k` in `n` pictures: states at rest with closed joints, stacked along the first axis, in which no body
        turns by more than `amplitude` (rad) nor moves by more than as many metres. The times are those of the oscillation (of
        one second for a motion that does not oscillate); it is drawn without its decay."""
        if not 0 <= k < self.eigenvalue.shape[0]:
            raise ModelError(f"states was asked for mode {k}, but there are modes 0 to {self.eigenvalue.shape[0] - 1}.")
        return _pictures(self, k, jnp.asarray(amplitude, float), n)

    def _twists(self) -> tuple[Complex[Array, "modes bodies 3"], Complex[Array, "modes bodies 3"]]:
        """Displacement and rotation of all bodies, in world axes."""
        equations, q = self.system.equations(), self.state.q
        R = equations.poses(q).R[:-1]

        def real(dv):
            twist = equations.twists(q, dv)[:-1]
            return twist[:, :3], turn(R, twist[:, 3:])

        re, im = jax.vmap(real)(self.shape.real), jax.vmap(real)(self.shape.imag)
        return re[0] + 1j * im[0], re[1] + 1j * im[1]

    def __str__(self) -> str:
        table = Table(box=box.SIMPLE_HEAD, padding=0, show_edge=False)
        for name in ("mode", "frequency (Hz)", "damping ratio", "eigenvalue (1/s)"):
            table.add_column(name, justify="right", no_wrap=True)
        table.add_column("moves most", no_wrap=True)
        for k, (s, f, zeta) in enumerate(
            zip(*map(np.asarray, (self.eigenvalue, self.frequency, self.damping_ratio)), strict=True)
        ):
            s, zeta = complex(s), float(zeta)
            note = ", rigid" if self.rigid[k] else ", grows" if zeta < -UNDAMPED else ""
            # Rounding of no damping is not worth its digits.
            zeta, real = (0.0, 0.0) if abs(zeta) < UNDAMPED else (zeta, s.real)
            table.add_row(str(k), f"{f:.6g}", f"{zeta:.4g}", f"{real:.4g} {s.imag:+.6g}i", self._moves_most(k) + note)
        console = Console(width=120, file=io.StringIO(), force_terminal=False)
        console.print(table)
        return console.file.getvalue()  # pyright: ignore[reportAttributeAccessIssue]

    def _moves_most(self, k: int) -> str:
        """The body (or coordinate) with the largest part of the kinetic energy."""
        equations = self.system.equations()
        terms = equations.terms(self.state.t, self.state.q, jnp.zeros_like(self.state.v))
        shape = np.asarray(self.shape[k])
        energy = np.real(shape.conj() * (np.asarray(terms.M) @ shape))
        parts: dict[str, float] = {}
        for name, part in zip(equations.speed_names, energy, strict=True):
            owner = name.rpartition(".")[0] or name
            parts[owner] = parts.get(owner, 0.0) + part
        return max(parts, key=lambda name: parts[name])


def count_modes(K: Float[Array, "d d"], C: Float[Array, "d d"], none: Float[Array, ""]) -> Int[Array, ""]:
    """Number of modes: one for each pair of complex eigenvalues, real eigenvalue and motion without stiffness (up to `none`)."""
    K, C, rate = _scaled(K, C)
    return jnp.sum(_candidates(K, C, none / rate**2)[2])


@eqx.filter_jit
def find_modes(
    K: Float[Array, "d d"], C: Float[Array, "d d"], none: Float[Array, ""], Z: Float[Array, "n d"], count: int
) -> tuple[Complex[Array, " k"], Complex[Array, "k n"], Bool[Array, " k"]]:
    """Eigenvalues, shapes Z xi with xi of unit length and which are rigid; NaN unless there are `count` of them."""
    K, C, rate = _scaled(K, C)
    s, x, valid, rigid = jax.lax.stop_gradient(_candidates(*jax.lax.stop_gradient((K, C, none / rate**2))))
    order = jnp.argsort(jnp.where(valid, jnp.abs(s), jnp.inf))[:count]
    s, x = jax.vmap(lambda s, x: _follow(K, C, s, x))(s[order], x[order])
    s = jnp.where(rigid[order], 0.0, s)
    keep = jnp.where(jnp.sum(valid) == count, 1.0, jnp.nan)
    return keep * rate * s, keep * jax.vmap(lambda x: _phased(Z @ x))(x), rigid[order]


def _scaled(K, C):
    """Both in units of time in which they are about 1, and that unit (1/s)."""
    rate = jax.lax.stop_gradient(jnp.sqrt(jnp.max(jnp.abs(K), initial=0.0)) + jnp.max(jnp.abs(C), initial=0.0))
    rate = jnp.where(rate > 0, rate, 1.0)
    return K / rate**2, C / rate, rate


@eqx.filter_jit
def _candidates(K, C, none):
    """All that could be modes: eigenvalues, vectors, which of them are, and which are rigid.

    Motions without stiffness come from the null space of K. As eigenvalues they are zeros, double ones if they are not damped
    either, which an eigenvalue solver blurs; as many of the smallest eigenvalues are left out.
    """
    d = K.shape[0]
    U, sigma, Vh = jnp.linalg.svd(K)
    rigid = sigma <= none
    left, right = jnp.where(rigid[None, :], U, 0.0), jnp.where(rigid[:, None], Vh, 0.0).T
    damped = jnp.sum(jnp.linalg.svd(left.T @ C @ right, compute_uv=False) > NO_DAMPING)
    zeros = 2 * jnp.sum(rigid) - damped
    s, vectors = jnp.linalg.eig(jnp.block([[jnp.zeros((d, d)), jnp.eye(d)], [-K, -C]]))
    order = jnp.argsort(jnp.abs(s))
    s, x = s[order], vectors[:d, order].T
    x = x / jnp.sqrt(jnp.sum(jnp.abs(x) ** 2, axis=1))[:, None]
    moving = (jnp.arange(2 * d) >= zeros) & (s.imag >= 0)
    return (
        jnp.concatenate([jnp.zeros(d, complex), s]),
        jnp.concatenate([Vh.astype(complex), x]),
        jnp.concatenate([rigid, moving]),
        jnp.concatenate([rigid, jnp.zeros(2 * d, bool)]),
    )


def _follow(K, C, s, x):
    """The mode (s, x), with its derivative: Newton's method for (s^2 + s C + K) x = 0, x0* x = 1 with a frozen inverse, two steps
    of which are exact to second order."""

    def matrix(s, K, C):
        return s**2 * jnp.eye(K.shape[0]) + s * C + K

    K0, C0 = jax.lax.stop_gradient((K, C))
    border = ((2 * s * jnp.eye(K.shape[0]) + C0) @ x)[:, None]
    corner = jnp.concatenate([jnp.conj(x)[None, :], jnp.zeros((1, 1))], axis=1)
    inverse = jnp.linalg.pinv(
        jnp.concatenate([jnp.concatenate([matrix(s, K0, C0), border], axis=1), corner]), rtol=SAME
    )
    unit = jnp.conj(x)
    for _ in range(2):
        left = jnp.concatenate([matrix(s, K, C) @ x, (unit @ x - 1)[None]])
        step = inverse @ left
        x, s = x - step[:-1], s - step[-1]
    return s, x / jnp.sqrt(jnp.sum(x.real**2 + x.imag**2))


def _phased(shape: Complex[Array, " n"]) -> Complex[Array, " n"]:
    """The shape with a positive largest entry, so that one that is not damped is real."""
    largest = shape[jnp.argmax(jnp.abs(shape))]
    return shape * (jnp.conj(largest) / jnp.abs(largest))


@eqx.filter_jit
def _pictures(modes: Modes, k: int, amplitude, n: int) -> State:
    equations = modes.system.equations()
    shape, t, q = modes.shape[k], modes.state.t, modes.state.q
    size = jnp.max(jnp.abs(shape))
    if isinstance(equations, Packed):
        size = jnp.max(jnp.abs(jnp.stack([jnp.linalg.norm(part[k], axis=1) for part in modes._twists()])))
    frequency = modes.frequency[k]
    phase = jnp.arange(n) / n

    def picture(phase):
        motion = (shape * jnp.exp(2j * jnp.pi * phase)).real * amplitude / size
        return close_near(equations, t, equations.retract(q, motion))

    times = t + phase / jnp.where(frequency > 0, frequency, 1.0)
    return State(times, jax.vmap(picture)(phase), jnp.zeros((n, shape.size)))
