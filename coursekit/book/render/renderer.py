"""What turns a node of MyST's syntax tree into HTML; see `coursekit.book.render.nodes`."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from coursekit.book.content import Node

Handler = Callable[["NodeRenderer", Node], str]


class NodeRenderer:
    """Turns nodes into HTML by the function that ``handlers`` has for each type of node.

    Args:
        public: mystmd's folder of extracted figures and long outputs.
        asset: gives the URL to write for a file: a relative path on a page, a data URI in a deck.
        link: gives the URL to write for a link: mystmd's ``/slug#anchor``, ``#anchor`` for a target
            on the same page, or an outside URL as it is. With ``""`` the link becomes plain text.
        heading_shift: is added to each heading's level.
        cite: gives the URL of a work in the bibliography by its key; ``""`` for plain text.
        permalinks: whether headings carry a link to themselves.
        night: whether a dark page may show another form of a figure.
        definitions: the meaning of each term of the glossary, by its anchor there; a link to the
            term shows it when the pointer is over it.

    Attributes:
        problems: what could not be shown, each with its location. The build fails on them.
        citations: for each cited work the anchors where it is cited, in order.
        references: the URLs to which references and terms lead, in order.
    """

    handlers: ClassVar[Mapping[str, "Handler"]] = {}

    def __init__(
        self,
        *,
        public: Path,
        asset: Callable[[Path], str],
        link: Callable[[str], str],
        heading_shift: int = 0,
        cite: Callable[[str], str] = "#cite-{}".format,
        permalinks: bool = True,
        night: bool = False,
        definitions: Mapping[str, str] | None = None,
    ) -> None:
        self.public = public
        self.asset = asset
        self.link = link
        self.heading_shift = heading_shift
        self.cite = cite
        self.permalinks = permalinks
        self.night = night
        self.definitions = definitions or {}
        self.problems: list[str] = []
        self.citations: dict[str, list[str]] = {}
        self.references: list[str] = []
        self.footnotes: dict[str, int] = {}  # how often each has been referred to
        self.section = "the beginning"  # the last heading, named in problems

    def render(self, nodes: Sequence[Node]) -> str:
        """Return the HTML of some nodes."""
        return "".join(self._one(node) for node in nodes)

    def children(self, node: Node) -> str:
        """Return the HTML of a node's children."""
        return self.render(node.get("children", []))

    def problem(self, what: str) -> None:
        """Note what cannot be shown, once for each section."""
        entry = f"under “{self.section}”: {what}"
        if entry not in self.problems:
            self.problems.append(entry)

    def _one(self, node: Node) -> str:
        kind = node.get("type", "")
        handler = self.handlers.get(kind)
        if handler is None:
            self.problem(f"a “{kind}” node, which the book cannot show.")
            return self.children(node)
        return handler(self, node)
