"""What prose says on a slide: the beginning of each paragraph, measured in words."""

import itertools
from collections.abc import Iterator, Sequence

from coursekit.book.content import Node
from coursekit.notebooks.prose import SYMBOL, sentence_ends

LEAD = 24  # words of a paragraph that a slide shows, unless its first sentence is longer
MOST = 55  # words of a paragraph with definitions that a slide shows


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
    """Count the words of nodes."""
    return sum(len(plain(node).split()) for node in nodes)


def lead(paragraph: Node, limit: int = LEAD, leads: bool = False) -> Node:
    """Return what a slide shows of a paragraph; the paragraph itself if that is all of it.

    Its first sentence, and further ones while they come to at most ``limit`` words in all. A last
    sentence that announces what follows is shown, too: it ends with a colon, or ``leads`` says that
    an equation follows. So are sentences that define a term (bold), as far as a slide holds them.
    """
    sentences = list(_sentences(paragraph))
    first = 1
    while first < len(sentences) and count(_flat(sentences[: first + 1])) <= limit:
        first += 1
    last = len(sentences) - 1
    shown = {*range(first), *([last] if leads or announces(paragraph) else [])}
    for number, sentence in enumerate(sentences):
        words = count(_flat([sentences[it] for it in {*shown, number}]))
        if limit and words <= MOST and any(node["type"] == "strong" for node in sentence):
            shown.add(number)
    if len(shown) == len(sentences):
        return paragraph
    children: list[Node] = []
    for before, number in itertools.pairwise([-1, *sorted(shown)]):
        if number:
            gap = " " if number == before + 1 else " … "
            children = [*_stripped(children), {"type": "text", "value": gap}]
        children += sentences[number]
    return paragraph | {"children": _stripped(children)}


def announces(paragraph: Node) -> bool:
    """Say whether a paragraph ends in a colon, so that it belongs to what follows."""
    return plain(paragraph).rstrip().endswith(":")


def asks(paragraph: Node) -> bool:
    """Say whether a paragraph begins or ends with a question, which what follows answers."""
    sentences = ["".join(map(plain, each)).strip() for each in _sentences(paragraph)]
    return bool(sentences) and (sentences[0].endswith("?") or sentences[-1].endswith("?"))


def _is_inline(node: Node) -> bool:
    blocks = ("paragraph", "list", "listItem", "math", "code", "admonition", "details", "block")
    return not any(child["type"] in blocks for child in node.get("children", []))


def _flat(sentences: Sequence[Sequence[Node]]) -> list[Node]:
    return [node for sentence in sentences for node in sentence]


def _sentences(paragraph: Node) -> Iterator[list[Node]]:
    """Split a paragraph's children where a sentence ends; only plain text is ever cut."""
    children = paragraph["children"]
    begin = 0
    for end in sentence_ends("".join(plain(child) for child in children)):
        piece = _between(children, begin, end)
        if piece is not None:
            yield piece
            begin = end


def _between(children: Sequence[Node], begin: int, end: int) -> list[Node] | None:
    """Return the nodes between two positions; ``None`` if a cut would go through a node."""
    piece: list[Node] = []
    position = 0
    for child in children:
        first, position = position, position + len(plain(child))
        if position <= begin or first >= end:
            continue
        if begin <= first and position <= end:
            piece.append(child)
        elif child["type"] == "text":
            cut = child["value"][max(begin - first, 0) : end - first]
            piece.append(child | {"value": cut})
        else:
            return None
    return piece


def _stripped(children: Sequence[Node]) -> list[Node]:
    """Drop the space at the end of the last text."""
    *rest, last = children
    if last["type"] == "text":
        last = last | {"value": last["value"].rstrip()}
    return [*rest, last]
