"""From a chapter's page to its slides: what the marks in its source mean.

The source marks blocks with Jupyter's types: ``slide`` begins a slide, ``subslide`` continues it
below, a ``fragment`` appears at a key press, ``notes`` are for the speaker alone, ``skip`` is left
out, and a block without a mark continues where the last one ended. Where a slide has no room for
all of its prose, it shows the first sentence of each paragraph and list item (more of them up to 24
words; the last one, if it ends in a colon or an equation follows; those that define a term in
bold); whole paragraphs go to the speaker notes. Equations, figures, code, questions and tables are
shown whole. More than some 60 words, or than the height of a slide, continues on another, as does
a new heading. ``"prose": "whole"`` or ``"none"`` beside ``"slide_type"`` overrides this.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Literal

from coursekit.book.content import Node, Page
from coursekit.book.slides import sizes, wording
from coursekit.book.slides.nodes import convert
from lmcourse.errors import CourseError

WORDS = 57  # on a slide, code, tables and folded answers apart; a page counts a few more
Role = Literal["prose", "exhibit", "aside"]


@dataclass(frozen=True)
class Item:
    """One thing on a slide: a sentence or two, an equation, a figure, a question."""

    node: Node
    role: Role
    words: int = 0
    height: float = 0.0
    leads: bool = False  # it belongs to what follows it
    fragment: int | None = None  # items with the same number appear together, at a key
    whole: Node | None = None  # the paragraph, for the notes, where the slide shows less


@dataclass
class Sheet:
    """What the screen shows at once."""

    heading: Node | None = None
    again: bool = False  # the heading is repeated from the sheet before
    items: list[Item] = field(default_factory=list)
    notes: list[Node] = field(default_factory=list)

    @property
    def words(self) -> int:
        """Return how many words it shows."""
        heading = [self.heading] if self.heading else []
        return wording.count(heading) + sum(item.words for item in self.items)

    @property
    def height(self) -> float:
        """Return how high what it shows is, about, in pixels."""
        return sum(item.height for item in self.items)


@dataclass
class Slide:
    """One slide and what continues it below."""

    sheets: list[Sheet]


def has_slides(page: Page) -> bool:
    """Say whether a page has marks of slides."""
    return any(_Block.of(node).kind in ("slide", "subslide") for node in _blocks(page.tree))


def slides_of(page: Page) -> list[Slide]:
    """Lay a page out as slides. The first sheet is the title's: its heading is left to the deck.

    Raises:
        CourseError: nothing in the page is marked as a slide; a slide is empty; a node cannot be
            shown on a slide.
    """
    if not has_slides(page):
        raise CourseError(
            f"No part of {page.source} is marked as a slide.",
            'Mark where slides begin: a line `+++ {"slideshow": {"slide_type": "slide"}}` before '
            "a Markdown cell, a YAML block in a code cell (CONTRIBUTING.md).",
        )
    layout = _Layout(page)
    for number, group in enumerate(_groups(page)):
        whole = number > 0 and _has_room(group, page)
        for block in group:
            layout.add(replace(block, prose="whole") if whole and block.prose == "first" else block)
    return layout.finish()


def _groups(page: Page) -> Iterator[list["_Block"]]:
    """Yield the blocks from one mark of a slide to the next."""
    group: list[_Block] = []
    for block in map(_Block.of, _blocks(page.tree)):
        if block.kind in ("slide", "subslide") and group:
            yield group
            group = []
        group.append(block)
    yield group


def _has_room(group: Sequence["_Block"], page: Page) -> bool:
    """Say whether all prose of these blocks fits on one sheet with everything else."""
    trial = _Layout(page)
    trial.slides.append(Slide([Sheet()]))  # instead of the title's
    first, *rest = group
    try:
        for block in (replace(first, kind="slide"), *rest):
            trial.add(replace(block, prose="whole") if block.prose == "first" else block)
    except CourseError:  # it will be raised again, and then name the slide
        return False
    sheets = [sheet for slide in trial.slides[1:] for sheet in slide.sheets]
    return len(sheets) == 1 and sheets[0].words <= WORDS and sheets[0].height <= sizes.ROOM


@dataclass(frozen=True)
class _Block:
    """A block of the page with its marks."""

    node: Node
    kind: str
    prose: str

    @staticmethod
    def of(node: Node) -> "_Block":
        marks = (node.get("data") or {}).get("slideshow") or {}
        return _Block(node, marks.get("slide_type") or "-", marks.get("prose") or "first")


def _blocks(tree: Node) -> Iterator[Node]:
    """Yield the page's blocks; what is outside one is a block of its own."""
    for child in tree.get("children", []):
        if child["type"] == "block":
            yield child
        else:
            yield {"type": "block", "children": [child]}


