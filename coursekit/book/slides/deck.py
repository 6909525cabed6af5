"""A chapter's slides as one HTML file that needs nothing else: reveal.js, equations, widgets."""

import html
import re
import webbrowser
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from coursekit import course
from coursekit.book.content import Content, Page
from coursekit.book.render.nodes import Renderer
from coursekit.book.slides import sizes, speaker
from coursekit.book.slides.assets import data_uri, equation_style
from coursekit.book.slides.layout import Item, Sheet, Slide, sheets_of, slides_of
from coursekit.book.slides.nodes import unbroken
from coursekit.notebooks import files
from lmcourse.errors import CourseError

ELSEWHERE = "Choose another file, in a folder that you can write to, with `--output`."
_LAZY = ' loading="lazy" decoding="async"'  # a slide that is not shown would never load its figure
_LARGE = 1.2  # how much larger the text is where there is room


def write_deck(page: Page, content: Content, file: Path, *, base_url: str | None = None) -> None:
    """Write a page's slides to one file: whole, or not at all.

    Args:
        page: a page of the book.
        content: the book.
        file: the file to write; its folder is made if need be.
        base_url: where the book is on the web, if it does: links to its other pages lead there.

    Raises:
        CourseError: the page has no slides, one is empty or cannot be shown, or the file cannot be
            written.
    """
    text = deck_html(page, content, base_url=base_url)
    try:
        files.write(file, text.encode("utf-8"))
    except CourseError as error:
        raise CourseError(error.cause, ELSEWHERE) from error


def deck_html(page: Page, content: Content, *, base_url: str | None = None) -> str:
    """Return a page's slides as HTML that needs no other file and no network.

    Raises:
        CourseError: the page has no slides, or one is empty or cannot be shown.
    """
    from jinja2 import Environment, FileSystemLoader
    from markupsafe import Markup

    laid_out = slides_of(page)
    shown = _Deck(page, content, base_url).html(laid_out)
    theme = course.root() / "theme"
    folder = theme / "slides"
    equations = equation_style(theme / "public" / "katex" / "katex.css", shown)
    own = [_read(folder / name) for name in ("reveal.css", "deck.css")]
    environment = Environment(
        loader=FileSystemLoader(folder), autoescape=True, keep_trailing_newline=True
    )
    label = f"{page.label}: " if page.label else ""
    return environment.get_template("deck.html").render(
        title=f"{label}{page.title}",
        description=page.description,
        styles=Markup("\n".join([own[0], equations, own[1]])),
        slides=Markup(shown),
        script=Markup(_read(folder / "deck.js")),
    )


def present(file: Path) -> bool:
    """Open a deck in the default browser; return whether there is one."""
    return webbrowser.open(file.absolute().as_uri())


class _Deck:
    """Writes the slides of one page."""

    def __init__(self, page: Page, content: Content, base_url: str | None) -> None:
        self.page, self.content = page, content
        self.base_url = base_url
        self.anchors: set[str] = set()
        self.footnotes = speaker.footnotes_of(page.tree)

    def html(self, slides: Sequence[Slide]) -> str:
        """Return the sections.

        Raises:
            CourseError: with every node that cannot be shown.
        """
        self.anchors = set(_anchors(slides))
        number, problems, out = 0, [], []
        for slide in slides:
            sections = []
            for sheet in slide.sheets:
                number += 1
                renderer = self._renderer(self._link)
                sections.append(self._section(sheet, renderer, title=number == 1))
                problems += [f"- slide {number}: {each}" for each in renderer.problems]
            joined = "\n".join(sections)
            out.append(f"<section>\n{joined}\n</section>" if len(sections) > 1 else joined)
        if problems:
            raise CourseError(
                f"The slides of {self.page.source} cannot be made:\n" + "\n".join(problems),
                "Fix these in the source, or leave them out with the mark `skip`.",
            )
        return "\n".join(out)

    def _renderer(self, link: Callable[[str], str]) -> Renderer:
        return Renderer(
            public=self.content.public,
            asset=data_uri,
            link=link,
            cite=lambda key: "",  # the work is named in the speaker's notes
            permalinks=False,
        )

    def _section(self, sheet: Sheet, renderer: Renderer, title: bool) -> str:
        heading = sheet.heading
        anchor = "" if heading is None or sheet.again else heading.get("html_id", "")
        opening = f'<section id="{html.escape(anchor)}">' if anchor else "<section>"
        if title:
            inner = f'<div class="sheet title"><div class="body">{self._title()}</div></div>'
        else:
            content = _heading(sheet, renderer) + _body(sheet, renderer)
            inner = f'<div class="{_names(sheet)}">{content}</div>'
        return f"{opening}{inner.replace(_LAZY, '')}{self._notes(sheet, renderer)}</section>"

    def _title(self) -> str:
        """Return the first slide: the page's title, its question, and what course this is."""
        parts = [
            ("p", "label", self.page.label or ""),
            ("h1", "", self.page.title),
            ("p", "question", self.page.description),
            ("p", "course", self.content.title),
        ]
        return "".join(
            f'<{tag} class="{name}">{html.escape(text)}</{tag}>'.replace(' class=""', "")
            for tag, name, text in parts
            if text
        )

    def _notes(self, sheet: Sheet, renderer: Renderer) -> str:
        """Return the speaker's notes: whole paragraphs, and the works that the slide cites."""
        quiet = self._renderer(lambda url: "")
        called = speaker.references_in([item.node for item in sheet.items] + sheet.notes)
        footnotes = [self.footnotes[name] for name in called if name in self.footnotes]
        text = quiet.render(speaker.for_the_speaker(sheet.notes, footnotes))
        cited = dict.fromkeys([*renderer.citations, *quiet.citations])
        text += speaker.works([self.page.bibliography.get(key, "") for key in cited])
        renderer.problems += quiet.problems
        return f'<aside class="notes">{text.replace(_LAZY, "")}</aside>' if text else ""

    def _link(self, url: str) -> str:
        """Return where a link leads from the deck; words alone where it would lead nowhere."""
        if re.match(r"(https?:|mailto:)", url):
            return url
        path, _, anchor = url.partition("#")
        if path in ("", f"/{self.page.slug}"):
            if anchor in self.anchors:
                return f"#/{anchor}"
            path = f"/{self.page.slug}"
        if self.base_url is None:
            return ""
        page = f"{path.strip('/') or 'index'}.html"
        return f"{self.base_url.rstrip('/')}/{page}" + (f"#{anchor}" if anchor else "")


