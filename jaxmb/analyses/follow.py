"""The path of a driven mechanism: predict, close the joints, and take smaller steps where poses come near to one another."""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.scipy as jsp
import lineax as lx
import optimistix as optx
from jaxtyping import Array, Bool, Float, Int

from ..formulations.base import all_finite, first_failure
from ..formulations.deflated import NullSpace, null_space
from ..integrators.watch import GONE, Watch, watch
from ..ports import replace
from ..scaling import Scaling
from ..status import Status
from ..terms import Equations, Terms
from .closing import CLOSED

Scalar = Float[Array, ""]

#: How the joints are closed from a predicted pose. On the path every motion is driven, so that the columns of J are independent
#: and QR gives the Newton step, however many rows there are and however they depend on one another.
SOLVERS: dict[str, optx.AbstractRootFinder | optx.AbstractLeastSquaresSolver] = {
    "newton": optx.Newton(rtol=1e-10, atol=1e-10, linear_solver=lx.QR()),
    "levenberg-marquardt": optx.LevenbergMarquardt(rtol=1e-10, atol=1e-10),
    "dogleg": optx.Dogleg(rtol=1e-10, atol=1e-10, linear_solver=lx.QR()),
}
#: From a pose near enough Newton needs 5 or so; damping takes longer to let go.
ITERATIONS = {"newton": 10, "levenberg-marquardt": 50, "dogleg": 10}
#: A correction below this part of the smallest singular value of J is within the reach of one pose only (Kantorovich's theorem,
#: with second derivatives of order 1 in displacements without unit); a longer one may end in another pose.
NEAR = 0.25
#: A step that has shrunk to this part of the time between two poses leads nowhere.
COLLAPSED = 1e-9


class Place(eqx.Module):
    """Where the path has got to."""

    t: Scalar
    q: Float[Array, " nq"]
    v: Float[Array, " nv"]
    a: Float[Array, " nv"]
    null: NullSpace
    watch: Watch
    dt: Scalar
    """The step to try next."""
    trials: Int[Array, ""]
    """Steps tried since the last of the times asked for."""
    status: Status


class Trial(eqx.Module):
    """A step: where it leads, whether to take it, what ends the path there, and what the trouble is if it is not taken."""

    place: Place
    accepted: Bool[Array, ""]
    ends: Status
    trouble: Status


class Path(eqx.Module):
    """Poses at the times asked for (the last good one at those it did not get to), and how it ended."""

    q: Float[Array, "times nq"]
    good: Bool[Array, " times"]
    trials: Int[Array, " times"]
    end: Place


def kinematic_solve(J: Float[Array, "m n"], scaling: Scaling) -> Callable[[Float[Array, " m"]], Float[Array, " n"]]:
    """b -> x with J x = b, for independent columns; rows may depend on one another, as long as they agree.

    With independent columns QR needs no pivots and no rank, and is as smooth as J itself, so that its derivative is right.
    """
    _, D = scaling.jacobian(jax.lax.stop_gradient(J))
    Q, R = jnp.linalg.qr(D[:, None] * J * scaling.columns[None, :])
    return lambda b: scaling.columns * jsp.linalg.solve_triangular(R, Q.T @ (D * b))


def rates(
    equations: Equations, scaling: Scaling, t, q, at_rest: Terms
) -> tuple[Float[Array, " nv"], Float[Array, " nv"]]:
    """Speeds and accelerations, from J v = -Phi_t and J a = gamma; `at_rest` are the terms at zero speed."""
    solve = kinematic_solve(at_rest.J, scaling)
    v = solve(-at_rest.Phi_dot)
    return v, solve(equations.terms(t, q, v).gamma)


def rates_exist(at_rest: Terms) -> Bool[Array, ""]:
    """Whether the constraints and their derivatives up to the second are finite; a driver's may be infinite, as of sqrt(t)."""
    return all_finite(at_rest.Phi, at_rest.J, at_rest.Phi_dot, at_rest.gamma)


def closing(
    equations: Equations, scaling: Scaling, row_units, t, q, solver: str, iterations: int
) -> Float[Array, " nv"]:
    """The displacement, without unit, that closes the joints from the pose q."""
    start = jnp.zeros_like(scaling.columns)

    def residual(y, _):
        return equations.terms(t, equations.retract(q, scaling.columns * y), start).Phi / row_units

    method = SOLVERS[solver]
    if isinstance(method, optx.AbstractRootFinder):
        return optx.root_find(residual, method, start, max_steps=iterations, throw=False).value
    return optx.least_squares(residual, method, start, max_steps=iterations, throw=False).value


