"""What a reader sees of a training: a line, a plot, or nothing.

    watch       in a notebook            on a terminal                        in a pipe or a log
    "line"      one line, rewritten      one line, rewritten                  nothing
    "plot"      one figure, redrawn      a bar: steps, losses, time left      one line at the end
    "nothing"   nothing                  nothing                              nothing

Of several processes, the first one shows it. However a training ends, what it reached stays: after
an error or Ctrl-C, too.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal, Protocol, get_args, runtime_checkable

from lmcourse.errors import CourseError
from lmcourse.training.distributed import here
from lmcourse.training.loss_bar import LossBar
from lmcourse.training.loss_figure import LossFigure
from lmcourse.training.ticker import Ticker, notebook

Watch = Literal["line", "plot", "nothing"]


@runtime_checkable
class Losses(Protocol):
    """What is watched: the loss and the gradient's norm of each step so far."""

    losses: list[float]
    gradient_norms: list[float]


@runtime_checkable
class Watcher(Protocol):
    """What shows a history as it grows."""

    def tick(self) -> None:
        """Show the history, if it is time to. It has one step more than before."""

    def end(self) -> None:
        """Leave the whole history standing."""


@contextmanager
def watching(watch: Watch, history: Losses, steps: int | None = None) -> Iterator[Watcher]:
    """Show the history while it grows, and leave it standing in the end.

    Args:
        history: what it has at the beginning is an earlier part of the same training.
        steps: how many there will be, if that is known.

    Raises:
        CourseError: there is no such way to watch.
    """
    if watch not in get_args(Watch):
        raise CourseError(
            f"watch={watch!r} is no way to watch a training.",
            f"Give one of {', '.join(map(repr, get_args(Watch)))}.",
        )
    watcher = _chosen(watch, history, steps)
    try:
        yield watcher
    finally:
        watcher.end()


def _chosen(watch: Watch, history: Losses, steps: int | None) -> Watcher:
    if watch == "nothing" or here().rank > 0:
        return _Nothing()
    if watch == "line":
        return _Line(history)
    if notebook() is not None:
        return LossFigure(history)
    if sys.stderr.isatty():
        return LossBar(history, steps)
    return _LastLine(history)


class _Nothing:
    def tick(self) -> None:
        pass

    def end(self) -> None:
        pass


class _Line:
    """The line of `Ticker`, which counts steps from 0."""

    def __init__(self, history: Losses) -> None:
        self._losses, self._ticker = history.losses, Ticker()

    def tick(self) -> None:
        self._ticker.tick(len(self._losses) - 1, self._losses[-1])

    def end(self) -> None:
        if self._losses:
            self._ticker.end(len(self._losses), self._losses[-1])


class _LastLine(_Nothing):
    """For a pipe or a log: what was reached, once."""

    def __init__(self, history: Losses) -> None:
        self._losses = history.losses

    def end(self) -> None:
        if self._losses:
            print(f"{len(self._losses):,} steps · loss {self._losses[-1]:.3f}", file=sys.stderr)
