"""From a chapter's page to its sheets: what the marks in its source mean.

What the author marks is shown, whole, and nothing else. The marks are Jupyter's types: ``slide``
begins a sheet, ``subslide`` one below it; ``-`` is shown on the present sheet, ``fragment`` too, at
a key press; ``notes`` are for the speaker, and so is all text without a mark; code without a mark
runs unseen; ``skip`` is left out. A sheet without a heading keeps the title of the one before.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from coursekit.book.content import Node, Page
from coursekit.book.slides import cells, sizes, wording
from coursekit.book.slides.arrangement import Arrangement, arranged
from coursekit.book.slides.nodes import convert
from lmcourse.errors import CourseError

WORDS = 50  # on a sheet, its title included; code, tables and folded answers apart
LINES = 16  # of code
_BEGINNINGS = ("slide", "subslide")
_KINDS = (*_BEGINNINGS, "-", "fragment", "notes", "skip")


@dataclass(frozen=True)
class Cell:
    """A cell of the chapter, and what a sheet shows of it: nothing of code that only runs."""

    nodes: tuple[Node, ...]
    fragment: bool = False
    code: str | None = None  # all of it, of a code cell
    folded: bool = False
    shown: bool = True  # code that has a mark; its output may still be empty
    in_turn: bool = False  # its output appears at a key press


@dataclass
class Sheet:
    """What the screen shows at once."""

    below: bool = False  # the sheet before, as its continuation
    heading: Node | None = None
    again: bool = False  # the heading is that of the sheet before
    section: str = ""  # of the page, to which a link leads back
    cells: list[Cell] = field(default_factory=list)
    notes: list[Node] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    @property
    def nodes(self) -> list[Node]:
        """Return what it shows, besides its title."""
        return [node for cell in self.cells for node in cell.nodes]

    @property
    def title(self) -> str:
        """Return its title as plain text."""
        return wording.plain(self.heading) if self.heading else ""

    @property
    def words(self) -> int:
        """Return how many words it shows."""
        heading = [self.heading] if self.heading else []
        return wording.count([*heading, *self.nodes])

    @property
    def lines(self) -> int:
        """Return how many lines of code it shows."""
        return sum(map(sizes.code_lines, self.nodes))

    @property
    def room(self) -> float:
        """Return the height that its title leaves."""
        return sizes.room(self.title, small=self.again)

    def arrangement(self, sizes_of: sizes.ImageSizes) -> Arrangement:
        """Return which of its nodes are side by side."""
        return arranged(self.nodes, self.room, sizes_of)


def has_slides(page: Page) -> bool:
    """Say whether a page has marks of slides."""
    return any(_Block.of(node).kind in _BEGINNINGS for node in _blocks(page))


def sheets_of(page: Page) -> list[Sheet]:
    """Return a page's sheets. The first is the title's, which the deck writes.

    Raises:
        CourseError: nothing in the page is marked as a slide; a mark has no meaning; a node cannot
            be shown on a slide.
    """
    if not has_slides(page):
        raise CourseError(
            f"No part of {page.source} is marked as a slide.",
            'Mark where slides begin: a line `+++ {"slideshow": {"slide_type": "slide"}}` before '
            "a Markdown cell, a YAML block in a code cell (CONTRIBUTING.md).",
        )
    layout = _Layout(page)
    for number, node in enumerate(_blocks(page)):
        block = _Block.of(node)
        if number == 0 and block.kind == "slide" and _is_of_the_title(node):
            block = replace(block, kind="notes")
        layout.add(block)
    return layout.sheets


def _is_of_the_title(block: Node) -> bool:
    """Say whether the page's first block is its title and question; mystmd takes out the title."""
    headings = [node for node in block.get("children", []) if node["type"] == "heading"]
    return block.get("kind") != "notebook-code" and all(node["depth"] == 1 for node in headings)


def faults(sheets: Sequence[Sheet], sizes_of: sizes.ImageSizes) -> Iterator[str]:
    """Yield what is wrong with sheets: each is named, with its size and what to do."""
    for number, sheet in enumerate(sheets, 1):
        for fault in [*sheet.faults, *_faults(sheet, number == 1, sizes_of)]:
            yield f"{named(number, sheet)}: {fault}"


def named(number: int, sheet: Sheet) -> str:
    """Return a sheet's name in messages."""
    return f"slide {number} ({sheet.title})" if sheet.title else f"slide {number}"