def _anchors(slides: Sequence[Slide]) -> Iterator[str]:
    """Yield the names to which a link within the deck may lead."""
    for sheet in sheets_of(slides):
        heading = [sheet.heading] if sheet.heading else []
        for shown in [*heading, *(item.node for item in sheet.items)]:
            yield from (node["html_id"] for node in speaker.every(shown) if node.get("html_id"))


def _heading(sheet: Sheet, renderer: Renderer) -> str:
    """Return a sheet's heading, small where it only repeats the one before."""
    if sheet.heading is None:
        return ""
    again = ' class="again"' if sheet.again else ""
    return f"<h2{again}>{renderer.children(sheet.heading)}</h2>"


def _body(sheet: Sheet, renderer: Renderer) -> str:
    items = "".join(_item(group, renderer) for group in _groups(sheet.items))
    size = _code_size(sheet)
    style = f' style="--code:{size}px"' if size else ""
    return f'<div class="body"{style}>{items}</div>'


def _names(sheet: Sheet) -> str:
    """Return the classes of a sheet: one that holds little shows it large."""
    little = sheet.height * _LARGE**2 < sizes.ROOM
    figure = any(item.height >= sizes.FIGURE for item in sheet.items)
    return "sheet large" if little and not figure else "sheet"


def _code_size(sheet: Sheet) -> float | None:
    """Return how large the code on a sheet can be, beside the rest."""
    codes = [item.node["value"] for item in sheet.items if item.node["type"] == "code"]
    rest = sum(item.height for item in sheet.items if item.node["type"] != "code")
    room = (sizes.ROOM - rest) / max(1, len(codes))
    return min((sizes.code_size(code, room) for code in codes), default=None)


def _groups(items: Sequence[Item]) -> list[list[Item]]:
    """Join a list's items that are together on a sheet."""
    groups: list[list[Item]] = []
    for item in items:
        last = groups[-1][-1] if groups else None
        same = (
            last is not None
            and item.node["type"] == last.node["type"] == "list"
            and item.node.get("key") == last.node.get("key")
            and item.fragment == last.fragment
        )
        if same:
            groups[-1].append(item)
        else:
            groups.append([item])
    return groups


def _item(group: Sequence[Item], renderer: Renderer) -> str:
    first = group[0]
    node = first.node
    if len(group) > 1:
        node = node | {"children": [item.node["children"][0] for item in group]}
    shown = renderer.render([unbroken(speaker.without_footnotes(node))])
    names, extra = [], ""
    if "<img" in shown and node["type"] in ("outputs", "image", "container"):
        names.append("figure")
    if "<script" in shown:
        names.append("live")
        extra += " data-prevent-swipe"
    if first.fragment is not None:
        names.append("fragment")
        extra += f' data-fragment-index="{first.fragment}"'
    return f'<div class="{" ".join(["item", *names])}"{extra}>{shown}</div>'


def _read(path: Path) -> str:
    return course.read_text(path)
