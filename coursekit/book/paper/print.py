"""The book as one PDF: all pages in one document, printed by a browser."""

import base64
import shutil
from collections.abc import Sequence
from html import escape
from pathlib import Path

from coursekit import citation
from coursekit.book.paper.epub import name_of
from coursekit.book.paper.take import Leaf
from coursekit.book.slides import browser
from coursekit.notebooks import files
from coursekit.repository import Repository
from lmcourse.errors import CourseError

_STYLE = Path(__file__).with_name("paper.css")
_REMEDY = "Install Chromium, Chrome or Edge; `make doctor` says which are found."
_READY = """new Promise(async (done) => {
  while (document.readyState !== "complete") await new Promise((it) => setTimeout(it, 20));
  await document.fonts.ready;
  await Promise.all([...document.images].map((it) => it.decode().catch(() => {})));
  done(true);
})"""
_FOOT = (
    '<div style="width: 100%; text-align: center; font: 8pt system-ui, sans-serif; color: #57606a">'
    '<span class="pageNumber"></span></div>'
)


def write_pdf(
    leaves: Sequence[Leaf],
    folder: Path,
    file: Path,
    title: str,
    repository: Repository | None,
) -> None:
    """Print a book, with a title page, a table of contents and bookmarks.

    Args:
        leaves: its pages, in reading order.
        folder: with ``assets``: what the pages name, and the style sheets of the site.
        file: where to write.

    Raises:
        CourseError: there is no browser, it fails or takes too long, or the file cannot be written.
    """
    path = browser.find_browser()
    if path is None:
        raise CourseError("There is no browser here that can print the book.", _REMEDY)
    page = folder / "book.html"
    sheets = [*sorted((folder / "assets").glob("*.css")), folder / "assets/katex/katex.css"]
    shutil.copy(_STYLE, folder / "assets" / "z-paper.css")
    names = [it.relative_to(folder).as_posix() for it in sheets] + ["assets/z-paper.css"]
    page.write_text(_document(leaves, names, title, repository), encoding="utf-8")
    url = page.absolute().as_uri()
    with browser.opened(path, url, f"did not print {page}", _REMEDY, _READY) as talk:
        printed = talk(
            "Page.printToPDF",
            preferCSSPageSize=True,
            printBackground=True,
            generateTaggedPDF=True,
            generateDocumentOutline=True,
            displayHeaderFooter=True,
            headerTemplate="<span></span>",
            footerTemplate=_FOOT,
            transferMode="ReturnAsStream",
        )
        data = b"".join(_stream(talk, printed["stream"]))
    files.write(file, data)


def _stream(talk: browser.Talk, handle: str) -> Sequence[bytes]:
    parts = []
    while True:
        part = talk("IO.read", handle=handle, size=4_000_000)
        text = part["data"]
        parts.append(base64.b64decode(text) if part.get("base64Encoded") else text.encode())
        if part["eof"]:
            return parts


def _document(
    leaves: Sequence[Leaf],
    sheets: Sequence[str],
    title: str,
    repository: Repository | None,
) -> str:
    cited = citation.read()
    links = "".join(f'<link rel="stylesheet" href="{name}">' for name in sheets)
    source = f'<p><a href="{repository.url}">{repository.url}</a></p>' if repository else ""
    head = (
        f"<header class=title><h1>{escape(title)}</h1>"
        f"<p>Version {cited['version']}, {cited['date-released']}</p>{source}"
        "<p>Text, figures and exercises: CC BY 4.0. Code: MIT.</p></header>"
    )
    lines, part = ["<nav class=toc><h1>Contents</h1>"], None
    for leaf in leaves:
        if leaf.part != part and leaf.part:
            lines.append(f"<p class=part>{escape(leaf.part)}</p>")
        part = leaf.part
        lines.append(f'<p><a href="#{leaf.slug}">{escape(name_of(leaf))}</a></p>')
    articles = "\n".join(leaf.paper for leaf in leaves)
    return (
        f"<!doctype html><html lang=en data-theme=light><head><meta charset=utf-8>"
        f"<title>{escape(title)}</title>{links}</head><body class=paper>{head}"
        f"{''.join(lines)}</nav><main>{articles}</main></body></html>"
    )