def _faults(sheet: Sheet, first: bool, sizes_of: sizes.ImageSizes) -> Iterator[str]:
    nodes = sheet.nodes
    if first:
        if nodes:
            yield "the first slide shows title and question only. Begin another before this cell."
        return
    if sheet.heading is None:
        yield "it has no title. Give it a heading, or mark it `subslide`."
    if not nodes:
        yield (
            "it has nothing to show but its title. Mark cells after it with `-`, or remove "
            "its mark."
        )
        return
    if len(nodes) == 1 and nodes[0]["type"] == "paragraph" and wording.sentences(nodes[0]) < 2:
        yield (
            "it shows one sentence alone. Put a figure, an equation, code or a list beside it, or "
            "remove its mark."
        )
    if sheet.words > WORDS:
        yield (
            f"{sheet.words} words; at most {WORDS}. Leave prose unmarked (it is then in the "
            "notes), and write a short text for the slide in a cell with the tag `slide-only`."
        )
    if sheet.lines > LINES:
        yield (
            f"{sheet.lines} lines of code; at most {LINES}. Choose some with `lines: 3-9, 12` "
            "beside `slide_type`, show the output alone with `show: output`, or begin a `subslide`."
        )
    widest = cells.widest([text for node in nodes for text in sizes.code_of(node)])
    if widest > sizes.COLUMNS:
        yield f"code of {widest} columns; at most {sizes.COLUMNS}. Break the line."
    found = sheet.arrangement(sizes_of)
    if found.height > sheet.room + 1:
        yield (
            f"some {found.height:.0f} pixels high; there are {sheet.room:.0f}. Show less of it, or "
            "begin a `subslide` in it."
        )
    elif found.labels < sizes.LABELS:
        yield (
            f"letters of some {found.labels:.1f} pixels in its figure; at least {sizes.LABELS}. "
            "Show less beside it, or draw it lower (a wide figure is shown larger than a high "
            "one) or with larger letters."
        )


@dataclass(frozen=True)
class _Block:
    """A block of the page with its marks."""

    node: Node
    kind: str  # "" without a mark
    marks: dict[str, Any]

    @staticmethod
    def of(node: Node) -> "_Block":
        marks = (node.get("data") or {}).get("slideshow") or {}
        return _Block(node, marks.get("slide_type") or "", marks)


def _blocks(page: Page) -> Iterator[Node]:
    """Yield the blocks of the page and its slides; what is outside one is a block of its own."""
    for child in (page.deck or page.tree).get("children", []):
        if child["type"] == "block":
            yield child
        else:
            yield {"type": "block", "children": [child]}


class _Layout:
    """Fills sheets, one cell after the other."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.sheets = [Sheet()]
        self.section = ""

    def add(self, block: _Block) -> None:
        """Lay out one more block."""
        if block.kind and block.kind not in _KINDS:
            raise CourseError(
                f"{self._place()}: there is no slide_type {block.kind!r}.",
                f"Write one of {', '.join(_KINDS)}.",
            )
        if block.kind in _BEGINNINGS:
            before = self.sheets[-1]
            again = before.heading if block.kind == "subslide" else None
            self.sheets.append(
                Sheet(block.kind == "subslide", again, again is not None, self.section)
            )
        if not block.node.get("slide_only"):
            self._note_section(block.node)
        if block.node.get("kind") == "notebook-code":
            self.sheet.cells.append(self._code(block))
        elif block.node.get("visibility") == "remove" or block.kind == "skip":
            return
        elif block.kind in ("", "notes"):
            children = block.node.get("children", [])
            said = (node for node in children if wording.plain(node) != self.page.description)
            self.sheet.notes += [node for node in said if node["type"] != "thematicBreak"]
        else:
            self._text(block)

    @property
    def sheet(self) -> Sheet:
        """Return the sheet that is being filled."""
        return self.sheets[-1]

    def _place(self) -> str:
        """Say where we are, for messages."""
        return f"{self.page.source}, {named(len(self.sheets), self.sheet)}"

    def _note_section(self, block: Node) -> None:
        """Remember the page's last heading, to which the next sheets belong."""
        for node in block.get("children", []):
            if node["type"] == "heading" and node.get("html_id"):
                self.section = node["html_id"]
                if not self.sheet.nodes and not self.sheet.notes:
                    self.sheet.section = self.section

    def _code(self, block: _Block) -> Cell:
        code = block.node["children"][0]
        folded = code.get("visibility") in ("hide", "remove") or block.marks.get("show") == "output"
        seen = block.kind in (*_BEGINNINGS, "-", "fragment")
        seen = seen and block.node.get("visibility") != "remove"
        nodes: list[Node] = []
        if seen:
            nodes = cells.parts(block.node, block.marks, self._place())
        in_turn = block.marks.get("show") == "code then output"
        return Cell(tuple(nodes), block.kind == "fragment", code["value"], folded, seen, in_turn)

    def _text(self, block: _Block) -> None:
        shown = []
        for node in convert(block.node, self._place):
            if node["type"] != "heading":
                shown.append(node)
            elif self.sheet.heading is None or self.sheet.again:
                self.sheet.heading, self.sheet.again = node, False
            else:
                self.sheet.faults.append(
                    f"a second title, “{wording.plain(node)}”. Begin another slide with it."
                )
        if shown:
            self.sheet.cells.append(Cell(tuple(shown), block.kind == "fragment"))
