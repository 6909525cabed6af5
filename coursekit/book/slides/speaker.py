"""The speaker's notes: what a slide leaves out, in forms that the speaker's window can show."""

import re
from collections.abc import Iterable, Iterator, Sequence

from coursekit.book.content import Node
from coursekit.book.render.markup import sanitize

_REFERENCE = "footnoteReference"
_MATHML = re.compile(r"<math\b.*?</math>", re.DOTALL)


def for_the_speaker(nodes: Sequence[Node], footnotes: Sequence[Node] = ()) -> list[Node]:
    """Return nodes as the notes show them, and after them the footnotes that a slide refers to.

    The speaker's window has none of the deck's style sheets: an equation keeps its MathML, which
    browsers draw by themselves. Anchors are left to the slides, where links lead.
    """
    texts = [{"type": "block", "children": each.get("children", [])} for each in footnotes]
    return [_bare(without_footnotes(node)) for node in [*nodes, *texts]]


def footnotes_of(tree: Node) -> dict[str, Node]:
    """Return a page's footnotes by their names."""
    return {
        node["identifier"]: node for node in every(tree) if node["type"] == "footnoteDefinition"
    }


def references_in(nodes: Iterable[Node]) -> list[str]:
    """Return the names of the footnotes that nodes refer to, in order."""
    found = (each for node in nodes for each in every(node) if each["type"] == _REFERENCE)
    return list(dict.fromkeys(each["identifier"] for each in found))


def without_footnotes(node: Node) -> Node:
    """Return a node without its references to footnotes, whose texts are the speaker's."""
    if "children" not in node:
        return node
    kept = [without_footnotes(each) for each in node["children"] if each["type"] != _REFERENCE]
    return node | {"children": kept}


def every(node: Node) -> Iterator[Node]:
    """Yield a node and all nodes under it."""
    yield node
    for child in node.get("children", []):
        yield from every(child)


def works(entries: Iterable[str]) -> str:
    """Return the works that a slide cites, as HTML."""
    return "".join(f"<p><small>{sanitize(entry)}</small></p>" for entry in entries if entry)


def _bare(node: Node) -> Node:
    kept = {name: value for name, value in node.items() if name != "html_id"}
    if node["type"] in ("math", "inlineMath") and "html" in node:
        found = _MATHML.search(node["html"])
        if found:
            kept["html"] = found[0]
    if "children" in node:
        kept["children"] = [_bare(child) for child in node["children"]]
    return kept
