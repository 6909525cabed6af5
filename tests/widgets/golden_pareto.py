"""Pareto fronts by comparing all pairs: the reference of Pareto's JavaScript, and of its Python.

`python -m tests.widgets.golden_pareto` writes `web/test/pareto.golden.json`; a test computes it
anew and compares.
"""

import base64
import json
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

from lmcourse.widgets import Pareto
from tests.widgets.examples.pareto import AXES, POINTS, SCORES

PATH = Path(__file__).parents[2] / "web" / "test" / "pareto.golden.json"


def brute_force(costs: Sequence[float], scores: Sequence[float]) -> list[int]:
    """The points that no other one dominates, by definition; the cheapest first."""
    each = list(zip(costs, scores, strict=True))
    kept = [
        i
        for i, (cost, score) in enumerate(each)
        if not any(c <= cost and s >= score and (c, s) != (cost, score) for c, s in each)
    ]
    return sorted(kept, key=lambda i: (costs[i], i))


def cloud(random: Random) -> tuple[list[float], list[float]]:
    """Some points, many of them with equal costs or scores."""
    count, levels = random.randint(0, 30), random.choice([2, 5, 1000])
    return tuple([random.randint(1, levels) / 8 for _ in range(count)] for _ in "xy")  # type: ignore[return-value]


def view(widget: Pareto, axis: str, score: str, families: list[str]) -> dict[str, Any]:
    """What is shown with these settings, and what of it is on the front."""
    at = list(AXES).index(axis)
    shown = [
        i
        for i, point in enumerate(POINTS)
        if point["score"] == score and point["family"] in families
    ]
    costs = [float(widget._costs[i, at, 1]) for i in shown]
    means = [float(widget._means[i, 0]) for i in shown]
    settings = {"axis": axis, "score": score, "families": families}
    best = [shown[i] for i in brute_force(costs, means)]
    return {"settings": settings, "shown": shown, "best": best}


def golden() -> dict[str, Any]:
    """Random fronts; and the example's points, as each setting shows them."""
    random = Random(18)
    clouds = [cloud(random) for _ in range(60)]
    widget = Pareto(POINTS, AXES, SCORES)
    views = [
        view(widget, axis, score, families)
        for axis in AXES
        for score in SCORES
        for families in (widget.family_names, widget.family_names[:1])
    ]
    state = widget.state()
    names = (
        "names",
        "family_names",
        "group_names",
        "axis_labels",
        "score_labels",
        "lines",
        "title",
    )
    return {
        "clouds": [
            {"costs": costs, "scores": scores, "front": brute_force(costs, scores)}
            for costs, scores in clouds
        ],
        "arrays": base64.b64encode(widget.arrays).decode(),
        "index": widget.index,
        "model": {name: state[name] for name in names},
        "means": [
            [sum(it["values"]) / len(it["values"]), float(widget._means[i, 1]), len(it["values"])]
            for i, it in enumerate(POINTS)
        ],
        "views": views,
    }


if __name__ == "__main__":
    PATH.write_text(json.dumps(golden(), separators=(",", ":")) + "\n", encoding="utf-8")
    print(f"{PATH}: {PATH.stat().st_size:,} bytes")
