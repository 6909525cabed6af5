"""Views as a static picture, for print and slides."""

import html
from collections.abc import Sequence
from typing import Any

from lmcourse.style import INK, LINES, PARTS
from lmcourse.widgets.anatomy_marks import View

SOFT, MARK = "#59636e", "#a84300"
APART = 40  # pixels between two models
LOOKS: dict[str, dict[str, Any]] = {  # as in web/widgets/anatomy/picture.js
    "name": {"text-anchor": "middle"},
    "sign": {"text-anchor": "middle", "font-size": 14},
    "out": {"text-anchor": "middle", "fill": SOFT},
    "title": {"font-size": 11, "fill": SOFT},
    "shape": {"font-size": 10, "fill": SOFT},
    "count": {"text-anchor": "end", "font-weight": 650},
    "times": {"font-weight": 650},
    "count small": {"text-anchor": "end", "font-size": 10, "fill": SOFT},
    "times small": {"font-size": 10, "fill": SOFT},
    "mark": {"font-size": 10, "font-weight": 650, "fill": MARK},
    "line": {"fill": "none", "stroke": LINES, "stroke-width": 1.3},
    "bracket": {"fill": "none", "stroke": LINES, "stroke-width": 1.3},
    "head": {"fill": LINES},
}


def svg(views: Sequence[tuple[str, View]], alt: str) -> str:
    """Return views side by side, each over its title, as an SVG on a white background."""
    high = max(view.height for _, view in views)
    body, x = "", 0.0
    for title, view in views:
        marks = "".join(_mark(it) for it in view.marks)
        named = _text(8, high - view.height + 14, title, "times") if len(views) > 1 else ""
        inner = f'<g transform="translate(0 {high - view.height + 20 * bool(named)})">{marks}</g>'
        body += f'<g transform="translate({x} 0)">{named}{inner}</g>'
        x += view.width + APART
    high += 20 * (len(views) > 1)
    size = {"width": x - APART, "height": high, "viewBox": f"0 0 {x - APART} {high}"}
    font = {"font-family": "system-ui, sans-serif", "font-size": 12, "fill": INK}
    head = {"xmlns": "http://www.w3.org/2000/svg", "role": "img", **size, **font}
    paper = _tag("rect", {"width": "100%", "height": "100%", "fill": "#ffffff"})
    return f"<svg {_attributes(head)}><title>{html.escape(alt)}</title>{paper}{body}</svg>"


def _mark(mark: list[Any]) -> str:
    kind, *rest = mark
    if kind == "path":
        return _tag("path", {"d": rest[0], **LOOKS[rest[1]]})
    if kind == "text":
        return _text(*rest)
    _, x, y, width, height, part, look = rest
    place = {"x": x, "y": y, "width": width, "height": height}
    if kind == "frame":
        return _tag("rect", {**place, "rx": 10, "fill": "#f4f6f8", "stroke": "#d5dbe1"})
    round_ = {"rx": width / 2 if kind == "circle" else 6}
    paper = _tag("rect", {**place, **round_, "fill": "#ffffff"})
    color = LINES if part == "plain" else PARTS[part]
    fill = {"fill": color, "fill-opacity": 0 if part == "plain" else 0.3}
    stroke = {"stroke": color, "stroke-width": 1.2}
    if look:
        dashes = {"stroke-dasharray": "4 3"} if look == "gone" else {}
        stroke = {"stroke": MARK, "stroke-width": 2, **dashes}
    return paper + _tag("rect", {**place, **round_, **fill, **stroke})


def _text(x: float, y: float, words: str, look: str) -> str:
    return f"<text {_attributes({'x': x, 'y': y, **LOOKS[look]})}>{html.escape(words)}</text>"


def _attributes(values: dict[str, Any]) -> str:
    return " ".join(f'{name}="{html.escape(str(it))}"' for name, it in values.items())


def _tag(name: str, values: dict[str, Any]) -> str:
    return f"<{name} {_attributes(values)}/>"
