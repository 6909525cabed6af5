"""How much room things take on a slide of 1280 × 720 pixels, estimated.

The estimates decide what is beside and what is below each other, and name what does not fit while
the deck is made. The deck's script measures: it sets the text as large as it fits, and no smaller
than 20 pixels.
"""

import math
import re
from collections.abc import Callable, Sequence
from typing import Any

from coursekit.book.content import Node
from coursekit.book.slides.cells import source_of, widest
from coursekit.book.slides.wording import plain

ImageSizes = Callable[[Node], tuple[float, float] | None]  # of an output or an image, if it is one

WIDTH, HEIGHT = 1184, 720  # of what a sheet shows; of a sheet
LARGEST, SMALLEST = 28, 20  # the text's font size
CODE = (24, 20)  # that of code
COLUMNS = 100  # of code, with its letters set closer beyond `LOOSE`
LOOSE = 93
LETTER, TIGHT = 0.602, 0.572  # the width of a monospace letter, in font sizes
FIGURE = 260  # a figure takes what is left, and is still readable at this height
LABELS = 16  # the smallest letters of a figure
_LINE, _PROSE = 1.36, 0.53  # the height of a line, the mean width of a letter
_GAP = 0.64  # between two things
_MARGINS = 94  # above and below a sheet's content
_HEADING, _SMALL_HEADING = 68, 42
_LONG_TITLE = 56  # characters, in one line
_TALL = re.compile(r"\\(?:d?frac|sum|prod|int|max|min|underbrace|begin)\b")
_SYMBOL = re.compile(r"\\[A-Za-z]+|[^\\{}\s^_&]")
_INVISIBLE = re.compile(
    r"\\(?:[dt]?frac|left|right|[bB]igg?[lr]?|operatorname|text\w*|math\w+|q?quad)"
)


def room(title: str, small: bool = False) -> float:
    """Return the height that a title leaves."""
    lines = 1 + (len(title) > _LONG_TITLE and not small)
    heading = _SMALL_HEADING if small else _HEADING + 46 * (lines - 1)
    return HEIGHT - _MARGINS - (heading if title else 0)


def is_figure(node: Node, sizes_of: ImageSizes) -> bool:
    """Say whether a node is an image, which takes the room that is left."""
    if node["type"] in ("image", "container"):
        return True
    return node["type"] == "outputs" and any(sizes_of(each) for each in node["children"])


def is_widget(node: Node) -> bool:
    """Say whether a node is a widget, which has a sheet to itself."""
    return node["type"] == "outputs" and any(
        _is_live(each.get("jupyter_data") or {}) for each in node["children"]
    )


def image_form(data: dict[str, Any]) -> str | None:
    """Return the image that an output is shown by: one with its words, or one without HTML."""
    forms, words = data.get("data", {}), data.get("metadata") or {}
    images = [mime for mime in forms if mime.startswith("image/")]
    described = [mime for mime in images if (words.get(mime) or {}).get("alt")]
    if described or "text/html" in forms or "text/markdown" in forms:
        return described[0] if described else None
    return images[0] if images else None


def code_of(node: Node) -> list[str]:
    """Return the code that a node shows, listings included."""
    if node["type"] == "code":
        return [node["value"]]
    if node["type"] == "outputs":
        return [source for each in node["children"] if (source := source_of(each))]
    return [code for child in node.get("children", []) for code in code_of(child)]


def code_lines(node: Node) -> int:
    """Return how many lines of code a node shows; the name of a listing's file is none."""
    return sum(len(_code(code).split("\n")) for code in code_of(node))


def code_size(codes: Sequence[str], width: float) -> float:
    """Return the largest font size at which code fits a width."""
    columns = max(1, widest(codes))
    letter = TIGHT if columns > LOOSE else LETTER
    largest, smallest = CODE
    return max(smallest, min(largest, math.floor((width - 40) / (letter * columns) * 10) / 10))


def code_fits(codes: Sequence[str], width: float) -> bool:
    """Say whether the smallest letters of code fit a width."""
    columns = widest(codes)
    return columns * (TIGHT if width >= WIDTH else LETTER) * CODE[1] <= width - 40


def printed(node: Node) -> list[str]:
    """Return what a cell prints."""
    outputs = node["children"] if node["type"] == "outputs" else []
    return [text for each in outputs if (text := _printed(each))]


