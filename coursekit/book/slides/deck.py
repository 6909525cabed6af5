"""A chapter's slides as one HTML file that needs nothing else: reveal.js, equations, widgets."""

import html
import re
import webbrowser
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from coursekit import course
from coursekit.book.content import Content, Node, Page
from coursekit.book.render.nodes import Renderer
from coursekit.book.slides import images, sizes, speaker, steps
from coursekit.book.slides.assets import data_uri, equation_style
from coursekit.book.slides.cells import widest
from coursekit.book.slides.layout import Sheet, faults, has_slides, sheets_of
from coursekit.book.slides.nodes import unbroken
from coursekit.notebooks import files
from lmcourse.errors import CourseError

ELSEWHERE = "Choose another file, in a folder that you can write to, with `--output`."
_LAZY = ' loading="lazy" decoding="async"'  # a slide that is not shown would never load its figure


def write_deck(page: Page, content: Content, file: Path, *, base_url: str | None = None) -> None:
    """Write a page's slides to one file: whole, or not at all.

    Args:
        page: a page of the book.
        content: the book.
        file: the file to write; its folder is made if need be.
        base_url: where the book is, if that is known: links to its pages lead there. A path is
            relative to the file.

    Raises:
        CourseError: the page has no slides, one does not fit or cannot be shown, or the file cannot
            be written.
    """
    text = deck_html(page, content, base_url=base_url)
    try:
        files.write(file, text.encode("utf-8"))
    except CourseError as error:
        raise CourseError(error.cause, ELSEWHERE) from error


def decks(content: Content, folder: Path, base_url: str) -> dict[str, Path]:
    """Write the slides of every page that has some; return the files, by the page's slug.

    Args:
        base_url: where the book's pages are, seen from the slides.

    Raises:
        CourseError: with what is wrong with the slides of all pages.
    """
    made, wrong = {}, []
    for page in content.pages:
        if has_slides(page):
            made[page.slug] = folder / f"{Path(page.source).stem}.html"
            try:
                write_deck(page, content, made[page.slug], base_url=base_url)
            except CourseError as error:
                wrong.append(error)
    if wrong:
        remedies = dict.fromkeys(it.remedy for it in wrong)
        raise CourseError("\n".join(it.cause for it in wrong), "\n".join(remedies))
    return made


