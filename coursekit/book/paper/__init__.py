"""The whole book as one PDF and one EPUB, from the pages of the site."""

import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

from coursekit.book.execute import Report
from coursekit.book.paper.cover import photograph
from coursekit.book.paper.epub import write_epub
from coursekit.book.paper.print import write_pdf
from coursekit.book.paper.take import PURPOSE, take
from coursekit.book.slides.browser import require_browser
from coursekit.repository import Repository
from lmcourse.files import require_writable

__all__ = ["require_paper", "write_paper"]

_ELSEWHERE = "Make the folder writable, or move the checkout to a folder that you can write to."


def require_paper(files: Iterable[Path]) -> None:
    """Raise if a book cannot be printed: before it is built.

    Raises:
        CourseError: there is no browser, or a file cannot be written.
    """
    require_browser(PURPOSE)
    for file in files:
        require_writable(file, _ELSEWHERE)


def write_paper(
    site: Path,
    pdf: Path | None,
    epub: Path | None,
    repository: Repository | None,
    report: Report,
    address: str | None = None,
) -> None:
    """Write a built site as one PDF, one EPUB, or both; each whole, or not at all.

    Args:
        site: the folder of the site, for the course's own theme.
        pdf, epub: where to write; None: not.
        address: where the site is served, for links to its interactive figures.

    Raises:
        CourseError: there is no browser, it fails or takes too long, or a file cannot be written.
    """
    with tempfile.TemporaryDirectory(dir=site.parent, prefix="book-work-paper-") as name:
        folder = Path(name)
        shutil.copytree(site / "assets", folder / "assets")
        leaves = list(take(site, folder, report, address))
        first = leaves[0]
        if epub is not None:
            cover = photograph(first, folder)
            write_epub(leaves, folder, epub, first.title, repository, cover)
        if pdf is not None:
            report("Printing ...")
            write_pdf(leaves, folder, pdf, first.title, repository)
