"""A deck as PDF: printed by a browser, one page a slide."""

import base64
from pathlib import Path

from coursekit.book.slides import browser
from coursekit.book.slides.deck import ELSEWHERE
from coursekit.notebooks import files
from lmcourse.errors import CourseError

PURPOSE = "write the PDF"
MARK = b"\n% lmcourse\n"  # a comment at the end of a PDF: it may be written anew
_REMEDY = (
    "Install Chromium, Chrome or Edge. Or print it yourself: open {deck} in any browser, add "
    "?print-pdf to its address, and print to PDF without margins and with backgrounds."
)


def remedy_for(deck: Path) -> str:
    """Return what to do where no browser prints a deck."""
    return _REMEDY.format(deck=deck)


def write_pdf(deck: Path, pdf: Path) -> None:
    """Print a deck: one page a slide, answers unfolded, fragments shown. Whole, or not at all.

    Raises:
        CourseError: there is no browser, it fails or takes too long, or the file cannot be written.
    """
    remedy = remedy_for(deck)
    path = browser.require_browser(PURPOSE, remedy)
    data = _printed(path, deck, remedy)
    if not data.startswith(b"%PDF"):
        raise CourseError(f"The browser {path} wrote no PDF of {deck}.", remedy)
    try:
        files.write(pdf, data + MARK)
    except CourseError as error:
        raise CourseError(error.cause, ELSEWHERE) from error


def _printed(path: Path, deck: Path, remedy: str) -> bytes:
    url = f"{deck.absolute().as_uri()}?print-pdf"
    with browser.opened(path, url, f"did not print {deck}", remedy) as talk:
        page = talk("Page.printToPDF", preferCSSPageSize=True, printBackground=True)
        return base64.b64decode(page["data"])
