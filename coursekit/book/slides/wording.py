"""The words of a node: as plain text, counted, and in sentences."""

from collections.abc import Sequence

from coursekit.book.content import Node
from coursekit.notebooks.prose import SYMBOL, sentence_ends


def plain(node: Node) -> str:
    """Return a node's words as plain text; a formula is one symbol."""
    kind = node["type"]
    if kind in ("text", "inlineCode", "code"):
        return str(node.get("value", ""))
    if kind in ("inlineMath", "math"):
        return SYMBOL  # one word, and no punctuation of its own
    if kind in ("comment", "mystTarget", "footnoteReference"):
        return ""
    if kind == "break":
        return " "
    between = "" if _is_inline(node) else " "
    return between.join(plain(child) for child in node.get("children", []))


def count(nodes: Sequence[Node]) -> int:
    """Count the words that nodes show at once: not code, tables and what is folded away."""
    return sum(map(_words, nodes))


def sentences(node: Node) -> int:
    """Count the sentences of a node."""
    return len(list(sentence_ends(plain(node).strip())))


def _words(node: Node) -> int:
    if node["type"] in ("code", "table", "outputs", "details", "image", "math"):
        return 0
    if _is_inline(node):
        return len(plain(node).split())
    return count(node.get("children", []))


def _is_inline(node: Node) -> bool:
    blocks = (
        "paragraph", "list", "listItem", "math", "code", "table", "admonition", "details", "block",
        "outputs", "blockquote",
    )  # fmt: skip
    return not any(child["type"] in blocks for child in node.get("children", []))
