"""The book's title page, and the same as the picture that a reader's shelf shows."""

import base64
import shutil
from html import escape
from pathlib import Path

from coursekit import citation, course
from coursekit.book.paper.take import LOADED, PURPOSE, Leaf
from coursekit.book.slides import browser
from coursekit.repository import Repository

_SIZE = (600, 800)  # pixels, at twice the resolution
_STYLE = Path(__file__).with_name("paper.css")
_SHEETS = ("katex/katex.css", "code-*.css", "book-*.css")
_EMBLEM = "theme/emblem.svg"


def cover(first: Leaf, repository: Repository | None) -> str:
    """Return the title page of a book: HTML for the style sheets of the site and of paper.

    Args:
        first: the page that introduces the book.
    """
    cited = citation.read()
    dated = escape(f"Version {cited['version']}, {cited['date-released']}")
    authors = escape(", ".join(citation.authors()))
    url = escape(repository.url) if repository else ""
    source = f'<p><a href="{url}">{url}</a></p>' if url else ""
    return (
        f'<header class="title" data-name="{escape(first.title)}">'
        f"{course.read_text(course.root() / _EMBLEM)}<h1>{escape(first.title)}</h1>"
        f'<p class="lede">{escape(first.description)}</p><p>{authors}</p>'
        f"<p>{dated}</p>{source}"
        "<p>Text, figures and exercises: CC BY 4.0. Code: MIT.</p></header>"
    )


def sheets(folder: Path) -> str:
    """Return the links to the style sheets of the site, in its order, and of paper.

    Args:
        folder: with ``assets``, which get the latter.
    """
    assets = folder / "assets"
    paper = shutil.copy(_STYLE, assets / _STYLE.name)
    found = [it for name in _SHEETS for it in sorted(assets.glob(name))] + [Path(paper)]
    return "".join(
        f'<link rel="stylesheet" href="{it.relative_to(folder).as_posix()}">' for it in found
    )


def photograph(first: Leaf, folder: Path) -> bytes:
    """Return the title page as a picture (PNG).

    Args:
        folder: where the page is written, beside ``assets``.

    Raises:
        CourseError: there is no browser, or it fails.
    """
    page = folder / "cover.html"
    page.write_text(
        "<!doctype html><html lang=en data-theme=light><head><meta charset=utf-8>"
        f"{sheets(folder)}</head><body class='paper shelf'>{cover(first, None)}</body></html>",
        encoding="utf-8",
    )
    path = browser.require_browser(PURPOSE)
    url = page.absolute().as_uri()
    failed = f"made no picture of {page}"
    with browser.opened(path, url, failed, browser.REMEDY, LOADED) as talk:
        width, height = _SIZE
        talk("Emulation.setDeviceMetricsOverride", width=width, height=height,
             deviceScaleFactor=2, mobile=False)  # fmt: skip
        talk.evaluate(LOADED)
        return base64.b64decode(talk("Page.captureScreenshot", format="png")["data"])
