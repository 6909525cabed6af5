"""The loss on a terminal: steps, the curve in one line of text, and the time that is left."""

import sys
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from lmcourse.training.pace import Pace

_SECONDS = 0.5  # between two looks
_COLUMNS = 24  # of the curve
_HEIGHTS = "▁▂▃▄▅▆▇█"


class LossBar:
    """One line at the bottom of a terminal, redrawn in place.

    Args:
        history: has ``losses``, a list that grows.
        steps: how many there will be, if that is known.
    """

    def __init__(self, history: Any, steps: int | None) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn
        from rich.progress import TimeElapsedColumn as Elapsed
        from rich.progress import TimeRemainingColumn as Remaining

        self._losses = history.losses
        console = Console(file=sys.stderr)
        self._plain = console.options.ascii_only
        counted = "{task.completed:,}/{task.total:,} steps" if steps else "{task.completed:,} steps"
        known = [BarColumn(bar_width=16), Remaining()] if steps else [Elapsed()]
        # No thread of its own: it draws when the training says so.
        self._progress = Progress(
            TextColumn(counted),
            TextColumn("{task.fields[curve]} loss {task.fields[loss]}"),
            *known,
            console=console,
            auto_refresh=False,
        )
        start = len(self._losses)
        self._task = self._progress.add_task(
            "", total=steps, completed=start, curve="", loss="–" if not self._plain else "-"
        )
        self._progress.start()
        self._pace = Pace(_SECONDS)

    def tick(self) -> None:
        """Show the step, if it is time to."""
        self._pace.run(self._show)

    def end(self) -> None:
        """Leave the last step standing, and the terminal as it was."""
        try:
            self._show()
        finally:
            self._progress.stop()

    def _show(self) -> None:
        if self._losses:
            self._progress.update(
                self._task,
                completed=len(self._losses),
                curve="" if self._plain else sparkline(self._losses),
                loss=f"{self._losses[-1]:.3f}",
                refresh=True,
            )


def sparkline(values: Sequence[float], columns: int = _COLUMNS) -> str:
    """A curve in block characters: in each column the mean of its share of the values."""
    count = min(columns, len(values))
    edges = [len(values) * at // count for at in range(count + 1)] if count else [0]
    means = [sum(values[start:end]) / (end - start) for start, end in pairwise(edges)]
    low, high = min(means, default=0.0), max(means, default=0.0)
    scale = (len(_HEIGHTS) - 1) / (high - low) if high > low else 0.0
    return "".join(_HEIGHTS[round((mean - low) * scale)] for mean in means)
