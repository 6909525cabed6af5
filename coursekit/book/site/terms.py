"""The glossary's entries, for tooltips, previews and the search."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from coursekit.book.content import Content, Node
from coursekit.book.render.readable import text_of
from coursekit.notebooks.glossary import PAGE

_SHORT_FORM = r" \((?P<short>[A-Z][\w-]*[A-Z])[);,]"  # Backpropagation through time (BPTT)


@dataclass(frozen=True)
class Entry:
    """A term of the glossary."""

    name: str
    anchor: str  # on the glossary's page
    meaning: str  # the defining sentence as plain text
    short_form: str  # "BPTT", if the sentence has one
    described: tuple[Node, ...]  # the sentence and the link to the chapter
    section: str  # where it is defined: "Chapter 02: The equations"
    url: str  # mystmd's of that definition: "/attention#definition-key"


def entries(content: Content) -> Iterator[Entry]:
    """Yield the terms of the book's glossary, in its order."""
    page = next((page for page in content.pages if page.slug == PAGE), None)
    for glossary in _every(page.tree, "glossary") if page else ():
        term: Node = {}
        for node in (each for child in glossary["children"] for each in child["children"]):
            if node["type"] == "definitionTerm":
                term = node
            elif node.get("children"):
                yield _entry(term, node["children"])


def _entry(term: Node, described: list[Node]) -> Entry:
    name, meaning = text_of(term).strip(), text_of(described[0])
    short = re.search(re.escape(name) + _SHORT_FORM, meaning, re.IGNORECASE)
    link = next(_every(described[-1], "crossReference"), {})
    anchor = f"#{link['html_id']}" if link.get("html_id") else ""
    return Entry(
        name=name,
        anchor=term["html_id"],
        meaning=meaning,
        short_form=short["short"] if short else "",
        described=tuple(described),
        section=text_of(link) if link else "",
        url=link.get("url", "") + anchor,
    )


def _every(node: Node, kind: str) -> Iterator[Node]:
    if node["type"] == kind:
        yield node
    for child in node.get("children", []):
        yield from _every(child, kind)
