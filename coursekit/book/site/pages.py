"""One page: its text, and its navigation."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from coursekit import course
from coursekit.book.content import Content, Node, Page
from coursekit.book.published import Published
from coursekit.book.render.inline import plain
from coursekit.book.render.markup import escape, is_outside, sanitize
from coursekit.book.render.nodes import Renderer
from coursekit.book.site.assets import Assets
from coursekit.book.site.terms import entries
from coursekit.notebooks.glossary import PAGE as GLOSSARY
from coursekit.repository import Repository

_LAPTOP = "laptop"  # the anchor on the first page that the second button leads to


@dataclass(frozen=True)
class Neighbor:
    """A page that another leads to."""

    slug: str
    title: str
    href: str
    label: str | None = None


@dataclass(frozen=True)
class Heading:
    """An entry of "On this page"."""

    depth: int
    anchor: str
    html: str


@dataclass(frozen=True)
class Work:
    """A cited work, and where it is cited."""

    key: str
    html: str
    anchors: tuple[str, ...]


@dataclass(frozen=True)
class View:
    """What a template needs to know of a page; every text is HTML where its name says so."""

    slug: str
    title: str
    description: str
    label: str | None = None
    url: str | None = None  # the absolute address, if there is one
    opening: str = ""  # of a widget's page: what comes before its links, up to the widget itself
    body: str = ""
    footnotes: str = ""
    headings: tuple[Heading, ...] = ()
    works: tuple[Work, ...] = ()
    downloads: tuple[dict[str, str], ...] = ()
    runs: Mapping[str, str] = field(default_factory=dict)  # services that open it, with its URLs
    about: Mapping[str, str] = field(default_factory=dict)  # its source, an editor, a report
    slides: str | None = None
    previous: Neighbor | None = None
    next: Neighbor | None = None
    maths: bool = False
    laptop: str | None = None
    companions: tuple[Neighbor, ...] = ()  # a chapter's lab, a lab's chapter, a widget's chapters
    references: tuple[str, ...] = ()  # the URLs to which its references lead
    problems: tuple[str, ...] = field(default=(), compare=False)


def href(slug: str) -> str:
    """Return a page's file."""
    return f"{slug}.html"


def site_link(url: str) -> str:
    """Turn mystmd's URL of a page into a relative one, and leave any other as it is."""
    if is_outside(url) or url.startswith("#") or not url.startswith("/"):
        return url
    path, hash_, anchor = url.partition("#")
    return href(path.strip("/") or "index") + hash_ + anchor


def view(
    page: Page,
    content: Content,
    assets: Assets,
    *,
    published: Published,
    slides: Path | None = None,
) -> View:
    """Render one page of the book."""
    renderer = renderer_of(content, assets)
    footnotes: list[Node] = []
    tree = _without_footnotes(_without_lede(page), footnotes)
    opening, body = (renderer.render(part) for part in _parts(page, tree))
    notes = renderer.render(footnotes)
    position = content.pages.index(page)
    written = opening + body + notes
    downloads = [
        {"href": assets.offer(each), "filename": each.filename, "label": each.label}
        for each in page.downloads
        if page.slug != "index"
    ]
    return View(
        slug=page.slug,
        title=page.title,
        description=page.description,
        label=None if page.title.startswith(page.label or " ") else page.label,
        url=_absolute(page.slug, published.base_url),
        opening=opening,
        body=body,
        footnotes=notes,
        headings=tuple(_headings(tree)),
        works=tuple(
            Work(key, sanitize(page.bibliography[key]), tuple(renderer.citations[key]))
            for key in page.bibliography
            if key in renderer.citations
        ),
        downloads=tuple(downloads),
        **_sources(page, downloads, published.repository),
        slides=assets.add_to("slides", slides) if slides else None,
        previous=neighbor(content.pages[position - 1]) if position else None,
        next=neighbor(content.pages[position + 1]) if position + 1 < len(content.pages) else None,
        maths='class="katex' in written,
        laptop=_LAPTOP if f'id="{_LAPTOP}"' in body else None,
        companions=tuple(neighbor(each) for each in content.pages if _belongs(each, page)),
        references=tuple(dict.fromkeys(renderer.references)),
        problems=tuple(renderer.problems),
    )


