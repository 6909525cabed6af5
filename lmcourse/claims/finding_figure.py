"""A finding as a picture: of each variant every seed, the mean, and the spread over seeds."""

from typing import TYPE_CHECKING

from lmcourse.claims.finding import Finding
from lmcourse.style import BLUE, INK, ORANGE, use_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def drawn(found: Finding, column: str) -> "Figure":
    """The figure: scores to the right, variants downward."""
    import matplotlib.pyplot as plt

    use_style()
    parts = [part for part in found.parts if column in part.scores]
    fig, axes = plt.subplots(figsize=(7.2, 0.45 * len(parts) + 1.2))
    for row, part in enumerate(parts):
        scores = part.scores[column]
        axes.plot(scores, [row] * len(scores), "o", color=BLUE, alpha=0.6, markersize=5)
        spread = found.spread(part.name, column)
        axes.errorbar(
            [found.mean(part.name, column)],
            [row + 0.2],
            xerr=None if spread != spread else [spread],
            marker="D",
            color=ORANGE,
            capsize=3,
        )
    known = found.columns[column]
    if known.limit is not None:
        axes.axvline(known.limit, color=INK, linewidth=1.2)
        axes.annotate(
            "best possible",
            (known.limit, 1),
            (0, 3),
            ("data", "axes fraction"),
            "offset points",
            ha="center",
            fontsize=9,
        )
    axes.set_yticks(range(len(parts)), [part.name for part in parts])
    axes.set_ylim(len(parts) - 0.5, -0.5)
    axes.grid(axis="y", visible=False)
    axes.set_xlabel(f"{known.about} ({known.better} is better)", loc="right")
    return fig


def alt(found: Finding, column: str) -> str:
    """What is to be seen in the figure."""
    known = found.columns[column]
    told = [
        f"Dots, a row for each variant: {known.about} of {len(found.seeds)} seeds; {known.better} "
        "is better. A diamond with a bar is the mean and the standard deviation."
    ]
    for part in found.parts:
        if column in part.scores:
            told.append(f"{part.name}: {found._cell(part, column)}.")
    if known.limit is not None:
        told.append(f"A line at {known.limit:.{known.digits}f} is the best possible.")
    return " ".join(told)