def deck_html(
    page: Page, content: Content, *, base_url: str | None = None, strict: bool = True
) -> str:
    """Return a page's slides as HTML that needs no other file and no network.

    Args:
        strict: whether a slide that does not fit is an error.

    Raises:
        CourseError: the page has no slides, or one does not fit or cannot be shown.
    """
    from jinja2 import Environment, FileSystemLoader
    from markupsafe import Markup

    sheets = sheets_of(page)
    found = list(faults(sheets, images.image_sizes(content.public))) if strict else []
    if found:
        raise CourseError(
            f"The slides of {page.source} cannot be made:\n"
            + "\n".join(f"- {fault}" for fault in found),
            f"Change the marks in {page.source} (CONTRIBUTING.md says what they mean). "
            f"`python -m coursekit.book.slides {page.source.split('/')[-1][:2]}` shows all slides.",
        )
    shown = _Deck(page, content, base_url).html(sheets)
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
        self.sizes = images.image_sizes(content.public)
        self.anchors: set[str] = set()
        self.footnotes = speaker.footnotes_of(page.tree)
        self.diagrams = 0  # that are built up in steps

    def html(self, sheets: Sequence[Sheet]) -> str:
        """Return the sections.

        Raises:
            CourseError: with every node that cannot be shown.
        """
        self.anchors = set(_anchors(sheets))
        problems: list[str] = []
        columns: list[list[str]] = []
        for number, sheet in enumerate(sheets, 1):
            renderer = self._renderer(self._link)
            section = self._section(sheet, renderer, title=number == 1)
            problems += [f"- slide {number}: {each}" for each in renderer.problems]
            if sheet.below and columns:
                columns[-1].append(section)
            else:
                columns.append([section])
        if problems:
            raise CourseError(
                f"The slides of {self.page.source} cannot be made:\n" + "\n".join(problems),
                "Fix these in the source, or leave them out with the mark `skip`.",
            )
        return "\n".join(
            "<section>\n{}\n</section>".format("\n".join(it)) if len(it) > 1 else it[0]
            for it in columns
        )

    def _renderer(self, link: Callable[[str], str]) -> Renderer:
        return Renderer(
            public=self.content.public,
            asset=data_uri,
            link=link,
            cite=lambda key: "",  # the work is named in the speaker's notes
            permalinks=False,
            night=True,
        )

    def _section(self, sheet: Sheet, renderer: Renderer, title: bool) -> str:
        heading = sheet.heading
        anchor = "" if heading is None or sheet.again else heading.get("html_id", "")
        opening = f'<section id="{html.escape(anchor)}">' if anchor else "<section>"
        if title:
            inner = f'<div class="sheet title"><div class="body">{self._title()}</div></div>'
        else:
            content = _heading(sheet, renderer) + self._body(sheet, renderer)
            inner = f'<div class="sheet">{content}{self._page_link(sheet)}</div>'
        return f"{opening}{inner.replace(_LAZY, '')}{self._notes(sheet, renderer)}</section>"

    def _page_link(self, sheet: Sheet) -> str:
        """Return a link to the section of the page that a sheet is from."""
        if self.base_url is None:
            return ""
        url = self._page(f"/{self.page.slug}", sheet.section)
        label = self.page.label or self.page.title
        return f'<a class="to-page" href="{html.escape(url)}">{html.escape(label)}</a>'

    def _body(self, sheet: Sheet, renderer: Renderer) -> str:
        """Return what a sheet shows, in one column or two, its fragments numbered."""
        found = sheet.arrangement(self.sizes)
        columns: tuple[list[str], list[str]] = [], []
        number = fragments = 0
        for cell in sheet.cells:
            fragment = fragments if cell.fragment else None
            fragments += cell.fragment
            for node in cell.nodes:
                if cell.in_turn and node["type"] == "outputs":
                    fragment, fragments = fragments, fragments + 1
                right = number in found.right
                width = sizes.WIDTH - found.width - 36 if right else found.width
                item, fragments = self._item(node, renderer, fragment, fragments, width)
                columns[right].append(item)
                number += 1
        if not found.left:
            return f'<div class="body">{"".join(columns[0])}</div>'
        share = f"{found.left:.0%}"
        both = "".join(f'<div class="column">{"".join(items)}</div>' for items in columns)
        return f'<div class="body columns" style="--left:{share}">{both}</div>'

    def _item(
        self,
        node: Node,
        renderer: Renderer,
        fragment: int | None,
        fragments: int,
        width: float,
    ) -> tuple[str, int]:
        """Return a node as HTML, and how many fragments the slide has with it."""
        shown = renderer.render([unbroken(speaker.without_footnotes(node))])
        names, extra = ["item"], ""
        if sizes.is_figure(node, self.sizes) and "<img" in shown:
            names.append("figure")
            known = [size for it in node.get("children", []) if (size := images.smallest(it))]
            extra += f' data-smallest="{min(known):g}"' if known else ""
            found = images.diagram(node, self.content.public)
            if found and steps.count(found[0]):
                self.diagrams += 1
                drawn = steps.inline(*found, f"d{self.diagrams}-", fragments)
                shown = re.sub(r"<img [^>]*>", lambda _: drawn, shown, count=1)
                fragments += steps.count(found[0])
        if sizes.is_widget(node):
            names.append("live")
            extra += " data-prevent-swipe"
        if texts := [*sizes.code_of(node), *sizes.printed(node)]:
            names += ["tight"] if widest(texts) > sizes.LOOSE else []
            extra += f' style="--code:{sizes.code_size(texts, width)}px"'
        if fragment is not None:
            names.append("fragment")
            extra += f' data-fragment-index="{fragment}"'
        return f'<div class="{" ".join(names)}"{extra}>{shown}</div>', fragments

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
        called = speaker.references_in(sheet.nodes + sheet.notes)
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
        return "" if self.base_url is None else self._page(path, anchor)

    def _page(self, path: str, anchor: str) -> str:
        """Return the address of a page of the book."""
        page = f"{path.strip('/') or 'index'}.html"
        return f"{(self.base_url or '').rstrip('/')}/{page}" + (f"#{anchor}" if anchor else "")


def _anchors(sheets: Sequence[Sheet]) -> Iterator[str]:
    """Yield the names to which a link within the deck may lead."""
    for sheet in sheets:
        heading = [sheet.heading] if sheet.heading and not sheet.again else []
        for shown in [*heading, *sheet.nodes]:
            yield from (node["html_id"] for node in speaker.every(shown) if node.get("html_id"))


def _heading(sheet: Sheet, renderer: Renderer) -> str:
    """Return a sheet's heading, small where it only repeats the one before."""
    if sheet.heading is None:
        return ""
    again = ' class="again"' if sheet.again else ""
    return f"<h2{again}>{renderer.children(sheet.heading)}</h2>"


def _read(path: Path) -> str:
    return course.read_text(path)