def _sources(
    page: Page, downloads: Sequence[Mapping[str, str]], repository: Repository | None
) -> dict[str, Mapping[str, str]]:
    """Return a page's links to the services that run it, and to its source."""
    if repository is None or page.slug == GLOSSARY:
        return {}
    notebooks = [each["href"] for each in downloads if each["filename"].endswith(".ipynb")]
    workbook = Path(page.source).with_suffix(".ipynb").as_posix()
    return {
        "runs": repository.runs(notebooks[0], workbook) if notebooks else {},
        "about": repository.about(page.source, page.title),
    }


def renderer_of(content: Content, assets: Assets) -> Renderer:
    """Return what renders the pages of a book."""
    return Renderer(
        public=content.public,
        asset=assets.add,
        link=site_link,
        night=True,
        definitions={each.anchor: each.meaning for each in entries(content)},
    )


def _belongs(other: Page, page: Page) -> bool:
    """Say whether another page belongs to one: its lab, its chapter, or a chapter that names it.

    The chapters that name a page belong to it if it has no number: to a widget's.
    """
    kind, _, number = (page.label or "").partition(" ")
    if not kind:
        chapter = (other.label or "").startswith("Chapter")
        return chapter and page.slug != GLOSSARY and _names(other.tree, f"/{page.slug}")
    return other.label == {"Chapter": f"Lab {number}", "Lab": f"Chapter {number}"}.get(kind)


def _names(node: Node, url: str) -> bool:
    if node["type"] == "link" and node.get("url") == url:
        return True
    return any(_names(child, url) for child in node.get("children", []))


def neighbor(page: Page) -> Neighbor:
    """Return what a link to a page shows."""
    label = page.label if page.label and not page.title.startswith(page.label) else None
    return Neighbor(page.slug, page.title, href(page.slug), label)


def _absolute(slug: str, base_url: str | None) -> str | None:
    if not base_url:
        return None
    return f"{base_url}/" if slug == "index" else f"{base_url}/{href(slug)}"


def _without_lede(page: Page) -> Node:
    """Drop the first paragraph where it says what the page's head says: the chapter's question."""
    tree = {**page.tree, "children": list(page.tree.get("children", []))}
    blocks = tree["children"]
    for index, block in enumerate(blocks):
        inside = block.get("children", [])
        if not inside:
            continue
        if inside[0]["type"] == "paragraph" and _words(plain(inside[0])) == _words(
            page.description
        ):
            blocks[index] = {**block, "children": inside[1:]}
        break
    return tree


def _parts(page: Page, tree: Node) -> tuple[list[Node], list[Node]]:
    """Divide a widget's page after the widget, which precedes its code; other pages are whole."""
    blocks = tree.get("children", [])
    cells = [at for at, block in enumerate(blocks) if block.get("kind") == "notebook-code"]
    if not cells or not page.source.startswith(f"{course.FOLDERS['widget']}/"):
        return [], [tree]
    cell = blocks[cells[0]]
    # Sorting keeps the order of the rest; the reader's Tab key follows it.
    shown = sorted(cell["children"], key=lambda it: it["type"] == "code")
    first = {**cell, "children": shown}
    return [*blocks[: cells[0]], first], blocks[cells[0] + 1 :]


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


def _without_footnotes(node: Node, found: list[Node]) -> Node:
    """Return the tree without its footnotes, which are added to ``found``."""
    if "children" not in node:
        return node
    children = []
    for child in node["children"]:
        if child["type"] == "footnoteDefinition":
            found.append(child)
        else:
            children.append(_without_footnotes(child, found))
    return {**node, "children": children}


def _headings(node: Node) -> Iterator[Heading]:
    """Yield the headings of "On this page": those in a box are no parts of the page."""
    for child in node.get("children", []):
        if child["type"] == "heading" and child["depth"] <= 3 and child.get("html_id"):
            yield Heading(child["depth"], child["html_id"], _label(child))
        elif child["type"] in ("block", "div"):
            yield from _headings(child)


def _label(node: Node) -> str:
    """Return a heading's words and maths, without links, which may not be nested in a link."""
    if node["type"] == "inlineMath":
        return str(node.get("html", ""))
    if node["type"] == "inlineCode":
        return f"<code>{escape(node['value'])}</code>"
    if "children" in node:
        return "".join(_label(child) for child in node["children"])
    return escape(str(node.get("value", "")))
