"""Singular configurations, noticed from the singular values of J at the ends of the steps."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from ..formulations.deflated import Jacobian, NullSpace
from ..formulations.pivots import Pivots
from ..status import Status

Scalar = Float[Array, ""]

#: A singular value that changes sign while J changes by less than this did pass zero; with larger changes the step is taken
#: again, smaller. Fixed steps cannot be taken again.
SURE, SURE_FIXED = 0.02, 0.3
#: A smallest singular value that changes by less than this part of itself in a step did not pass zero.
TURNS = 0.2
#: A step may not be so long that the smallest singular value, going on as in the last steps, falls below this part of itself:
#: where two motions meet, it can fall to zero and rise again without a change of sign.
DIVE = 0.25
#: A smallest singular value that has fallen to this part of that at the start is zero.
GONE = 1e-3


class Watch(eqx.Module):
    """How the smallest singular value went in the last steps."""

    start: Scalar
    """Its value at the start of the run."""
    slope: Scalar
    bend: Scalar
    dt: Scalar
    """Length of the last step, 0 before the first."""

    def ahead(self, dt: Scalar) -> Scalar:
        """The change to expect in a step dt, or the part of it without the bend if that is lower."""
        straight = self.slope * dt
        return jnp.minimum(straight, straight + 0.5 * self.bend * dt * (dt + self.dt))

    def after(self, rise: Scalar, dt: Scalar) -> "Watch":
        """After a step in which it rose."""
        slope = rise / dt
        bend = jnp.where(self.dt > 0, (slope - self.slope) / (0.5 * (dt + self.dt)), 0.0)
        return Watch(self.start, slope, bend, dt)

    def step(
        self, before: NullSpace | Pivots, after: NullSpace | Pivots, J: Jacobian, dt: Scalar, adaptive: bool
    ) -> tuple[Status, Bool[Array, ""], "Watch"]:
        """What is wrong at the end of a step, J there, and whether the step was too long to tell."""
        s0, s1 = before.smallest, after.smallest
        rise = jnp.where(jnp.isfinite(s0) & jnp.isfinite(s1), s1 - s0, 0.0)
        expected = self.ahead(dt)
        crossed, change = before.crossing(jax.lax.stop_gradient(J))
        if adaptive:  # a body that merely turns far in a step changes no singular value
            crossed = crossed & (jnp.maximum(jnp.abs(rise), jnp.abs(expected)) > TURNS * s0)
        near = change < (SURE if adaptive else SURE_FIXED)
        fallen = (s1 < GONE * self.start) & (rise < 0)
        same_rank = after.deficiency == before.deficiency
        status = Status.where(same_rank, Status.successful, Status.rank_change)
        status = Status.where((crossed & near) | fallen, Status.singular_configuration, status)
        too_far = (crossed & ~near) | (s0 + jnp.minimum(rise, expected) < DIVE * s0)
        return status, too_far & same_rank & adaptive, self.after(rise, dt)


def watch(null: NullSpace | Pivots) -> Watch:
    """A watch at the start of a run."""
    zero = jnp.zeros(())
    return Watch(null.smallest, zero, zero, zero)
