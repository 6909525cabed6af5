"""A gap table as a picture: one dot a model in each row, and the floor at zero."""

from typing import TYPE_CHECKING

import numpy as np

from lmcourse.evaluation.gap_forms import BESIDE, GAP, caption, group, notes
from lmcourse.evaluation.gap_tables import GapTable
from lmcourse.style import BLUE, COLORS, GREEN, INK, ORANGE, PURPLE, use_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MARKERS = "osD^vP"
_WIDE = 1.96  # standard errors: 95 in 100 such bars hold the true gap
_ROOM = 0.5  # rows, between two groups


def drawn(table: GapTable) -> "Figure":
    """The figure: gaps in nats to the right, phenomena downward; bars are 95 % intervals.

    A gap that is infinite is an arrow at the right-hand edge.
    """
    import matplotlib.pyplot as plt

    use_style()
    places = _places(table)
    fig, axes = plt.subplots(figsize=(7.2, 0.28 * (max(places) + 1) + 1.1))
    axes.axvline(0, color=INK, linewidth=1.2)
    models = list(table.models)
    colors = _colors(models)
    step = 0.6 / max(len(models), 2)
    for number, model in enumerate(models):
        y = np.array(places) + (number - (len(models) - 1) / 2) * step
        gaps = [table.gap(name, model) for name in table.phenomena]
        nats = np.array([gap.value for gap in gaps])
        errors = np.nan_to_num(np.array([gap.error for gap in gaps]) * _WIDE)
        seen = np.isfinite(nats)
        axes.errorbar(
            nats[seen],
            y[seen],
            xerr=errors[seen],
            label=model,
            color=colors[model],
            marker=_MARKERS[number % len(_MARKERS)],
            linestyle="",
            elinewidth=1.2,
        )
        for at in y[~seen]:
            axes.annotate(
                "→ ∞",
                (1, at),
                xycoords=("axes fraction", "data"),
                ha="right",
                va="center",
                color=colors[model],
                fontsize=9,
            )
    axes.set_yticks(places, table.phenomena)
    axes.set_ylim(max(places) + 0.6, -0.6)
    axes.set_xlim(left=min(0.0, axes.get_xlim()[0]))
    axes.grid(axis="y", visible=False)
    axes.set_xlabel("gap: KL(exact ‖ model) in nats a token, with 95 % intervals", loc="right")
    axes.annotate(
        "floor", (0, 1), (0, 3), ("data", "axes fraction"), "offset points", ha="center", fontsize=9
    )
    if len(models) > 1:
        fig.legend(loc="outside upper left", ncols=min(len(models), 4))
    return fig


def alt(table: GapTable) -> str:
    """What is to be seen in the figure."""
    found = [f"Dots with bars, a row for each phenomenon. {caption(table)} Zero is the floor."]
    for model in table.models:
        rows = [(table.gap(name, model).value, name) for name in table.phenomena]
        (overall, _), *parts = rows
        (least, closest), (most, farthest) = min(parts), max(parts)
        found.append(
            f"{model}: {_said(overall)} over all tokens; least for {closest} ({_said(least)}), "
            f"most for {farthest} ({_said(most)})."
        )
    return " ".join(found + [note for note in notes(table) if note not in (GAP, BESIDE)])


def _said(nats: float) -> str:
    return f"{nats:.2f}" if np.isfinite(nats) else "infinite"


def _places(table: GapTable) -> list[float]:
    """Where each row stands, downward, with room between groups."""
    places, at, last = [], 0.0, None
    for name in table.phenomena:
        part = group(name)
        at += 0 if last is None else 1 + _ROOM * (part != last)
        places.append(at)
        last = part
    return places


def _colors(models: list[str]) -> dict[str, str]:
    """The course's color of each model; those without one take what is left."""
    taken = {COLORS[name] for name in models if name in COLORS}
    free = [it for it in (BLUE, ORANGE, GREEN, PURPLE, "#E69F00", "#56B4E9") if it not in taken]
    others = [name for name in models if name not in COLORS]
    return {
        **{name: COLORS[name] for name in models if name in COLORS},
        **{name: (free or [INK])[k % max(len(free), 1)] for k, name in enumerate(others)},
    }
