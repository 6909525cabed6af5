"""What the widget `Pareto` shows of the record, for notebooks, which do not import `research`."""

import json
from typing import Any

from research.compression.encoders import ENCODERS
from research.compression.methods import BY_NAME
from research.compression.page import COSTS, label, rows_of
from research.compression.records import Record
from research.compression.tasks import METRICS

POINTS = "points.json"
DISTILLED, ALONE = "distilled", "without a teacher"


def figure(record: Record) -> dict[str, Any]:
    """Return the arguments of the widget: points, axes, scores, references."""
    encoders = {it.name: it for it in ENCODERS}
    points = [
        {
            "name": label(encoders[row.encoder], row.method),
            "family": BY_NAME[row.method].family,
            "group": DISTILLED if encoders[row.encoder].distilled else ALONE,
            "score": row.task,
            "values": row.scores,
            **{cost: getattr(row, cost) for cost in COSTS},
            "time": [row.fast, row.time, row.slow],
        }
        for row in rows_of(record)
    ]
    points.sort(key=lambda it: it["group"] != DISTILLED)  # the first group has filled marks
    scores = {task: f"{task}, {metric}" for task, metric in METRICS.items()}
    words = {task: ["bag of words", it] for task, it in record.reference.items() if it is not None}
    return {"axes": COSTS, "scores": scores, "references": words, "points": points}


def as_json(record: Record) -> bytes:
    """Return `figure` as a file, a point a line."""
    found = figure(record)
    points = ",\n  ".join(json.dumps(point) for point in found.pop("points"))
    head = json.dumps(found, indent=1)[:-2]
    return f'{head},\n "points": [\n  {points}\n ]\n}}\n'.encode()
