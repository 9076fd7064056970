"""A progress bar for long runs, on standard error."""

import diffrax
import jax
import jax.numpy as jnp
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

_bars: list[Progress] = []


def _update(progress) -> None:
    if not _bars:
        columns = (TextColumn("simulate"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
        bar = Progress(*columns, console=Console(stderr=True), transient=True)
        bar.add_task("simulate", total=1.0)
        bar.start()
        _bars.append(bar)
    _bars[0].update(_bars[0].task_ids[0], completed=float(progress))


def _close() -> None:
    while _bars:
        _bars.pop().stop()


class BarMeter(diffrax.AbstractProgressMeter):
    """diffrax progress meter that draws a rich bar, at most two hundred updates a run."""

    def init(self):
        return jnp.zeros(())

    def step(self, state, progress):
        due = (progress - state > 0.005) | (progress >= 1)
        jax.lax.cond(due, lambda p: jax.debug.callback(_update, p), lambda p: None, progress)
        return jnp.where(due, progress, state)

    def close(self, state):
        jax.debug.callback(lambda _: _close(), state)
