"""What is displayed of a training: a line, or nothing.

    watch       in a notebook            in a terminal          in a pipe or a log
    "line"      one line, rewritten      one line, rewritten    nothing
    "log"       one line, rewritten      one line, rewritten    one line at the end
    "nothing"   nothing                  nothing                nothing

Of several processes, only the first one displays it. The last state stays on display however the
training ends: after an error or Ctrl-C, too.
"""

import math
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal

from lmcourse.training.distributed import here

Watch = Literal["line", "log", "nothing"]

_SHARE = 0.01  # of the time, at most, is spent on drawing
_SECONDS = 0.5  # between two drawings of a line of text


class Watcher:
    """Redraws a display every few seconds at most, and for at most 1 % of the time.

    What takes 0.1 s to draw is not drawn again within the next 10 s.

    Args:
        display: such as `Line`; its ``seconds`` are the least time between two drawings.
    """

    def __init__(self, display: Any | None) -> None:
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
def watching(watch: Watch, history: Any, steps: int | None = None) -> Iterator[Watcher]:
    """Display the history while it grows.

    Args:
        history: the ``losses`` of all steps so far; what it contains at the beginning is an
            earlier part of the same training.
        steps: the number of steps, if it is known.
    """
    watcher = _chosen(watch, history, steps)
    try:
        yield watcher
    finally:
        watcher.end()


def _chosen(watch: Watch, history: Any, steps: int | None) -> Watcher:
    if watch == "nothing" or here().rank > 0:
        return Watcher(None)
    return Watcher(Line(history, steps, in_a_log=watch == "log"))


def notebook() -> Any:
    """IPython's shell, if a notebook's kernel runs this; else None."""
    if "IPython" not in sys.modules:
        return None
    from IPython.core.getipython import get_ipython

    shell = get_ipython()
    return shell if hasattr(shell, "kernel") else None


class Line:
    """The last step, in one line that is rewritten in place.

    All trainings of one notebook cell share a line.

    Args:
        steps: the number of steps, if it is known: a terminal's line shows it.
        in_a_log: write it once, at the end, where there is neither a notebook nor a terminal.
    """

    seconds = _SECONDS
    _last: tuple[Any, Any] = (None, None)  # the cell that ran last, and its line

    def __init__(self, history: Any, steps: int | None = None, in_a_log: bool = False) -> None:
        self._losses, self._steps, self._in_a_log = history.losses, steps, in_a_log
        self._handle = self._notebook_line()
        self._terminal = self._handle is None and sys.stderr.isatty()

    def draw(self) -> None:
        if self._handle is not None:
            self._handle.update({"text/plain": _summary(self._losses)}, raw=True)
        elif self._terminal:
            sys.stderr.write(f"\r{_summary(self._losses, self._steps)}\x1b[K")
            sys.stderr.flush()

    def close(self) -> None:
        if self._losses:
            self.draw()
            if self._terminal:
                sys.stderr.write("\n")
            elif self._handle is None and self._in_a_log:
                print(_summary(self._losses), file=sys.stderr)

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


def _summary(losses: Sequence[float], steps: int | None = None) -> str:
    of = f" of {steps:,}" if steps else ""
    return f"{len(losses):,}{of} steps · loss {losses[-1]:.3f}"
