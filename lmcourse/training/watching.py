"""What is displayed of a training: a line, a plot, or nothing.

    watch       in a notebook            in a terminal                        in a pipe or a log
    "line"      one line, rewritten      one line, rewritten                  nothing
    "plot"      one figure, redrawn      a bar: steps, losses, time left      one line at the end
    "nothing"   nothing                  nothing                              nothing

Of several processes, only the first one displays it. The last state stays on display however the
training ends: after an error or Ctrl-C, too.
"""

import math
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, Literal, Protocol, get_args, runtime_checkable

from lmcourse.errors import CourseError
from lmcourse.training.distributed import here
from lmcourse.training.loss_figure import LossFigure

Watch = Literal["line", "plot", "nothing"]

_SHARE = 0.01  # of the time, at most, is spent on drawing
_SECONDS = 0.5  # between two drawings of a line of text
_COLUMNS = 24  # of the curve in a line of text
_HEIGHTS = "▁▂▃▄▅▆▇█"


@runtime_checkable
class Steps(Protocol):
    """What is watched: the loss and the gradient's norm of each step so far."""

    losses: list[float]
    gradient_norms: list[float]


@runtime_checkable
class Display(Protocol):
    """What shows a history.

    Attributes:
        seconds: the least time between two drawings.
    """

    seconds: float

    def draw(self) -> None:
        """Show the history so far, which has at least one step."""

    def close(self) -> None:
        """Leave the whole history on display."""


class Watcher:
    """Redraws a display every few seconds at most, and for at most 1 % of the time.

    What takes 0.1 s to draw is not drawn again within the next 10 s.
    """

    def __init__(self, display: Display | None) -> None:
        self._display = display
        self._next = math.inf if display is None else time.monotonic() + display.seconds

    def tick(self) -> None:
        """Draw, if it is time to. The history has one step more than before."""
        start = time.monotonic()
        if self._display is not None and start >= self._next:
            self._display.draw()
            end = time.monotonic()
            self._next = end + max(self._display.seconds, (end - start) / _SHARE)

    def end(self) -> None:
        """Leave the whole history on display."""
        if self._display is not None:
            self._display.close()


@contextmanager
def watching(watch: Watch, history: Steps, steps: int | None = None) -> Iterator[Watcher]:
    """Display the history while it grows.

    Args:
        history: what it contains at the beginning is an earlier part of the same training.
        steps: the number of steps, if it is known.
    """
    if watch not in get_args(Watch):
        raise CourseError(
            f"watch={watch!r} is not a way to watch a training.",
            f"Choose one of {', '.join(map(repr, get_args(Watch)))}.",
        )
    watcher = _chosen(watch, history, steps)
    try:
        yield watcher
    finally:
        watcher.end()


def _chosen(watch: Watch, history: Steps, steps: int | None) -> Watcher:
    if watch == "nothing" or here().rank > 0:
        return Watcher(None)
    if watch == "line":
        return Watcher(Line(history))
    if notebook() is not None:
        return Watcher(LossFigure(history))
    return Watcher(LossBar(history, steps) if sys.stderr.isatty() else LastLine(history))


def notebook() -> Any:
    """IPython's shell, if a notebook's kernel runs this; else None."""
    if "IPython" not in sys.modules:
        return None
    from IPython.core.getipython import get_ipython

    shell = get_ipython()
    return shell if hasattr(shell, "kernel") else None


class Line:
    """The last step, in one line that is rewritten in place.

    All trainings of one notebook cell share a line. In a pipe or a log, nothing is written.
    """

    seconds = _SECONDS
    _last: tuple[Any, Any] = (None, None)  # the cell that ran last, and its line

    def __init__(self, history: Steps) -> None:
        self._losses = history.losses
        self._handle = self._notebook_line()
        self._terminal = self._handle is None and sys.stderr.isatty()

    def draw(self) -> None:
        if self._handle is not None:
            self._handle.update({"text/plain": _summary(self._losses)}, raw=True)
        elif self._terminal:
            sys.stderr.write(f"\r{_summary(self._losses)}\x1b[K")
            sys.stderr.flush()

    def close(self) -> None:
        if self._losses:
            self.draw()
            if self._terminal:
                sys.stderr.write("\n")

    @classmethod
    def _notebook_line(cls) -> Any:
        """The display handle of the running cell, or None outside a notebook."""
        shell = notebook()
        if shell is None:
            return None
        from IPython.display import display

        cell = (id(shell), shell.execution_count)
        if cls._last[0] != cell:
            cls._last = (cell, display({"text/plain": "step 0"}, raw=True, display_id=True))
        return cls._last[1]


class LastLine:
    """The last step, once at the end: for a pipe or a log."""

    seconds = math.inf

    def __init__(self, history: Steps) -> None:
        self._losses = history.losses

    def draw(self) -> None:
        """Nothing, before the end."""

    def close(self) -> None:
        if self._losses:
            print(_summary(self._losses), file=sys.stderr)


class LossBar:
    """Steps, the curve of the loss and the time left, in one line at the bottom of a terminal.

    Args:
        steps: the number of steps, if it is known.
    """

    seconds = _SECONDS

    def __init__(self, history: Steps, steps: int | None) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn
        from rich.progress import TimeElapsedColumn as Elapsed
        from rich.progress import TimeRemainingColumn as Remaining

        self._losses = history.losses
        console = Console(file=sys.stderr)
        self._ascii = console.options.ascii_only
        counted = "{task.completed:,}/{task.total:,} steps" if steps else "{task.completed:,} steps"
        known = [BarColumn(bar_width=16), Remaining()] if steps else [Elapsed()]
        # No thread of its own: the loop says when to draw.
        self._progress = Progress(
            TextColumn(counted),
            TextColumn("{task.fields[curve]} loss {task.fields[loss]}"),
            *known,
            console=console,
            auto_refresh=False,
        )
        start, none = len(self._losses), "-" if self._ascii else "–"
        self._task = self._progress.add_task("", total=steps, completed=start, curve="", loss=none)
        self._progress.start()

    def draw(self) -> None:
        self._progress.update(
            self._task,
            completed=len(self._losses),
            curve="" if self._ascii else sparkline(self._losses),
            loss=f"{self._losses[-1]:.3f}",
            refresh=True,
        )

    def close(self) -> None:
        """See `Display.close`; the terminal is restored."""
        try:
            if self._losses:
                self.draw()
        finally:
            self._progress.stop()


def sparkline(values: Sequence[float], columns: int = _COLUMNS) -> str:
    """A curve in block characters: each column is the mean of its share of the values."""
    count = min(columns, len(values))
    edges = [len(values) * at // count for at in range(count + 1)] if count else [0]
    means = [sum(values[start:end]) / (end - start) for start, end in pairwise(edges)]
    low, high = min(means, default=0.0), max(means, default=0.0)
    scale = (len(_HEIGHTS) - 1) / (high - low) if high > low else 0.0
    return "".join(_HEIGHTS[round((mean - low) * scale)] for mean in means)


def _summary(losses: Sequence[float]) -> str:
    return f"{len(losses):,} steps · loss {losses[-1]:.3f}"
