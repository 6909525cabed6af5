"""What of a page's syntax tree a slide can show, as it is or converted; the rest is named."""

import re
from collections.abc import Callable, Iterator

from coursekit.book.content import Node
from lmcourse.errors import CourseError

SHOWN = {
    "heading", "paragraph", "list", "code", "math", "admonition", "details", "table", "container",
    "image", "blockquote", "definitionList", "exercise", "solution", "proof", "aside", "div",
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
    """Yield what a slide shows of a block of text, in order.

    What tabs hold is folded under their names, and a card is a note. The nodes inside a paragraph
    are the renderer's business, which names those it does not know.

    Args:
        block: the block, or any node that only wraps others.
        location: returns source and slide, for the message.

    Raises:
        CourseError: it holds what no slide can show, such as a frame from another site.
    """
    for node in block.get("children", []):
        kind = node["type"]
        if node.get("visibility") in ("hide", "remove") or kind in DROPPED:
            continue
        if kind in UNWRAPPED:
            yield from convert(node, location)
        elif kind == "tabSet":
            yield from map(_folded, node.get("children", []))
        elif kind == "card":
            yield _note(node)
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
