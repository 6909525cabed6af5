"""The whole book as one PDF and one EPUB, from the pages of the site."""

import shutil
import tempfile
from pathlib import Path

from coursekit.book.execute import Report
from coursekit.book.paper.epub import write_epub
from coursekit.book.paper.print import write_pdf
from coursekit.book.paper.take import take
from coursekit.repository import Repository

__all__ = ["write_paper"]


def write_paper(
    site: Path, pdf: Path | None, epub: Path | None, repository: Repository | None, report: Report
) -> None:
    """Write a built site as one PDF, one EPUB, or both.

    Args:
        site: the folder of the site, for the course's own theme.
        pdf, epub: where to write; None: not.

    Raises:
        CourseError: there is no browser, it fails or takes too long, or a file cannot be written.
    """
    with tempfile.TemporaryDirectory(dir=site.parent, prefix="book-work-paper-") as name:
        folder = Path(name)
        shutil.copytree(site / "assets", folder / "assets")
        leaves = list(take(site, folder, report))
        first = leaves[0]
        if epub is not None:
            write_epub(leaves, folder, epub, first.title, repository)
        if pdf is not None:
            report("Printing ...")
            write_pdf(leaves, folder, pdf, first.title, repository)