class _Layout:
    """Fills sheets, one item after the other."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.slides: list[Slide] = []
        self.fragments = 0

    def add(self, block: _Block) -> None:
        """Lay out one more block."""
        if block.node.get("visibility") == "remove" or block.kind == "skip":
            return
        if block.kind in ("slide", "subslide") or not self.slides:
            self._begin(block)
        if block.kind == "notes":
            self.sheet.notes += block.node.get("children", [])
            return
        fragment = None
        if block.kind == "fragment":
            fragment, self.fragments = self.fragments, self.fragments + 1
        led = {
            id(node)
            for node, after in pairwise(block.node.get("children", []))
            if after["type"] == "math"
        }
        for node in convert(block.node, self._place):
            self._add(node, block.prose, fragment, id(node) in led)

    def finish(self) -> list[Slide]:
        """Return the slides.

        Raises:
            CourseError: one is empty.
        """
        for slide in self.slides:
            slide.sheets = [sheet for sheet in slide.sheets if sheet.items or not sheet.again]
        for number, slide in enumerate(self.slides[1:], 2):
            if not any(sheet.items or sheet.heading for sheet in slide.sheets):
                raise CourseError(
                    f"{self._place(number)} has nothing to show.",
                    "Remove its mark, or give it a heading, an equation, a figure or a sentence.",
                )
        return self.slides

    @property
    def sheet(self) -> Sheet:
        """Return the sheet that is being filled."""
        return self.slides[-1].sheets[-1]

    def _place(self, number: int | None = None) -> str:
        """Say where we are, for messages."""
        number = number or max(1, len(self.slides))
        heading = self.slides[number - 1].sheets[0].heading if self.slides else None
        name = f" ({wording.plain(heading)})" if heading else ""
        return f"{self.page.source}, slide {number}{name}"

    def _begin(self, block: _Block) -> None:
        """Begin a slide, or a sheet of the present one."""
        if block.kind == "slide" or not self.slides:
            self.slides.append(Slide([Sheet()]))
        elif self.sheet.items or len(self.slides) == 1:
            self._continue()

    def _continue(self) -> None:
        """Go on on another sheet, and take along what leads to what comes next."""
        before = self.sheet
        taken: list[Item] = []
        while len(before.items) > 1 and before.items[-1].leads:
            taken.insert(0, before.items.pop())
        sheet = Sheet(before.heading, again=before.heading is not None)
        self.slides[-1].sheets.append(sheet)
        for item in taken:
            self._place_item(item)

    def _add(self, node: Node, prose: str, fragment: int | None, leads: bool) -> None:
        title = len(self.slides) == 1 and len(self.slides[0].sheets) == 1
        if node["type"] == "heading":
            if self.sheet.items or self.sheet.heading or title:
                self.slides[-1].sheets.append(Sheet())
            self.sheet.heading = node
            return
        for item in _items(node, "none" if title else prose, fragment, leads):
            if item.role == "aside":  # for the speaker alone
                if wording.plain(node) != self.page.description:
                    self.sheet.notes.append(item.node)
                continue
            if title or not self._fits(item):
                self._continue()
                title = False
            self._place_item(item)

    def _fits(self, item: Item) -> bool:
        if not self.sheet.items:
            return True
        answers = item.node["type"] == "details"  # stays with its question
        room = sizes.ROOM + (60 if answers else 0)
        return self.sheet.words + item.words <= WORDS and self.sheet.height + item.height <= room

    def _place_item(self, item: Item) -> None:
        self.sheet.items.append(item)
        if item.whole is not None:
            self.sheet.notes.append(item.whole)


def _items(node: Node, prose: str, fragment: int | None, leads: bool) -> Iterable[Item]:
    """Turn one node into what a slide shows of it; ``leads``: an equation follows."""
    kind = node["type"]
    if kind == "paragraph":
        return [_prose(node, prose, fragment, leads)]
    if kind == "list":
        return list(_list_items(node, prose, fragment))
    if kind == "aside":
        return [Item(node, "aside")]
    if kind == "admonition" and wording.count([node]) > WORDS:
        short = node | {"children": [_shortened(child) for child in node["children"]]}
        return [_exhibit(short, fragment, whole=node)]
    return [_exhibit(node, fragment)]


def _prose(node: Node, prose: str, fragment: int | None, leads: bool) -> Item:
    if prose == "none":
        return Item(node, "aside")
    shown = node if prose == "whole" else wording.lead(node, leads=leads)
    text = wording.plain(shown)
    leads = leads or wording.announces(shown) or wording.asks(shown)
    whole = None if shown is node else node
    return Item(
        shown,
        "prose",
        words=wording.count([shown]),
        height=sizes.text_height(text),
        leads=leads,
        fragment=fragment,
        whole=whole,
    )


def _list_items(node: Node, prose: str, fragment: int | None) -> Iterator[Item]:
    """Yield a list's items, each as a list of its own, so that a long list can be continued."""
    for number, child in enumerate(node.get("children", []), node.get("start") or 1):
        own = node | {"start": number}
        if prose == "none":
            yield Item(own | {"children": [child]}, "aside")
            continue
        parts = _parts(child)
        shown = parts if prose == "whole" else [_first_sentence(part) for part in parts]
        less = any(left is not right for left, right in zip(shown, parts, strict=True))
        short = child | {"children": shown}
        yield Item(
            own | {"children": [short]},
            "prose",
            words=wording.count([short]),
            height=sizes.height(short),
            fragment=fragment,
            whole=own | {"children": [child]} if less else None,
        )


def _parts(child: Node) -> list[Node]:
    """Return a list item's paragraphs and lists; bare text is its only paragraph."""
    parts: list[Node] = child.get("children", [])
    if any(part["type"] in ("paragraph", "list", "code", "math", "image") for part in parts):
        return parts
    return [{"type": "paragraph", "children": parts}]


def _first_sentence(part: Node) -> Node:
    return wording.lead(part, limit=0) if part["type"] == "paragraph" else part


def _shortened(node: Node) -> Node:
    return wording.lead(node) if node["type"] == "paragraph" else node


def _exhibit(node: Node, fragment: int | None, whole: Node | None = None) -> Item:
    counts = node["type"] in ("admonition", "blockquote", "exercise", "proof", "div")
    return Item(
        node,
        "exhibit",
        words=wording.count([node]) if counts else 0,
        height=sizes.height(node),
        fragment=fragment,
        whole=whole,
    )


def sheets_of(slides: Sequence[Slide]) -> list[Sheet]:
    """Return all sheets in the order of their showing."""
    return [sheet for slide in slides for sheet in slide.sheets]
