"""The book as a folder of files: it needs no server, no network, and may be anywhere.

Every link inside is relative, so that the same files work from a disk and under any path.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from xml.sax.saxutils import escape as xml_escape

from coursekit import course
from coursekit.book.content import Content
from coursekit.book.published import Published
from coursekit.book.site import links, pages
from coursekit.book.site.assets import DOWNLOADS, Assets
from coursekit.book.site.pages import Neighbor, View
from coursekit.book.site.previews import previews_script
from coursekit.book.site.search import index_script
from lmcourse.errors import CourseError

if TYPE_CHECKING:
    from jinja2 import Environment

THEME = "theme"
_WITHOUT_SOURCE = (
    "Pages have no links to their sources, to Colab or Binder: these need to know the repository "
    "(REPOSITORY=https://github.com/OWNER/NAME, or [tool.lmcourse] in pyproject.toml)."
)
SOCIAL_ALT = (
    "A recurrent network unrolled over five steps; the gradient runs back through all of them."
)


@dataclass(frozen=True)
class Part:
    """A part of the book in the table of contents."""

    title: str | None
    entries: list[Neighbor]


@dataclass(frozen=True)
class Frame:
    """What is the same on every page."""

    title: str
    base_url: str | None
    links: dict[str, str]
    wheel: str  # the package as a file, if it is offered
    parts: list[Part]
    sheets: list[str]
    script: str
    search: str
    index: str  # what is searched
    previews: str  # what references show
    favicon: str
    social: str
    emblem: str  # SVG
    social_alt: str = SOCIAL_ALT


def write_site(
    content: Content,
    folder: Path,
    *,
    published: Published | None = None,
    slides: Mapping[str, Path] | None = None,
    known: dict[str, View] | None = None,
) -> list[str]:
    """Write the book into a folder: an empty one, or that of its last build.

    Args:
        content: what mystmd made of the sources.
        folder: where to write; it is there, and empty without ``known`` pages.
        published: where the book will be served and where its sources are, and the package to
            offer. What needs an address that is not known is left out.
        slides: a file with a page's slides, by the page's slug; it is copied into the site.
        known: pages that are in the folder already, by their slugs; the others are added.

    Returns:
        What was left out, and why; a sentence each.

    Raises:
        CourseError: a page cannot be shown whole, or a link inside the book leads nowhere.
    """
    known = {} if known is None else known
    if not known and any(folder.iterdir()):
        raise CourseError(f"The folder {folder} is not empty.", "Pass an empty folder.")
    published = published or Published()
    theme, assets, base_url = course.root() / THEME, Assets(folder), published.base_url
    for page in content.pages:
        if page.slug not in known:
            deck = (slides or {}).get(page.slug)
            known[page.slug] = pages.view(page, content, assets, published=published, slides=deck)
    views = [known[page.slug] for page in content.pages]
    _refuse(content, views)
    scripts = {
        "search-index.js": index_script(content, pages.site_link),
        "previews.js": previews_script(
            content,
            [url for view in views for url in view.references],
            pages.renderer_of(content, assets),
            {pages.href(page.slug): page.slug for page in content.pages},
        ),
    }
    for name, script in scripts.items():
        (folder / name).write_text(script, encoding="utf-8")
    addresses = {name: f"{name}?{_version(script)}" for name, script in scripts.items()}
    frame = _frame(content, theme, assets, published, addresses)
    _write_pages(views, frame, folder, theme, base_url)
    if any(view.maths for view in views):
        assets.copy_folder(theme / "public" / "katex")
    notes = _write_for_machines(views, folder, base_url)
    if published.repository is None:
        notes.append(_WITHOUT_SOURCE)
    _refuse_broken(folder, base_url)
    return notes


def _refuse(content: Content, views: list[View]) -> None:
    """Raise what the pages cannot show, all of it at once."""
    problems = [
        f"{page.source}, {problem}"
        for page, view in zip(content.pages, views, strict=True)
        for problem in view.problems
    ]
    if problems:
        raise CourseError(
            "The book cannot show everything:\n" + "\n".join(f"- {each}" for each in problems),
            "Fix these in the sources, then build again.",
        )


def _refuse_broken(folder: Path, base_url: str | None) -> None:
    found = links.check(folder, _root(base_url) or "/")
    if found:
        raise CourseError(
            "Links within the book are broken:\n" + "\n".join(f"- {each}" for each in found),
            "Fix the links in the sources, or the names of their targets, then build again.",
        )


def _version(script: str) -> str:
    return hashlib.sha256(script.encode()).hexdigest()[:12]


def _frame(
    content: Content,
    theme: Path,
    assets: Assets,
    published: Published,
    scripts: Mapping[str, str],
) -> Frame:
    public, repository = theme / "public", published.repository
    parts: list[Part] = []
    for page in content.pages[1:]:
        if not parts or parts[-1].title != page.part:
            parts.append(Part(page.part, []))
        parts[-1].entries.append(pages.neighbor(page))
    return Frame(
        title=content.title,
        base_url=published.base_url,
        links=content.links | ({"Source": repository.url} if repository else {}),
        wheel=assets.add_to(DOWNLOADS, published.wheel) if published.wheel else "",
        parts=parts,
        sheets=[assets.add_named(public / name) for name in ("code.css", "book.css")],
        script=assets.add_named(public / "book.js"),
        search=assets.add_named(public / "search.js"),
        index=scripts["search-index.js"],
        previews=scripts["previews.js"],
        favicon=assets.add_named(public / "favicon.svg"),
        social=assets.add_named(public / "social.png") if published.base_url else "",
        emblem=(theme / "emblem.svg").read_text(encoding="utf-8"),
    )


def _write_pages(
    views: list[View], frame: Frame, folder: Path, theme: Path, base_url: str | None
) -> None:
    templates = _environment(theme)
    for view in views:
        kind = "landing" if view.slug == "index" else "page"
        html = templates.get_template(f"{kind}.html").render(
            page=view, site=frame, root="", kind=kind
        )
        (folder / pages.href(view.slug)).write_text(html, encoding="utf-8")
    missing = View("404", "There is no such page", "This page is not part of the book.")
    html = templates.get_template("not-found.html").render(
        page=missing, site=frame, root=_root(base_url), kind="page"
    )
    (folder / "404.html").write_text(html, encoding="utf-8")


def _environment(theme: Path) -> "Environment":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(theme),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _root(base_url: str | None) -> str:
    """Return the path under which the book is served: a 404 page appears at any depth.

    Without an address it is not known; then that page looks for it when it is opened.
    """
    return urlsplit(base_url).path.rstrip("/") + "/" if base_url else ""


def _write_for_machines(views: list[View], folder: Path, base_url: str | None) -> list[str]:
    """Write what search engines and hosts read; return what was left out, and why."""
    (folder / ".nojekyll").write_text("", encoding="utf-8")
    robots = "User-agent: *\nAllow: /\n"
    if not base_url:
        (folder / "robots.txt").write_text(robots, encoding="utf-8")
        return [
            "There is no sitemap.xml, no canonical address and no preview image: these need to "
            "know where the book will be served (BASE_URL=https://…)."
        ]
    robots += f"\nSitemap: {base_url}/sitemap.xml\n"
    (folder / "robots.txt").write_text(robots, encoding="utf-8")
    urls = "".join(f"<url><loc>{xml_escape(view.url or '')}</loc></url>\n" for view in views)
    (folder / "sitemap.xml").write_text(
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{urls}</urlset>\n',
        encoding="utf-8",
    )
    return []
