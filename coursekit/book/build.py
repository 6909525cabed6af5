"""``make book``: execute, lay out, parse, write the pages, and only then put them in place.

Everything is made beside the last book, under ``_build``; two renames at the end publish it. So a
build that fails or is interrupted leaves the last book as it was.
"""

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from coursekit import course, outline
from coursekit.book import myst
from coursekit.book.cache import Executed
from coursekit.book.content import Content, Page, read_content
from coursekit.book.execute import Report, execute
from coursekit.book.published import Published, checked, published
from coursekit.book.site.site import write_site
from coursekit.book.slides.browser import require_browser
from coursekit.book.slides.deck import ELSEWHERE, decks, write_deck
from coursekit.book.slides.live import write_live
from coursekit.book.slides.pdf import MARK, PURPOSE, remedy_for
from coursekit.book.stage import stage
from coursekit.notebooks import files
from coursekit.notebooks.sources import read_notebook
from coursekit.notebooks.workbook import product_name
from coursekit.repository import Repository
from lmcourse.errors import CourseError
from lmcourse.files import HTML_MARK, require_own, require_writable

OWN_THEME = "theme"  # the folder of the checkout
_WORK, SITE, _LAST = "book-work", "site", "site.last"


def build_book(
    report: Report,
    show_solutions: bool = False,
    theme: str = OWN_THEME,
    base_url: str | None = None,
    repository: Repository | None = None,
) -> Path:
    """Build the book; return the page to open.

    Args:
        report: is called with each line of progress.
        show_solutions: give the labs' solutions, folded under their exercises.
        theme: ``"theme"`` is the course's own; any other is a template that mystmd fetches, such
            as ``"book-theme"``, which needs a network.
        base_url: where the book will be served, for the metadata that must be absolute.
        repository: where its sources are, for links to them.

    Raises:
        CourseError: a notebook fails, the book has a fault, or it cannot be written; the last book
            is then as it was.
    """
    where = published(base_url, repository)
    myst.find_node()
    with workplace() as folder:
        parts = outline.read()
        executed = execute(course.sources(), course.products() / "executed", report)
        report("Writing the pages ...")
        made = folder / SITE
        if theme == OWN_THEME:
            content = parse(executed, parts, folder / "source", report, show_solutions, where)
            made.mkdir()
            slides = decks(content, folder / "slides", where.base_url or "..")
            for note in write_site(content, made, published=where, slides=slides):
                report(note)
        else:
            source = _staged(executed, parts, folder / "source", theme, show_solutions, where)
            with _kept_templates(source):
                path = urlsplit(where.base_url or "").path.rstrip("/")
                made = myst.build_html(source, path)
        publish(made, course.products() / SITE)
    return course.products() / SITE / "index.html"


def paper_files(pdf: bool, epub: bool, theme: str = OWN_THEME) -> dict[str, Path]:
    """Return the files that the whole book is written into, by kind, if they can be written.

    Raises:
        CourseError: one cannot be written, no browser here prints, or the theme is another.
    """
    from coursekit.book.paper import require_paper

    wanted = {"pdf": pdf, "epub": epub}
    files = {kind: course.products() / f"book.{kind}" for kind in wanted if wanted[kind]}
    if files:
        if theme != OWN_THEME:
            raise CourseError(
                f"A PDF or EPUB is made from the course's own theme, not from {theme}.",
                "Leave out --theme, or leave out --pdf and --epub.",
            )
        require_paper(files.values())
    return files


def slide_files(source: course.Source, output: Path | None, pdf: bool) -> tuple[Path, Path | None]:
    """Return the files of a chapter's slides: the deck's, and its PDF's if one is wanted.

    Args:
        output: the file that was named; None: ``_build/slides/NN-name.html``. One that ends in
            ``.pdf`` is the PDF, and the deck is where it is by default.

    Raises:
        CourseError: a file is there that is no deck, a file cannot be written, or no browser here
            prints.
    """
    default = course.products() / "slides" / f"{source.slug}.html"
    deck, printed = output or default, None
    if deck.suffix.lower() == ".pdf":
        if not pdf:
            raise CourseError(
                f"{deck} ends in .pdf, but slides are written as HTML.",
                "Add --pdf to print them, or name a file that ends in .html.",
            )
        deck, printed = default, deck
    elif pdf:
        printed = deck.with_suffix(".pdf")
    for each, mark in ((deck, HTML_MARK), (printed, MARK)):
        if each is not None:
            if not each.absolute().is_relative_to(course.products()):
                require_own(each, mark, f"{ELSEWHERE} Or remove that file first.")
            require_writable(each, ELSEWHERE)
    if pdf:
        require_browser(PURPOSE, remedy_for(deck))
    return deck, printed


def build_slides(
    source: course.Source, report: Report, file: Path | None = None, base_url: str | None = None
) -> Path:
    """Make a chapter's slides; return their file (``_build/slides/NN-name.html`` by default).

    The other chapters are not executed: they are there so that references to them resolve.

    Args:
        base_url: where the book will be served: links to its other pages lead there.

    Raises:
        CourseError: the notebook fails, it has no slides or one that cannot be shown, or the file
            cannot be written; what was there is then as it was.
    """
    base_url = checked(base_url)
    file = file or course.products() / "slides" / f"{source.slug}.html"
    myst.find_node()
    with workplace() as folder:
        executed = execute([source], course.products() / "executed", report)
        report("Parsing the book, to which the slides may refer ...")
        page, content = _parsed(source, executed, folder / "source", report)
        report("Writing the slides ...")
        write_deck(page, content, file, base_url=base_url or _site_from(file, page.slug))
    return file


