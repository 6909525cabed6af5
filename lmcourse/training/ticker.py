"""One line that says how a training goes, rewritten in place."""

import sys
import time
from typing import Any

_SECONDS = 0.5  # between two looks


def notebook() -> Any:
    """IPython's shell, if a notebook's kernel runs this; else None."""
    if "IPython" not in sys.modules:
        return None
    from IPython.core.getipython import get_ipython

    shell = get_ipython()
    return shell if hasattr(shell, "kernel") else None


class Ticker:
    """Tell step and loss twice a second: in a notebook's output, or on a terminal's last line.

    All trainings of one cell share one line. Where nobody watches (a pipe, a log), nothing is
    written.
    """

    _last: tuple[Any, Any] = (None, None)  # the cell that was run last, and its line

    def __init__(self) -> None:
        self._line = self._notebook_line()
        self._terminal = self._line is None and sys.stderr.isatty()
        self._next = time.monotonic() + _SECONDS

    def tick(self, step: int, loss: float) -> None:
        """Show the step, if half a second has passed."""
        now = time.monotonic()
        if now >= self._next:
            self._next = now + _SECONDS
            self._show(f"step {step:,} · loss {loss:.3f}")

    def end(self, steps: int, loss: float) -> None:
        """Leave the last step standing."""
        self._show(f"{steps:,} steps · loss {loss:.3f}")
        if self._terminal:
            sys.stderr.write("\n")

    def _show(self, text: str) -> None:
        if self._line is not None:
            self._line.update({"text/plain": text}, raw=True)
        elif self._terminal:
            sys.stderr.write(f"\r{text}\x1b[K")
            sys.stderr.flush()

    @classmethod
    def _notebook_line(cls) -> Any:
        """The display handle of the running cell, or None outside a notebook."""
        shell = notebook()
        if shell is None:
            return None
        from IPython.display import display

        cell = (id(shell), shell.execution_count)
        if cls._last[0] != cell:
            line = display({"text/plain": "step 0"}, raw=True, display_id=True)
            cls._last = (cell, line)
        return cls._last[1]
