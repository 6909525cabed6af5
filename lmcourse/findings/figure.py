"""A column of a finding as a figure: every seed of each variant, the mean, and the spread."""

from collections.abc import Mapping, Sequence
from statistics import mean, stdev
from typing import TYPE_CHECKING

from lmcourse.style import BLUE, INK, ORANGE, use_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def drawn(scores: Mapping[str, Sequence[float]], label: str, limit: float | None) -> "Figure":
    """Draw scores along the horizontal axis, one variant per row.

    Args:
        scores: of each variant, one score per seed.
        label: of the axis.
        limit: the best possible score, where it is known.
    """
    import matplotlib.pyplot as plt

    use_style()
    fig, axes = plt.subplots(figsize=(7.2, 0.45 * len(scores) + 1.2))
    for row, each in enumerate(scores.values()):
        axes.plot(each, [row] * len(each), "o", color=BLUE, alpha=0.6, markersize=5)
        axes.errorbar(
            [mean(each)],
            [row + 0.2],
            xerr=[stdev(each)] if len(each) > 1 else None,
            marker="D",
            color=ORANGE,
            capsize=3,
        )
    if limit is not None:
        axes.axvline(limit, color=INK, linewidth=1.2)
        axes.annotate(
            "best possible",
            (limit, 1),
            (0, 3),
            ("data", "axes fraction"),
            "offset points",
            ha="center",
            fontsize=9,
        )
    axes.set_yticks(range(len(scores)), list(scores))
    axes.set_ylim(len(scores) - 0.5, -0.5)
    axes.grid(axis="y", visible=False)
    axes.set_xlabel(label, loc="right")
    return fig
