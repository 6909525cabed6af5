"""The book as one PDF: all pages in one document, printed by a browser."""

import base64
import json
from collections.abc import Sequence
from html import escape
from pathlib import Path

from coursekit import citation
from coursekit.book.paper import pdf
from coursekit.book.paper.cover import cover, sheets
from coursekit.book.paper.epub import name_of
from coursekit.book.paper.take import PURPOSE, Leaf
from coursekit.book.slides import browser
from coursekit.notebooks import files
from coursekit.repository import Repository

_WITHIN = 900.0  # seconds: 600 pages take twenty on an idle machine
_READY = """new Promise(async (done) => {
  while (document.readyState !== "complete") await new Promise((it) => setTimeout(it, 20));
  await document.fonts.ready;
  await Promise.all([...document.images].map((it) => it.decode().catch(() => {})));
  done(true);
})"""
_HEADINGS = """[...document.querySelectorAll("h1, h2, h3, h4, h5, h6")].map((it) =>
  it.matches("h1") && it.closest("[data-name]")?.dataset.name ||
  it.textContent.replace(/\\s+/g, " ").trim())"""
_NUMBERED = """((pages) => {
  for (const it of document.querySelectorAll("[data-page]")) {
    const number = pages[it.dataset.page];
    if (number) it.textContent = (it.dataset.before ?? "") + number;
  }
})"""


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
    path = browser.require_browser(PURPOSE)
    page = folder / "book.html"
    page.write_text(_document(leaves, sheets(folder), title, repository), encoding="utf-8")
    url = page.absolute().as_uri()
    failed = f"did not print {page}"
    with browser.opened(path, url, failed, browser.REMEDY, _READY, _WITHIN) as talk:
        numbers = pdf.numbers(_printed(talk))  # the contents name pages: print them, then again
        talk.evaluate(f"{_NUMBERED}({json.dumps(numbers)})")
        titles = talk.evaluate(_HEADINGS)
        about = {"Author": ", ".join(citation.authors()), "Subject": leaves[0].description or title}
        data = pdf.with_titles(_printed(talk), titles, about)
    files.write(file, data)


def _printed(talk: browser.Talk) -> bytes:
    printed = talk(
        "Page.printToPDF",
        preferCSSPageSize=True,
        printBackground=True,
        generateTaggedPDF=True,
        generateDocumentOutline=True,
        transferMode="ReturnAsStream",
    )
    return b"".join(_stream(talk, printed["stream"]))


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
    links: str,
    title: str,
    repository: Repository | None,
) -> str:
    lines, part = ["<nav class=toc data-name=Contents><h1>Contents</h1>"], None
    for leaf in leaves:
        if leaf.part != part and leaf.part:
            lines.append(f"<p class=part>{escape(leaf.part)}</p>")
        part = leaf.part
        number = f'<span class=at data-page="{leaf.slug}"></span>'
        lines.append(f'<p><a href="#{leaf.slug}">{escape(name_of(leaf))}{number}</a></p>')
    articles = "\n".join(
        leaf.paper.replace("<article ", f'<article data-name="{escape(name_of(leaf))}" ', 1)
        for leaf in leaves
    )
    return (
        f"<!doctype html><html lang=en data-theme=light><head><meta charset=utf-8>"
        f"<title>{escape(title)}</title>{links}<style>{_running_heads(leaves)}</style></head>"
        f"<body class=paper>{cover(leaves[0], repository)}"
        f"{''.join(lines)}</nav><main>{articles}</main></body></html>"
    )


def _running_heads(leaves: Sequence[Leaf]) -> str:
    """Name each article's page, and write its title at the top."""
    look = "font: 8.5pt system-ui, sans-serif; color: #57606a"
    return "\n".join(
        f"#{leaf.slug} {{ page: p-{leaf.slug} }} @page p-{leaf.slug} {{ @top-left {{ "
        f"content: {_css(name_of(leaf))}; width: 100%; text-align: left; {look} }} }}"
        for leaf in leaves
    )


def _css(words: str) -> str:
    """Return a string of CSS, also within HTML."""
    plain = (it if it.isalnum() or it == " " else f"\\{ord(it):06x} " for it in words)
    return f'"{"".join(plain)}"'
