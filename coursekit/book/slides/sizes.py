"""How much room things take on a slide of 1280 × 720, estimated so that little is left to chance.

The estimates decide where a slide continues on another. The deck's script measures the real heights
and shrinks what is still too tall; the tests hold it to few and small corrections.
"""

import math
from collections.abc import Sequence
from typing import Any

from coursekit.book.content import Node
from coursekit.book.slides.nodes import source_of
from coursekit.book.slides.wording import plain

WIDTH, HEIGHT = 1280, 720  # pixels
ROOM = 552  # what a heading, the margins and the slide's number leave of the height
CODE = (22, 15)  # font sizes of code, largest and smallest
_COMFORT, _LISTING = 18, 17
_COLUMN = 1110  # width of a line of code
_LETTER, _LINE = 0.602, 1.36  # a monospace letter's width and a line's height, in font sizes
_TEXT_LINE, _GAP = 38, 16
_CHARACTERS = 80  # in a line of prose
FIGURE = 330  # a figure takes what is left, and is still readable at this height
_WIDGET = 600


def code_size(code: str, room: float = ROOM) -> float:
    """Return the font size at which code fits the width, and the height if the least does."""
    lines = code.rstrip("\n").split("\n")
    widest = max(map(len, lines))
    by_width = _COLUMN / (_LETTER * max(widest, 1))
    by_height = (room - 40) / (_LINE * len(lines))
    largest, smallest = CODE
    return round(max(smallest, min(largest, by_width, by_height)), 1)


def code_height(code: str, size: float) -> float:
    """Return the height of code at a font size."""
    return (code.rstrip("\n").count("\n") + 1) * _LINE * size + 40


def height(node: Node) -> float:
    """Estimate a node's height in pixels."""
    kind = node["type"]
    children: Sequence[Node] = node.get("children", [])
    if kind == "code":  # at the size that it has beside a sentence; alone it may be larger
        return code_height(node["value"], min(_COMFORT, code_size(node["value"], ROOM - 70)))
    if kind == "math":
        rows = node["value"].count(r"\\")
        return 100 + 48 * rows + _GAP
    if kind == "outputs":
        return sum(output_height(child["jupyter_data"]) for child in children)
    if kind in ("image", "container"):
        return FIGURE
    if kind == "table":
        return sum(2 * _TEXT_LINE if len(plain(row)) > 90 else 50 for row in children) + _GAP
    if kind == "details":
        return 48 + _GAP
    if kind in (
        "list",
        "listItem",
        "admonition",
        "block",
        "blockquote",
        "proof",
        "exercise",
        "div",
    ):
        return sum(map(height, children)) + _GAP
    return text_height(plain(node))


def text_height(text: str) -> float:
    """Estimate the height of a paragraph of prose."""
    return max(1, math.ceil(len(text) / _CHARACTERS)) * _TEXT_LINE + _GAP


def output_height(data: dict[str, Any]) -> float:
    """Estimate the height of one output of a cell."""
    forms = data.get("data", {})
    if "image/png" in forms or "image/svg+xml" in forms:
        return FIGURE
    if "application/vnd.jupyter.widget-view+json" in forms:
        return _WIDGET
    html = _text(forms.get("text/html"))
    if "lmcourse-expect" in html:
        return 48
    if source := source_of({"jupyter_data": data}):
        return code_height(source, _LISTING) + 30
    if "<script" in html or _is_long(forms.get("text/html")):
        return _WIDGET
    words = _text(data.get("text") or forms.get("text/markdown") or forms.get("text/plain"))
    lines = sum(max(1, math.ceil(len(line) / 95)) for line in words.rstrip("\n").split("\n"))
    return lines * (60 if "text/markdown" in forms else 29) + 30


def _is_long(form: Any) -> bool:
    """Say whether mystmd put a form into a file of its own, as it does with a widget's state."""
    return isinstance(form, dict) and "path" in form


def _text(value: Any) -> str:
    """Return the text of one form of an output, if it is in the tree."""
    if isinstance(value, dict):
        value = value.get("content", "")
    return "".join(value) if isinstance(value, list) else str(value or "")
