"""The loss as a figure that is redrawn in a notebook while the model is trained."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from lmcourse import show, style
from lmcourse.style import COLORS, GRAY
from lmcourse.training.pace import Pace

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SECONDS = 2.0  # at least, between two drawings
_POINTS = 600  # what a curve is drawn with: more are not to be told apart
_WINDOW = 1 / 20  # of the steps are averaged for the smooth curve

Series = Float[np.ndarray, " step"]
Points = Float[np.ndarray, " point"]


class LossFigure:
    """One figure for a training, redrawn in place.

    Args:
        history: has ``losses`` and ``gradient_norms``, lists that grow.
    """

    def __init__(self, history: Any) -> None:
        from IPython.display import display

        self._history = history
        # What a cell displays first is the same in every run; what is drawn later takes its place.
        waiting = {"text/plain": "The loss is drawn here while the model is trained."}
        self._place = display(waiting, raw=True, display_id=True)
        _warm_up()
        self._pace = Pace(_SECONDS)

    def tick(self) -> None:
        """Draw again, if it is time to."""
        self._pace.run(self._draw)

    def end(self) -> None:
        """Draw the whole history."""
        if self._history.losses:
            self._draw()
        else:
            self._place.update({"text/plain": "No step was taken."}, raw=True)

    def _draw(self) -> None:
        losses = np.array(self._history.losses)
        norms = np.full(len(losses), np.nan)  # Ctrl-C may come between a loss and its norm
        known = self._history.gradient_norms[: len(losses)]
        norms[: len(known)] = known
        data, metadata = show.forms(draw(losses, norms), describe(losses, norms))
        self._place.update(data, raw=True, metadata=metadata)


@cache
def _warm_up() -> None:
    """Draw once for nothing: the first drawing loads fonts and more, for a second or two."""
    show.forms(draw(np.ones(2), np.ones(2)), "nothing")


def draw(losses: Series, norms: Series) -> "Figure":
    """The loss of each step and its running mean; below, the gradient's norm.

    Args:
        losses: in nats, at least one.
        norms: of the gradient before clipping.
    """
    from matplotlib.figure import Figure  # without pyplot, which keeps figures and shows them
    from matplotlib.layout_engine import PlaceHolderLayoutEngine
    from matplotlib.style import context
    from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator

    with context(Path(style.__file__).with_name("style.mplstyle")):
        # Fixed margins: a layout that is worked out each time doubles the time of a drawing.
        figure = Figure(figsize=(7.2, 3.6), layout=PlaceHolderLayoutEngine(True, True))
        figure.subplots_adjust(left=0.12, right=0.98, bottom=0.13, top=0.97, hspace=0.12)
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
        above.plot(*envelope(losses), color=GRAY, alpha=0.5, linewidth=0.8, label="each step")
        mean = smooth(losses)
        above.plot(*envelope(mean), color=COLORS["model"], label="running mean")
        above.set_ylabel("loss in nats")
        above.legend(loc="upper right")
        seen = np.where(np.isfinite(norms) & (norms > 0), norms, np.nan)  # others have no logarithm
        below.plot(*envelope(seen), color=GRAY, linewidth=0.8)
        if np.nanmax(seen, initial=0) > 10 * np.nanmin(seen, initial=np.inf):
            below.set_yscale("log")
            below.yaxis.set_major_locator(LogLocator(subs=(1, 3), numticks=4))
            below.yaxis.set_minor_locator(NullLocator())
        else:
            below.yaxis.set_major_locator(MaxNLocator(3))
        below.yaxis.set_major_formatter("{x:g}")
        above.yaxis.set_major_formatter("{x:g}")  # each number in full, without an offset
        below.xaxis.set_major_locator(MaxNLocator(8, integer=True))
        below.xaxis.set_major_formatter("{x:,.0f}")
        below.set_ylabel("gradient’s\nnorm")
        below.set_xlabel("step")
    return figure


def describe(losses: Series, norms: Series) -> str:
    """What is to be seen in the figure."""
    mean = smooth(losses)
    steps = "1 step" if len(losses) == 1 else f"{len(losses):,} steps"
    text = (
        f"The loss over {steps}: {losses[0]:.3f} nats at the first. Its running mean ends at "
        f"{mean[-1]:.3f}, and is lowest, {mean.min():.3f}, at step {int(mean.argmin()):,}."
    )
    finite = norms[np.isfinite(norms)]
    if len(finite):
        text += f" Below, the gradient's norm, from {finite.min():.2g} to {finite.max():.2g}."
    return text


def smooth(values: Series) -> Series:
    """The mean around each step, of a twentieth of all steps; at both ends, of half as many."""
    count = len(values)
    half = int(count * _WINDOW / 2)
    total = np.concatenate([[0.0], np.cumsum(values)])
    at = np.arange(count)
    start, end = np.maximum(at - half, 0), np.minimum(at + half + 1, count)
    return (total[end] - total[start]) / (end - start)


def envelope(values: Series) -> tuple[Points, Points]:
    """Steps and values of a curve that looks the same with few points.

    Of many steps that share a column of the picture, the lowest and the highest are drawn: a mean
    would hide a spike, and every tenth step might miss it.
    """
    if len(values) <= _POINTS:
        return np.arange(len(values), dtype=float), values
    edges = np.linspace(0, len(values), _POINTS // 2 + 1).astype(int)[:-1]
    low = np.fmin.reduceat(values, edges)  # fmin: a value that is missing hides no other
    high = np.fmax.reduceat(values, edges)
    return np.repeat(edges.astype(float), 2), np.stack([low, high], axis=1).ravel()
