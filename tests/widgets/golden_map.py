"""Cosines, analogies and planes by NumPy: the reference of Map's JavaScript.

`python -m tests.widgets.golden_map` writes `web/test/map.golden.json`; a test computes it anew and
compares.
"""

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np

from lmcourse.corpus.vectors import WordVectors
from lmcourse.widgets import Map
from lmcourse.widgets.packing import Array

PATH = Path(__file__).parents[2] / "web" / "test" / "map.golden.json"
WORDS = [f"w{i}" for i in range(40)]
PLANES = ([0, 1], [3, 5, 7], [2, 9, 11, 30], list(range(12)), [4, 4, 6], [8])


def vectors() -> Array:
    """Forty vectors of width 7 in whole 127ths of their largest number: bytes hold them exactly."""
    drawn = np.random.default_rng(5).standard_normal((40, 7))
    drawn *= 2.0 ** np.arange(7)[::-1] / 16  # a few directions have most of the variance
    scaled = drawn / np.abs(drawn).max(1, keepdims=True)
    return np.round(127 * scaled).astype(np.float64)


def plane_of(rows: Array) -> tuple[Array, float]:
    """The principal components' scores of some rows, and the share of the first two."""
    centered = rows - rows.mean(0)
    left, sizes, _ = np.linalg.svd(centered, full_matrices=False)
    points = np.zeros((len(rows), 2))
    kept = min(2, len(sizes))
    points[:, :kept] = (left * sizes)[:, :kept]
    points[:, sizes[:2] < 1e-9 if kept == 2 else slice(None)] = 0
    for k in range(2):
        column = points[:, k]
        column *= -1 if column[np.abs(column).argmax()] < 0 else 1
    whole = (sizes**2).sum()
    return points, float((sizes[:2] ** 2).sum() / whole) if whole > 1e-12 else 1.0


def golden() -> dict[str, Any]:
    """Two queries, two analogies with and without their words, and planes of all and of some."""
    array = vectors()
    widget, table = Map(WORDS, array), WordVectors(WORDS, array.astype(np.float32))
    unit = array / np.linalg.norm(array, axis=1, keepdims=True)
    centered = unit - unit.mean(0)
    variances, axes = np.linalg.eigh(centered.T @ centered)
    axes = axes[:, ::-1][:, :2].T
    axes = np.array([axis * (-1 if axis[np.abs(axis).argmax()] < 0 else 1) for axis in axes])
    analogies = [
        {
            "words": [a, b, c],
            "with_queries": allowed,
            "found": table.analogy([b, c], [a], 10, with_queries=allowed),
        }
        for a, b, c in (("w0", "w1", "w2"), ("w7", "w3", "w3"))
        for allowed in (True, False)
    ]
    return {
        "arrays": base64.b64encode(widget.arrays).decode(),
        "index": widget.index,
        "nearest": [{"query": word, "found": table.nearest(word, 10)} for word in ("w0", "w17")],
        "analogies": analogies,
        "points": (centered @ axes.T).tolist(),
        "share": float(variances[::-1][:2].sum() / variances.sum()),
        "planes": [
            {"ids": ids, "points": points.tolist(), "share": share}
            for ids in PLANES
            for points, share in [plane_of(unit[ids])]
        ],
    }


if __name__ == "__main__":
    PATH.write_text(json.dumps(golden(), separators=(",", ":")) + "\n", encoding="utf-8")
    print(f"{PATH}: {PATH.stat().st_size:,} bytes")
