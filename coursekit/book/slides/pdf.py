"""A deck as PDF: printed by a browser, one page a slide."""

import base64
from pathlib import Path

from coursekit.book.slides import browser
from coursekit.book.slides.deck import ELSEWHERE
from coursekit.notebooks import files
from lmcourse.errors import CourseError

_REMEDY = (
    "Install Chromium, Chrome or Edge. Or print it yourself: open {deck} in any browser, add "
    "?print-pdf to its address, and print to PDF without margins and with backgrounds."
)


def require_browser(deck: Path) -> Path:
    """Return a browser that prints.

    Raises:
        CourseError: there is none.
    """
    found = browser.find_browser()
    if found is None:
        raise CourseError(
            "There is no browser here that can write the PDF.", _REMEDY.format(deck=deck)
        )
    return found


def write_pdf(deck: Path, pdf: Path) -> None:
    """Print a deck: one page a slide, answers unfolded, fragments shown. Whole, or not at all.

    Raises:
        CourseError: there is no browser, it fails or takes too long, or the file cannot be written.
    """
    remedy = _REMEDY.format(deck=deck)
    path = require_browser(deck)
    data = _printed(path, deck, remedy)
    if not data.startswith(b"%PDF"):
        raise CourseError(f"The browser {path} wrote no PDF of {deck}.", remedy)
    try:
        files.write(pdf, data)
    except CourseError as error:
        raise CourseError(error.cause, ELSEWHERE) from error


def _printed(path: Path, deck: Path, remedy: str) -> bytes:
    url = f"{deck.absolute().as_uri()}?print-pdf"
    with browser.opened(path, url, f"did not print {deck}", remedy) as talk:
        page = talk("Page.printToPDF", preferCSSPageSize=True, printBackground=True)
        return base64.b64decode(page["data"])
