"""From MyST's syntax tree to HTML.

https://mystmd.org/spec names the nodes. Each kind has a function of its own, by subject:
``inline`` (text and its marks), ``references`` (links, citations, footnotes), ``blocks``
(paragraphs, lists, tables), ``boxes`` (admonitions, cards, exercises), ``figures`` and ``outputs``
(cells and what they show). What cannot be shown is a problem, named, and the build fails on it.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from lmcourse.book.content import Node
from lmcourse.book.render import blocks, boxes, figures, inline, outputs, references

Handler = Callable[["Renderer", Node], str]
HANDLERS: dict[str, Handler] = {
    **inline.HANDLERS,
    **references.HANDLERS,
    **blocks.HANDLERS,
    **boxes.HANDLERS,
    **figures.HANDLERS,
    **outputs.HANDLERS,
}


class Renderer:
    """Turns nodes into HTML; the same for pages and slides.

    Args:
        public: mystmd's folder of extracted figures and long outputs.
        asset: gives the URL to write for a file: a relative path on a page, a data URI in a deck.
        link: gives the URL to write for a link: mystmd's ``/slug#anchor``, ``#anchor`` for a place
            on the same page, or an outside URL as it is. With ``""`` the link becomes plain text.
        heading_shift: is added to each heading's level.
        cite: gives the URL of a work in the bibliography by its key; ``""`` for plain text.
        permalinks: whether headings carry a link to themselves.

    Attributes:
        problems: what could not be shown, each with its place. The build fails on them.
        citations: for each cited work the anchors where it is cited, in order.
    """

    def __init__(
        self,
        *,
        public: Path,
        asset: Callable[[Path], str],
        link: Callable[[str], str],
        heading_shift: int = 0,
        cite: Callable[[str], str] = "#cite-{}".format,
        permalinks: bool = True,
    ) -> None:
        self.public = public
        self.asset = asset
        self.link = link
        self.heading_shift = heading_shift
        self.cite = cite
        self.permalinks = permalinks
        self.problems: list[str] = []
        self.citations: dict[str, list[str]] = {}
        self.footnotes: dict[str, int] = {}  # how often each has been referred to
        self.place = "the beginning"  # the last heading: where a problem is

    def render(self, nodes: Sequence[Node]) -> str:
        """Return the HTML of some nodes."""
        return "".join(self._one(node) for node in nodes)

    def children(self, node: Node) -> str:
        """Return the HTML of a node's children."""
        return self.render(node.get("children", []))

    def problem(self, what: str) -> None:
        """Note what cannot be shown, once for each place."""
        entry = f"under “{self.place}”: {what}"
        if entry not in self.problems:
            self.problems.append(entry)

    def _one(self, node: Node) -> str:
        kind = node.get("type", "")
        handler = HANDLERS.get(kind)
        if handler is None:
            self.problem(f"a “{kind}” node, which the book cannot show.")
            return self.children(node)
        return handler(self, node)


def plain(node: Node) -> str:
    """Return a node's text, without any markup."""
    return inline.plain(node)