class Follower(eqx.Module):
    """Follows the path of closed poses. It has no derivative; that comes from the poses it finds."""

    equations: Equations
    scaling: Scaling
    row_units: Float[Array, " m"]
    """What one unit of each row is: the size of the mechanism for a length, 1 for an angle."""
    solver: str = eqx.field(static=True)
    max_steps: int = eqx.field(static=True)

    def __call__(self, ts: Float[Array, " times"], q: Float[Array, " nq"], started: Status) -> Path:
        """Poses at the times `ts`, from the closed pose q at the first of them."""
        start = self._start(ts, q, started)

        def to(place: Place, t: Scalar):
            place = self._advance(place, t)
            return place, (place.q, place.t == t, place.trials)

        end, later = jax.lax.scan(to, start, ts[1:])
        first = (start.q, start.status == Status.successful, start.trials)
        q, good, trials = (jnp.concatenate([x[None], y]) for x, y in zip(first, later, strict=True))
        return Path(q, good, trials, end)

    def _at_rest(self, t, q) -> Terms:
        return self.equations.terms(t, q, jnp.zeros_like(self.scaling.columns))

    def _start(self, ts, q, started: Status) -> Place:
        terms = self._at_rest(ts[0], q)
        null = null_space(terms.J * self.scaling.columns[None, :])
        v, a = rates(self.equations, self.scaling, ts[0], q, terms)
        dt = jnp.max(jnp.diff(ts), initial=0.0)
        return jax.tree.map(
            jnp.asarray, Place(ts[0], q, v, a, null, watch(null), dt, jnp.zeros((), int), started)
        )  # fmt: skip

    def _advance(self, place: Place, t: Scalar) -> Place:
        """On to the time t, in as many steps as it takes."""
        span = t - place.t

        def going(place: Place):
            return (place.t < t) & (place.status == Status.successful)

        def step(place: Place) -> Place:
            trial = self._try(place, t)
            dt = trial.place.dt
            status = first_failure(
                (trial.ends == Status.successful, trial.ends),
                (trial.accepted | (dt > COLLAPSED * span), trial.trouble),
                (place.trials < self.max_steps, Status.max_steps),
            )
            moved = trial.accepted & (status == Status.successful)
            there = jax.tree.map(lambda new, old: jnp.where(moved, new, old), trial.place, place)
            return replace(there, dt=dt, trials=place.trials + 1, status=status)

        return jax.lax.while_loop(going, step, replace(place, trials=jnp.zeros_like(place.trials)))

    def _try(self, place: Place, t_next: Scalar) -> Trial:
        equations, scaling = self.equations, self.scaling
        last = place.dt >= t_next - place.t
        dt = jnp.where(last, t_next - place.t, place.dt)
        t = jnp.where(last, t_next, place.t + dt)
        predicted = equations.retract(place.q, dt * place.v + 0.5 * dt**2 * place.a)
        y = closing(equations, scaling, self.row_units, t, predicted, self.solver, ITERATIONS[self.solver])
        # A solver that found nothing leaves the pose where it was, so that what is not finite there is so by the drivers.
        q = jnp.where(all_finite(y), equations.retract(predicted, scaling.columns * y), place.q)
        terms = self._at_rest(t, q)
        finite = rates_exist(terms)
        closed = finite & (jnp.max(jnp.abs(terms.Phi / self.row_units)) <= CLOSED)
        # An open pose may be anything; what is not finite must not reach the eigenvalues.
        J = jnp.where(closed, terms.J * scaling.columns[None, :], 1.0)
        null = null_space(J, place.null.D)
        seen, too_far, watching = place.watch.step(place.null, null, J, dt, adaptive=True)
        reach = NEAR * jnp.minimum(place.null.smallest, null.smallest)
        error = jnp.where(closed, jnp.sqrt(jnp.sum(y**2)) / reach, jnp.inf)
        near = error <= 1.0
        # A singular value that merely seems to have passed zero may be that of another branch close by: smaller steps tell.
        gone = (null.smallest < GONE * place.watch.start) | (null.deficiency != place.null.deficiency)
        accepted = near & ~gone & ~too_far & (seen == Status.successful)
        v, a = rates(equations, scaling, t, q, terms)
        return Trial(
            place=Place(
                t, q, v, a, null, watching, _next_step(dt, error, accepted, last, place.dt), place.trials, place.status
            ),
            accepted=accepted,
            ends=Status.where(near & gone & ~too_far, Status.singular_configuration, Status.successful),
            trouble=first_failure(
                (finite, Status.not_finite),
                (closed, Status.unreachable),
                (near, Status.branch_jump),
                otherwise=Status.singular_configuration,
            ),
        )


def _next_step(dt, error, accepted, last, planned) -> Scalar:
    """The prediction is wrong by the third power of the step. A step cut short by the next of the times says little about the one
    after it."""
    factor = 0.9 * jnp.maximum(error, 1e-3) ** (-1 / 3)
    longer = jnp.clip(factor, 0.5, 5.0) * dt
    shorter = jnp.clip(factor, 0.1, 0.5) * dt
    return jnp.where(accepted, jnp.maximum(longer, jnp.where(last, planned, 0.0)), shorter)
