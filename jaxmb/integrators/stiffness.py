"""Is a problem stiff? Told from the stages of explicit steps, for free."""

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

Scalar = Float[Array, ""]

#: Explicit pairs whose last two stages are both at the end of the step.
TELLING = ("Dopri5", "Tsit5", "Dopri8")
#: A decay by this many times the step is fast. Stability ends at 3 to 6; steps of problems that are not stiff stay below 1 (most
#: below 0.3), those of a stiff one are above 1.8 for Dopri8 at tolerances from 1e-3 to 1e-9.
FAST = 1.5
#: So many such steps make a problem stiff, unless so many others come between.
STIFF_STEPS, CALM_STEPS = 50, 6


class Stiffness(eqx.Module):
    """Counts of steps that were bound by stability, and of others since."""

    bound: Int[Array, ""]
    calm: Int[Array, ""]

    @property
    def found(self):
        return self.bound >= STIFF_STEPS

    def after(self, solver: diffrax.AbstractSolver, y0, y1, k) -> "Stiffness":
        """After a step with the slopes `k` (times the step). The last two stages are both at its end; along the difference of
        their states, the difference of their slopes tells the decay [after Hairer and Wanner, IV.2, whose ratio of norms does not
        tell a decay from an oscillation]."""
        tableau = solver.tableau  # pyright: ignore[reportAttributeAccessIssue]
        row = jnp.asarray(tableau.a_lower[-2])

        def difference(start, end, slopes):
            return end - start - jnp.tensordot(row, slopes[: row.size], 1)

        motion = [jax.lax.stop_gradient(x[:2]) for x in (y0, y1, k)]
        apart = jnp.concatenate(jax.tree.leaves(jax.tree.map(difference, *motion)))
        slopes = jnp.concatenate([x[-1] - x[-2] for x in motion[2]])
        bound = -jnp.dot(apart, slopes) > FAST * jnp.dot(apart, apart)
        calm = jnp.where(bound, 0, self.calm + 1)
        count = jnp.where(bound, self.bound + 1, jnp.where(calm >= CALM_STEPS, 0, self.bound))
        return Stiffness(jnp.where(self.found, self.bound, count), calm)


def tells_stiffness(solver: diffrax.AbstractSolver) -> bool:
    """Whether the stages of a solver tell it: its last two are at the end of the step."""
    return type(solver).__name__ in TELLING


def calm() -> Stiffness:
    """Before the first step."""
    return Stiffness(jnp.zeros((), int), jnp.zeros((), int))
