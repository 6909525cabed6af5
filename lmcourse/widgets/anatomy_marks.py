"""The marks of a picture: boxes, arrows and words, before they are drawn."""

from dataclasses import dataclass, field
from typing import Any

from lmcourse.widgets.anatomy_layout import text_width

GONE = "gone"
RADIUS = 6  # of an arrow's corners
Point = tuple[float, float]


@dataclass
class View:
    """A picture: its size, and marks in the order in which they are drawn.

    Marks are ("frame" | "box" | "circle", block, x, y, width, height, kind, look), where x and y
    are the upper left corner, and ``look`` is "new" or "gone" if another model lacks the block;
    ("path", d, class); ("text", x, y, words, class).
    """

    width: float
    height: float
    marks: list[list[Any]] = field(default_factory=list)


def written(shape: tuple[int, ...]) -> str:
    """Return ``7 × 64``."""
    return " × ".join(map(str, shape)) or "1"


def shifted(marks: list[list[Any]], dx: float, dy: float) -> list[list[Any]]:
    """Return marks elsewhere."""
    found = []
    for kind, *rest in marks:
        if kind == "path":
            points, look = rest
            rest = [[(x + dx, y + dy) for x, y in points], look]
        elif kind == "text":
            rest = [rest[0] + dx, rest[1] + dy, *rest[2:]]
        else:
            rest = [rest[0], rest[1] + dx, rest[2] + dy, *rest[3:]]
        found.append([kind, *rest])
    return found


def in_lines(label: str) -> list[str]:
    """Return a label in one or two lines."""
    words = label.split(" ")
    if text_width(label) < 92 or len(words) == 1:
        return [label]
    cuts = range(1, len(words))
    cut = min(cuts, key=lambda n: abs(len(" ".join(words[:n])) - len(" ".join(words[n:]))))
    return [" ".join(words[:cut]), " ".join(words[cut:])]


def head(before: tuple[float, float], end: tuple[float, float]) -> list[tuple[float, float]]:
    """Return the triangle at the end of an arrow."""
    (x0, y0), (x, y) = before, end
    dx, dy = (x > x0) - (x < x0), (y > y0) - (y < y0)
    if abs(x - x0) < 0.5:
        dx = 0
    back = (x - 6 * dx, y - 6 * dy)
    return [end, (back[0] - 3.2 * dy, back[1] + 3.2 * dx), (back[0] + 3.2 * dy, back[1] - 3.2 * dx)]


def rounded(mark: list[Any]) -> list[Any]:
    """Return a mark as it is drawn: paths as SVG's, numbers with one decimal."""
    if mark[0] == "path":
        look = mark[2]
        return ["path", _polygon(mark[1]) if look == "head" else _curve(mark[1]), look]
    return [round(it, 1) if isinstance(it, float) else it for it in mark]


def _polygon(points: list[Point]) -> str:
    return "M" + "L".join(f"{_n(x)} {_n(y)}" for x, y in points) + "z"


def _curve(points: list[Point]) -> str:
    """Return the path through points, with rounded corners."""
    d = f"M{_n(points[0][0])} {_n(points[0][1])}"
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        at = (*_toward(corner, before), *corner, *_toward(corner, after))
        x0, y0, x, y, x1, y1 = map(_n, at)
        d += f"L{x0} {y0}Q{x} {y} {x1} {y1}"
    return f"{d}L{_n(points[-1][0])} {_n(points[-1][1])}"


def _toward(corner: Point, other: Point) -> Point:
    (x, y), (x1, y1) = corner, other
    length = abs(x1 - x) + abs(y1 - y) or 1.0
    share = min(RADIUS, length / 2) / length
    return x + (x1 - x) * share, y + (y1 - y) * share


def _n(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")


def extent(mark: list[Any]) -> tuple[float, float, float, float]:
    """Return left, top, right and bottom of a mark."""
    kind, *rest = mark
    if kind == "path":
        xs, ys = zip(*rest[0], strict=True)
        return min(xs), min(ys), max(xs), max(ys)
    if kind == "text":
        x, y, words, look = rest
        wide = text_width(
            words, {"shape": 10, "title": 11, "small": 10, "mark": 10}.get(look.split(" ")[-1], 12)
        )
        left = x - wide * {"name": 0.5, "sign": 0.5, "out": 0.5, "count": 1}.get(
            look.split(" ")[0], 0
        )
        return left, y - 10, left + wide, y + 3
    _, x, y, width, height, *_ = rest
    return x, y, x + width, y + height
