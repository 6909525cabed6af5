"""A gap table as a figure: one dot per model in each row, and the floor at zero."""

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from lmcourse.evaluation.gap_forms import BESIDE, GAP, caption, group, notes
from lmcourse.evaluation.gap_numbers import GapNumbers
from lmcourse.evaluation.uncertainty import Score
from lmcourse.style import BLUE, COLORS, GREEN, INK, ORANGE, PURPLE, use_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MARKERS = "osD^vPX"  # seven, and six colors: both repeat together after 42 models only
_ROOM = 0.5  # rows, between two groups
_ARROW = 27  # width of an arrow in points
_HOLLOW = "A hollow dot has no interval: fewer than two reviews have such a token."


def drawn(table: GapNumbers) -> "Figure":
    """Draw gaps in nats to the right, phenomena downward; bars are 95% intervals.

    An infinite gap is an arrow at the right-hand edge; one without a standard error is hollow.
    """
    import matplotlib.pyplot as plt

    use_style()
    heights = _heights(table)
    fig, axes = plt.subplots(figsize=(7.2, 0.28 * (max(heights) + 1) + 1.1))
    axes.axvline(0, color=INK, linewidth=1.2)
    looks = _looks(list(table.models))
    arrows: Counter[float] = Counter()  # in each row
    handles = []
    for number, (model, (color, marker)) in enumerate(looks.items()):
        shift = (number - (len(looks) - 1) / 2) * 0.6 / max(len(looks), 2)
        scores = [table.gap(name, model) for name in table.phenomena]
        handles.append(_dots(axes, np.array(heights) + shift, scores, color, marker))
        for height, score in zip(heights, scores, strict=True):
            if not np.isfinite(score.value):
                _arrow(axes, height + shift, arrows[height], color)
                arrows[height] += 1
    axes.set_yticks(heights, table.phenomena)
    axes.set_ylim(max(heights) + 0.6, -0.6)
    if sum(arrows.values()) == len(looks) * len(heights):  # no finite gap
        axes.set_xlim(0, 1)
        axes.set_xticks([0])
    axes.set_xlim(left=min(0.0, axes.get_xlim()[0]))
    axes.grid(axis="y", visible=False)
    bars = "95% intervals" + " (hollow: fewer than two reviews)" * _some_hollow(table)
    axes.set_xlabel(f"gap: KL(exact ‖ model) in nats a token, with {bars}", loc="right")
    axes.annotate(
        "floor", (0, 1), (0, 3), ("data", "axes fraction"), "offset points", ha="center", fontsize=9
    )
    if len(looks) > 1:
        # A name is text: not a formula, and not left out if it begins with "_".
        legend = fig.legend(
            handles, ["model"] * len(looks), loc="outside upper left", ncols=min(len(looks), 4)
        )
        for text, name in zip(legend.get_texts(), looks, strict=True):
            text.set_parse_math(False)
            text.set_text(name)
    return fig


def _dots(axes: "Axes", y: np.ndarray, scores: list[Score], color: str, marker: str) -> Any:
    """One model's finite gaps, with their intervals."""
    finite = np.isfinite([it.value for it in scores])
    value, error, low, high = np.array(scores).T[:, finite]
    dots = axes.errorbar(
        value,
        y[finite],
        xerr=[value - low, high - value],
        color=color,
        marker=marker,
        linestyle="",
        elinewidth=1.2,
    )
    hollow = np.isnan(error)
    if hollow.any():
        (over,) = axes.plot(value[hollow], y[finite][hollow], color=color, marker=marker, zorder=3)
        over.set(linestyle="", markerfacecolor=axes.get_facecolor())
    return dots


def _arrow(axes: "Axes", y: float, before: int, color: str) -> None:
    """An infinite gap, to the left of those in the same row."""
    axes.annotate(
        "→ ∞",
        (1, y),
        (-_ARROW * before, 0),
        ("axes fraction", "data"),
        "offset points",
        ha="right",
        va="center",
        color=color,
        fontsize=9,
    )


def _some_hollow(table: GapNumbers) -> bool:
    scores = (table.gap(name, model) for model in table.models for name in table.phenomena)
    return any(np.isfinite(it.value) and np.isnan(it.error) for it in scores)


def alt(table: GapNumbers) -> str:
    """Return the alternative text."""
    found = [f"Dots with bars, a row for each phenomenon. {caption(table)} Zero is the floor."]
    for model in table.models:
        rows = [(table.gap(name, model).value, name) for name in table.phenomena]
        (overall, _), *parts = rows
        (least, closest), (most, farthest) = min(parts), max(parts)
        found.append(
            f"{model}: {_said(overall)} over all tokens; least for {closest} ({_said(least)}), "
            f"most for {farthest} ({_said(most)})."
        )
    found += [_HOLLOW] * _some_hollow(table)
    return " ".join(found + [note for note in notes(table) if note not in (GAP, BESIDE)])


def _said(nats: float) -> str:
    return f"{nats:.2f}" if np.isfinite(nats) else "infinite"


def _heights(table: GapNumbers) -> list[float]:
    """The height of each row, downward, with room between groups."""
    heights, at, last = [], 0.0, None
    for name in table.phenomena:
        part = group(name)
        at += 0 if last is None else 1 + _ROOM * (part != last)
        heights.append(at)
        last = part
    return heights


def _looks(models: list[str]) -> dict[str, tuple[str, str]]:
    """Color and marker of each model, all different."""
    colors, found = _colors(models), dict[str, tuple[str, str]]()
    for number, model in enumerate(models):
        own = [(colors[model], _MARKERS[(number + k) % len(_MARKERS)]) for k in range(7)]
        found[model] = next((it for it in own if it not in found.values()), own[0])
    return found


def _colors(models: list[str]) -> dict[str, str]:
    """The course's color of each model; other models take the remaining ones."""
    taken = {COLORS[name] for name in models if name in COLORS}
    free = [it for it in (BLUE, ORANGE, GREEN, PURPLE, "#E69F00", "#56B4E9") if it not in taken]
    others = [name for name in models if name not in COLORS]
    return {
        **{name: COLORS[name] for name in models if name in COLORS},
        **{name: (free or [INK])[k % max(len(free), 1)] for k, name in enumerate(others)},
    }