def _site_from(file: Path, slug: str) -> str | None:
    """Return the path from a file's folder to the book, if the book with a page is there."""
    site = course.products() / SITE
    if not (site / f"{slug}.html").is_file():
        return None
    try:
        return Path(os.path.relpath(site, file.absolute().parent)).as_posix()
    except ValueError:  # on another drive
        return None


def laid_out(source: course.Source, report: Report) -> tuple[Page, Content]:
    """Execute a chapter, if it has changed, and return its page in the book, with the figures.

    Raises:
        CourseError: the notebook fails, or the book has a fault.
    """
    myst.find_node()
    kept = course.products() / "slides" / ".public"
    with workplace() as folder:
        executed = execute([source], course.products() / "executed", report)
        page, content = _parsed(source, executed, folder / "source", report)
        shutil.rmtree(kept, ignore_errors=True)
        kept.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(content.public, kept)
    return page, replace(content, public=kept)


def build_live(source: course.Source, report: Report) -> Path:
    """Write a chapter's slides as a notebook to be presented with running cells; return its file.

    Raises:
        CourseError: it has no slides or one that cannot be shown, or it cannot be written.
    """
    myst.find_node()
    with workplace() as folder:
        report("Parsing the book, to which the slides may refer ...")
        page, content = _parsed(source, [], folder / "source", report)
        report("Writing the slides ...")
        return write_live(page, content, course.products() / "live")


def _parsed(
    source: course.Source, executed: list[Executed], folder: Path, report: Report
) -> tuple[Page, Content]:
    """Parse the book with those notebooks executed that are given; return one page of it."""
    known = [each.source for each in executed]
    others = (other for other in course.sources() if other not in known)
    unexecuted = [Executed(it, read_notebook(it.path), 0, 0, ()) for it in others]
    content = parse([*executed, *unexecuted], outline.read(), folder, report)
    location = f"{course.FOLDERS[source.kind]}/{source.path.name}"
    return next(page for page in content.pages if page.source == location), content


def parse(
    executed: list[Executed],
    parts: list[outline.Part],
    folder: Path,
    report: Report,
    show_solutions: bool = False,
    where: Published | None = None,
) -> Content:
    """Lay executed notebooks out in a new folder and let mystmd parse them.

    Args:
        report: is called with each line of progress.

    Raises:
        CourseError: the sources have a fault.
    """
    staged(executed, parts, folder, show_solutions, where)
    return read_content(myst.build_site(folder, report))


def staged(
    executed: list[Executed],
    parts: list[outline.Part],
    folder: Path,
    show_solutions: bool,
    where: Published | None,
) -> None:
    """Lay executed notebooks out in a new folder for the course's own theme.

    Raises:
        CourseError: the sources have a fault.
    """
    _staged(executed, parts, folder, str(course.root() / OWN_THEME), show_solutions, where)


def _staged(
    executed: list[Executed],
    parts: list[outline.Part],
    folder: Path,
    template: str,
    show_solutions: bool,
    where: Published | None,
) -> Path:
    folder.mkdir()
    with_slides = template == str(course.root() / OWN_THEME)
    stage(executed, parts, folder, template, show_solutions, where, with_slides)
    return folder


@contextmanager
def workplace() -> Iterator[Path]:
    """Yield an empty folder under ``_build`` that one command at a time works in.

    Raises:
        CourseError: another command is building, or the folder cannot be written.
    """
    from filelock import FileLock, Timeout

    base = course.products()
    myst.require_plain(base, (product_name(source) for source in course.sources()))
    lock = FileLock(base / "book.lock", timeout=0)
    try:
        base.mkdir(exist_ok=True)
        with lock:
            _recover(base)
            folder = Path(tempfile.mkdtemp(dir=base, prefix=f"{_WORK}-"))
            try:
                yield folder
            finally:
                shutil.rmtree(folder, ignore_errors=True)
    except Timeout as error:
        raise CourseError(
            f"Another command is building in {base}.", "Wait until it is done, then try again."
        ) from error
    except PermissionError as error:
        raise files.trouble(error, Path(error.filename or base)) from error
    except OSError as error:
        known = error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EROFS}
        if not known and base.is_dir():
            raise
        raise files.trouble(error, base) from error


@contextmanager
def _kept_templates(source: Path) -> Iterator[None]:
    """Let mystmd find the templates that an earlier build fetched and installed, and keep them."""
    kept, used = course.products() / "templates", source / "_build" / "templates"
    if kept.exists():
        used.parent.mkdir(parents=True, exist_ok=True)
        kept.rename(used)
    try:
        yield
    finally:
        if used.exists():
            used.rename(kept)


def _recover(base: Path) -> None:
    """Sweep up after a build that was killed, and put the last book back if it had been moved."""
    for left in base.glob(f"{_WORK}-*"):
        shutil.rmtree(left, ignore_errors=True)
    if (base / _LAST).exists() and not (base / SITE).exists():
        (base / _LAST).rename(base / SITE)
    shutil.rmtree(base / _LAST, ignore_errors=True)


def publish(made: Path, site: Path) -> None:
    """Replace the last site by a finished one."""
    last = site.with_name(_LAST)
    if site.exists():
        site.rename(last)
    made.rename(site)
    shutil.rmtree(last, ignore_errors=True)
