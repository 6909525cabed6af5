"""The loss as a figure in a notebook, redrawn during training."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from lmcourse import show, style
from lmcourse.style import COLORS, GRAY

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_POINTS = 600  # of a curve; more would not be visible
_WINDOW = 1 / 20  # of the steps are averaged for the smooth curve

Series = Float[np.ndarray, " step"]
Points = Float[np.ndarray, " point"]


class LossFigure:
    """One figure for a training, redrawn in place.

    Args:
        history: see `lmcourse.training.watching.Steps`.
    """

    seconds = 2.0  # at least, between two drawings

    def __init__(self, history: Any) -> None:
        from IPython.display import display

        self._history = history
        # A cell's first output is the same in every run; the figure replaces it.
        waiting = {"text/plain": "The loss is drawn here while the model is trained."}
        self._handle = display(waiting, raw=True, display_id=True)
        _warm_up()

    def close(self) -> None:
        if self._history.losses:
            self.draw()
        else:
            self._handle.update({"text/plain": "No step was taken."}, raw=True)

    def draw(self) -> None:
        losses = np.array(self._history.losses)
        norms = np.full(len(losses), np.nan)  # an error may come between a loss and its norm
        known = self._history.gradient_norms[: len(losses)]
        norms[: len(known)] = known
        data, metadata = show.forms(draw(losses, norms), describe(losses, norms))
        self._handle.update(data, raw=True, metadata=metadata)


@cache
def _warm_up() -> None:
    """Draw once in advance: the first drawing loads fonts, which takes a second or two."""
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
        # Fixed margins: computing a layout would double the time of a drawing.
        figure = Figure(figsize=(7.2, 3.6), layout=PlaceHolderLayoutEngine(True, True))
        figure.subplots_adjust(left=0.12, right=0.98, bottom=0.13, top=0.97, hspace=0.12)
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
        above.plot(*envelope(losses), color=GRAY, alpha=0.5, linewidth=0.8, label="each step")
        mean = smooth(losses)
        above.plot(*envelope(mean), color=COLORS["model"], label="running mean")
        above.set_ylabel("loss in nats")
        above.legend(loc="upper right")
        positive = np.where(np.isfinite(norms) & (norms > 0), norms, np.nan)  # with a logarithm
        below.plot(*envelope(positive), color=GRAY, linewidth=0.8)
        if np.nanmax(positive, initial=0) > 10 * np.nanmin(positive, initial=np.inf):
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
    """The figure in words."""
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
    """The mean of a twentieth of all steps around each step, and of fewer near both ends."""
    count = len(values)
    half = int(count * _WINDOW / 2)
    total = np.concatenate([[0.0], np.cumsum(values)])
    at = np.arange(count)
    start, end = np.maximum(at - half, 0), np.minimum(at + half + 1, count)
    return (total[end] - total[start]) / (end - start)


def envelope(values: Series) -> tuple[Points, Points]:
    """Steps and values of a curve that looks the same with fewer points.

    Of the steps within one column of pixels, the lowest and the highest value are drawn, so that no
    spike is lost.
    """
    if len(values) <= _POINTS:
        return np.arange(len(values), dtype=float), values
    edges = np.linspace(0, len(values), _POINTS // 2 + 1).astype(int)[:-1]
    low = np.fmin.reduceat(values, edges)  # fmin ignores missing values
    high = np.fmax.reduceat(values, edges)
    return np.repeat(edges.astype(float), 2), np.stack([low, high], axis=1).ravel()
