"""What of a page's syntax tree a slide can show, as it is or converted; the rest is named."""

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from coursekit.book.content import Node
from lmcourse.errors import CourseError

SHOWN = {
    "heading", "paragraph", "list", "code", "math", "outputs", "output", "admonition", "details",
    "table", "container", "image", "blockquote", "definitionList", "exercise", "solution", "proof",
    "aside", "div", "cell",
}  # fmt: skip
DROPPED = {"comment", "mystComment", "mystTarget", "raw", "thematicBreak", "footnoteDefinition"}
UNWRAPPED = {
    "block",
    "grid",
    "mystDirective",
    "mystRole",
    "include",
    "embed",
    "glossary",
    "linkBlock",
}
_PUNCTUATION = re.compile(r"[.,;:?!)\]’”]+")
_REMEDY = (
    "Leave that part out of the slides: put `+++` before it and after it, the first of them with "
    '`{"slideshow": {"slide_type": "skip"}}`. Or use a figure, a table or a dropdown instead.'
)


def convert(block: Node, location: Callable[[], str]) -> Iterator[Node]:
    """Yield what a slide shows of a block, in order.

    A cell's folded code is left out, and so is a line that only asks for a listing; a listing does
    without its docstrings. What tabs hold is folded under their names, and a card is a note. The
    nodes inside a paragraph are the renderer's business, which names those it does not
    know.

    Args:
        block: the block, or any node that only wraps others.
        location: returns source and slide, for the message.

    Raises:
        CourseError: it holds what no slide can show, such as a frame from another site.
    """
    children = block.get("children", [])
    for node in children:
        kind = node["type"]
        if kind == "code" and _only_shows_source(node, children):
            continue
        if node.get("visibility") in ("hide", "remove") or kind in DROPPED:
            continue
        if kind in UNWRAPPED:
            yield from convert(node, location)
        elif kind == "tabSet":
            yield from map(_folded, node.get("children", []))
        elif kind == "card":
            yield _note(node)
        elif kind == "outputs":
            if node.get("children"):
                yield node | {"children": [_without_docstrings(each) for each in node["children"]]}
        elif kind in SHOWN:
            yield node
        else:
            raise CourseError(
                f"{location()}: a slide cannot show a node of type {kind!r}.", _REMEDY
            )


def _folded(tab: Node) -> Node:
    """Turn a tab into a dropdown under its name."""
    name = {"type": "text", "value": str(tab.get("title", ""))}
    return {
        "type": "details",
        "children": [{"type": "summary", "children": [name]}, *tab.get("children", [])],
    }


def _note(card: Node) -> Node:
    """Turn a card into a note under its title."""
    titles = [each for each in card.get("children", []) if each["type"] in ("header", "cardTitle")]
    rest = [
        each for each in card.get("children", []) if each["type"] not in ("header", "cardTitle")
    ]
    head = [{"type": "admonitionTitle", "children": title["children"]} for title in titles]
    return {"type": "admonition", "kind": "note", "children": [*head, *rest]}


def unbroken(node: Node) -> Node:
    """Return a node in which no line begins with the comma or stop that follows a formula."""
    if "children" not in node:
        return node
    out: list[Node] = []
    for child in map(unbroken, node["children"]):
        mark = _PUNCTUATION.match(child["value"]) if child["type"] == "text" else None
        if mark and out and out[-1]["type"] == "inlineMath":
            pair = [out.pop(), {"type": "text", "value": mark[0]}]
            out.append({"type": "span", "class": "unbroken", "children": pair})
            child = child | {"value": child["value"][mark.end() :]}
        out.append(child)
    return node | {"children": out}


def source_of(output: Node) -> str | None:
    """Return the listing that an output of IPython's ``Code`` shows; else ``None``."""
    entry = _listing(output)
    return None if entry is None else str(entry["content"])


def _listing(output: Node) -> dict[str, Any] | None:
    data = output.get("jupyter_data") or {}
    forms = data.get("data", {})
    html, text = forms.get("text/html"), forms.get("text/plain")
    if not (isinstance(html, dict) and isinstance(text, dict)):
        return None
    listed = 'class="highlight"' in str(html.get("content", "")) and "content" in text
    return text if listed else None


def _only_shows_source(code: Node, siblings: Sequence[Node]) -> bool:
    """Say whether a cell is one line whose output is a listing: the listing says it all."""
    outputs = [each for node in siblings for each in node.get("children", [])]
    return "\n" not in code["value"].strip() and any(map(_listing, outputs))


def _without_docstrings(output: Node) -> Node:
    """Leave the docstrings out of a listing: on a slide the speaker says what they say."""
    entry = _listing(output)
    if entry is None:
        return output
    data = output["jupyter_data"]
    short = entry | {"content": without_docstrings(entry["content"])}
    return output | {"jupyter_data": data | {"data": data["data"] | {"text/plain": short}}}


def without_docstrings(code: str) -> str:
    """Return Python code without its docstrings; code that cannot be parsed as it is."""
    try:
        tree = ast.parse(code)
    except SyntaxError:
        return code
    lines: list[str | None] = list(code.split("\n"))
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        if ast.get_docstring(node) is not None and len(node.body) > 1:
            first = node.body[0]
            end = first.end_lineno or first.lineno
            lines[first.lineno - 1 : end] = [None] * (end - first.lineno + 1)
    return "\n".join(line for line in lines if line is not None)