def height(node: Node, width: float, size: float, sizes_of: ImageSizes) -> float:
    """Estimate a node's height in pixels, at a text size; a figure's is the least that it needs."""
    kind = node["type"]
    children: Sequence[Node] = node.get("children", [])

    def inner(less: float = 0) -> float:
        return stacked([height(each, width - less, size, sizes_of) for each in children], size)

    if kind == "code":
        return _code_height(node["value"], width)
    if kind == "math":
        rows = re.split(r"\\\\(?!\w)", node["value"])
        return size * (0.6 + sum(2.9 if _TALL.search(row) else 1.5 for row in rows))
    if kind == "outputs":
        shown = [_output_height(each, width, size, sizes_of) for each in children]
        return sum(shown) + 6 * (len(shown) - 1)
    if kind in ("image", "container"):
        return FIGURE
    if kind == "table":
        rows = [[plain(cell) for cell in row.get("children", [])] for row in children]
        return _table_height(rows, width, size)
    if kind == "details":
        return size * 0.86 * _LINE + 24
    if kind in ("admonition", "exercise", "proof", "blockquote"):
        return inner(54) + 24
    if kind == "list":
        items = [height(each, width - 1.1 * size, size, sizes_of) for each in children]
        return sum(items) + 0.4 * size * (len(items) - 1)
    if kind == "listItem" and any(each["type"] in ("paragraph", "list") for each in children):
        return inner()
    if kind in ("block", "div", "definitionList"):
        return inner()
    lines = max(1, math.ceil(_letters(node) * _PROSE * size / width))
    return lines * _LINE * size


def stacked(heights: Sequence[float], size: float) -> float:
    """Return the height of things below each other."""
    return sum(heights) + _GAP * size * max(0, len(heights) - 1)


def equation_width(node: Node, size: float) -> float:
    """Estimate the width of the widest equation in a node."""
    if node["type"] == "math":
        rows = re.split(r"\\\\(?!\w)", node["value"])
        number = 70 if node.get("enumerator") else 0
        return max(_symbols(row) for row in rows) * 0.62 * size + number
    return max((equation_width(each, size) for each in node.get("children", [])), default=0)


def _symbols(tex: str) -> int:
    """Count what a formula shows side by side, about: half of what a fraction holds."""
    shown = len(_SYMBOL.findall(_INVISIBLE.sub(" ", tex)))
    fractions = re.findall(r"\\d?frac\{((?:[^{}]|\{[^{}]*\})*)\}\{((?:[^{}]|\{[^{}]*\})*)\}", tex)
    hidden = sum(min(len(_SYMBOL.findall(part)) for part in pair) for pair in fractions)
    return max(1, shown - hidden)


def _letters(node: Node) -> int:
    if node["type"] == "inlineMath":
        return _symbols(node["value"])
    if node.get("children"):
        return sum(map(_letters, node["children"]))
    return len(plain(node))


def _code(code: str) -> str:
    """Return a listing without the line that names its file."""
    return re.sub(r"\A# [\w./-]+\.py\n", "", code).strip("\n")


def _code_height(code: str, width: float) -> float:
    lines = len(_code(code).split("\n"))
    return lines * 1.34 * code_size([code], width) + 28 + 34 * (_code(code) != code.strip("\n"))


def _table_height(rows: Sequence[Sequence[str]], width: float, size: float) -> float:
    font = max(SMALLEST, 0.78 * size)
    longest = [max(map(len, column)) for column in zip(*rows, strict=False)]
    shares = [math.sqrt(min(each, 80)) + 1 for each in longest]
    total = 0.0
    for row in rows:
        lines = (
            math.ceil(len(cell) * _PROSE * font / (width * share / sum(shares) - 20))
            for cell, share in zip(row, shares, strict=False)
        )
        total += max([1, *lines]) * 1.32 * font + font + 1
    return total


def _output_height(output: Node, width: float, size: float, sizes_of: ImageSizes) -> float:
    data = output.get("jupyter_data") or {}
    if sizes_of(output):
        return FIGURE
    if _is_live(data):
        return 0  # it fills its sheet
    if source := source_of(output):
        return _code_height(source, width)
    markdown = _text(data.get("data", {}).get("text/markdown"))
    if rows := [line.strip("| ").split("|") for line in markdown.split("\n") if "|" in line]:
        return _table_height([row for row in rows if set("".join(row)) - set("-: ")], width, size)
    if markdown:
        return math.ceil(len(markdown) * _PROSE * size / width) * _LINE * size
    text = _printed(output)
    per_line = max(1, int((width - 24) / (LETTER * CODE[1])))
    lines = sum(max(1, math.ceil(len(line) / per_line)) for line in text.split("\n"))
    return lines * _LINE * CODE[1] + 12


def _printed(output: Node) -> str:
    data = output.get("jupyter_data") or {}
    forms = data.get("data", {})
    if "text/html" in forms or "text/markdown" in forms or source_of(output):
        return ""
    return (_text(data.get("text")) or _text(forms.get("text/plain"))).rstrip("\n")


def _is_live(data: dict[str, Any]) -> bool:
    """Say whether an output is a widget: its script, or a file where mystmd put that."""
    forms = data.get("data", {})
    html = forms.get("text/html")
    return (
        "application/vnd.jupyter.widget-view+json" in forms
        or "<script" in _text(html)
        or (isinstance(html, dict) and "path" in html and image_form(data) is None)
    )


def _text(value: Any) -> str:
    """Return the text of one form of an output, if it is in the tree."""
    if isinstance(value, dict):
        value = value.get("content", "")
    return "".join(value) if isinstance(value, list) else str(value or "")
