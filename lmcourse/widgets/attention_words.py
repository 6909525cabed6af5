"""What AttentionHeads' picture says, in sentences: web/widgets/attention_heads/words.js in Python.

A test lets both speak, and compares.
"""

import numpy as np

from lmcourse.widgets.attention_view import Head, View
from lmcourse.widgets.packing import Array

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def alternative(view: View) -> str:
    """The whole picture with its numbers, at the present settings."""
    pinned = "; ".join([_at(view, view.i, view.j), *(f"{it}: {x}" for it, x in _steps(view))])
    queries, keys = view.head.p.shape
    layers, heads = view.size
    return (
        f"{layers} × {heads} heads; {queries} queries, {keys} keys. {_about(view)} "
        f"Pinned: {pinned}. Lines: {view.lines}; segments: {view.between}."
    )


def weight(p: float) -> str:
    """A weight, or a difference, with the digits that a byte tells; the last may be off by one."""
    if p == 0:
        return "0"
    if abs(p) < 5e-4:
        return "≈ 0"
    return f"{p:.{3 if abs(p) < 0.00995 else 2}f}".replace("-", "−")


def number(x: float) -> str:
    """Three digits: 0.0417, 12.3, 3.1·10⁻⁹."""
    if x < -1e9:
        return "−∞"
    if x == 0 or 0.01 <= abs(x) < 999.5:
        return f"{float(f'{x:.3g}'):g}".replace("-", "−")
    digits, exponent = f"{x:.1e}".split("e")
    return f"{digits}·10{str(int(exponent)).translate(_SUPERSCRIPTS)}".replace("-", "−")


def _at(view: View, i: int, j: int) -> str:
    """One weight with its place; that of the other head, and how much larger it is."""
    p, other = view.head.p, view.other
    said = f"{view.quotes[0][i]} → {view.quotes[1][j]}: {weight(p[i, j])}"
    if not p[i].any():
        said += "; looks at none of these"
    if other is not None:
        difference = weight(np.subtract(p[i, j], other.p[i, j], dtype=np.float32))
        said += f"; {other.name}: {weight(other.p[i, j])}; difference: {difference}"
    return said


def _about(view: View) -> str:
    """The head and its pinned query."""
    head, other, row = view.head, view.other, view.head.p[view.i]
    parts = [f"{head.name}: {head.says}."]
    if other is not None:
        parts += [
            f"Compared: {other.name}: {other.says}.",
            *(_most(view, other) if view.whole else []),
        ]
    some = ", ".join(f"{view.quotes[1][j]} {weight(row[j])}" for j in chosen(row, view.lines)[:4])
    rest = ""  # of a query that looks nowhere
    if whole := head.rows[view.place].sum():
        share = row.sum() / whole
        rest = f"; {int(100 * share)} % of its weight is shown"
        if share >= 0.999:
            rest = f"; entropy {number(_entropy(row))} bits"
    return " ".join([*parts, f"{view.quotes[0][view.i]} looks at {some or 'none of these'}{rest}."])


def _most(view: View, other: Head) -> list[str]:
    away = np.abs(view.head.p - other.p)
    i, j = np.unravel_index(np.argmax(away), away.shape)
    return [f"Largest difference: {_at(view, int(i), int(j))}."] if away[i, j] else []


def _steps(view: View) -> list[tuple[str, str]]:
    """From q · k to the weight, step by step."""
    if view.computed is None:
        return []
    cell = {name: float(it) for name, it in view.cell().items()}
    scaled = cell["dot"] * cell["scale"]
    out = [("q · k", cell["dot"]), (f"× scale {number(cell['scale'])}", scaled)]
    if view.biased:
        out.append((f"+ bias {number(cell['bias'])}", scaled + cell["bias"]))
    out += [
        (f"÷ T = {number(view.temperature)}", (scaled + cell["bias"]) / view.temperature),
        (f"+ mask {number(cell['mask'])}", cell["score"]),
        ("exp(score − highest)", cell["power"]),
        (f"÷ sum {number(cell['sum'])}", cell["p"]),
    ]
    return [(words, number(x)) for words, x in out]


def chosen(row: Array, lines: str) -> list[int]:
    """The keys that get a line, the largest first."""
    order = [int(j) for j in np.argsort(-row, kind="stable") if row[j]]
    if not lines.endswith("%"):
        return order[: int(lines)]
    left = row.sum() * float(lines[:-1]) / 100 - 1e-6
    before = np.cumsum(row[order]) - row[order]
    return [j for j, sum_ in zip(order, before, strict=True) if sum_ < left]


def _entropy(row: Array) -> float:
    """In bits, of a row that may sum to a little less or more than 1."""
    p = row[row > 0] / row.sum()
    return float(-(p * np.log2(p)).sum()) + 0.0
