"""``lmcourse book --watch``: serve the book, and show an edit of a source within seconds.

The first build is whole. Then mystmd keeps running and parses the page that changed; that page, its
slides, the search and the contents are written again. Cells are executed only where code changed.
What concerns other pages (the outline, the bibliography, the theme, a new source, a term's sentence
in the glossary) leads to a whole build.
"""

import hashlib
import json
import queue
import socket
import subprocess
import threading
import time
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from coursekit import course, outline
from coursekit.book import build, myst
from coursekit.book.content import SLIDES, Content, Page, read_content
from coursekit.book.execute import Report, execute
from coursekit.book.published import Published
from coursekit.book.published import published as at
from coursekit.book.reload import Server
from coursekit.book.site.pages import View
from coursekit.book.site.site import write_site
from coursekit.book.slides.deck import decks
from coursekit.book.stage import stage_source
from coursekit.notebooks.targets import BIBLIOGRAPHY, Targets
from coursekit.notebooks.workbook import product_name
from coursekit.repository import Repository
from lmcourse.errors import CourseError

_EVERY = 0.2  # seconds between two looks at the sources
_PATIENCE = 60.0  # seconds for mystmd
_NO_PAGE = "File is not in project"  # what mystmd says of a changed file that a page offers
_WHOLE = ("index.md", "myst.yml", "outline.yml", BIBLIOGRAPHY, "theme", "CITATION.cff")


def watch(
    report: Report,
    published: Published,
    show_solutions: bool = False,
    port: int = 0,
    shown: Callable[[str], None] = lambda address: None,
) -> None:
    """Build and serve the book until Ctrl-C, and build it again after each change of a source.

    Args:
        report: is called with each line of progress.
        published: where the book will be.
        show_solutions: give the labs' solutions, folded.
        port: where to serve, on this machine alone; 0: a free one.
        shown: is called with the address when the first build is there.

    Raises:
        CourseError: the first build fails, or the port is taken. Later faults are reported.
    """
    server = Server(course.products() / build.SITE, port)
    address: str | None = None
    while True:
        changed: list[course.Source] = []
        try:
            with _Book(report, published, show_solutions) as book:
                if address is None:
                    address = server.serve()
                    shown(address)
                server.version += 1
                while True:
                    changed = book.wait()
                    if not changed:  # something that concerns every page
                        break
                    begin = time.perf_counter()
                    try:
                        book.renew(changed)
                    except _NewPage:
                        break
                    except CourseError as error:
                        report(f"{error.cause}\n{error.remedy}")
                        continue
                    server.version += 1
                    names = ", ".join(source.label for source in changed)
                    report(f"{names}: shown after {time.perf_counter() - begin:.1f} s.")
        except CourseError as error:
            if address is None:
                raise
            report(f"{error.cause}\n{error.remedy}")
            _until_changed(_state())
        report("Something that concerns every page has changed: building the whole book ...")


def watch_book(
    report: Report,
    base_url: str | None,
    repository: Repository | None,
    show_solutions: bool,
    port: int,
    browser: bool,
) -> None:
    """Watch the book as the command does: with the package, and a browser that shows it."""

    def shown(address: str) -> None:
        report(f"The book is at {address} and shows each edit. Ctrl-C stops it.")
        if browser:
            webbrowser.open(address)

    where = at(base_url, repository)
    try:
        watch(report, where, show_solutions, port, shown)
    except KeyboardInterrupt:
        report("Stopped.")


class _NewPage(Exception):
    """A page that mystmd does not know yet: the first cell of a chapter for its slides alone."""


class _Book:
    """A built book, whose pages can be built again one by one."""

    def __init__(self, report: Report, published: Published, show_solutions: bool) -> None:
        self._report, self._published, self._solutions = report, published, show_solutions

    def __enter__(self) -> "_Book":
        self._state = _state()
        self._workplace = build.workplace()
        self._folder = self._workplace.__enter__()
        try:
            self._build()
        except BaseException as error:
            self._leave(type(error), error, error.__traceback__)
            raise
        return self

    def __exit__(self, *exception: Any) -> None:
        self._leave(*exception)

    def _leave(self, *exception: Any) -> None:
        if hasattr(self, "_mystmd"):
            self._mystmd.end()
        self._workplace.__exit__(*exception)

    def _build(self) -> None:
        parts, products = outline.read(), course.products()
        self._executed = {
            each.source.path: each
            for each in execute(course.sources(), products / "executed", self._report)
        }
        self._report("Writing the pages ...")
        staged = self._folder / "source"
        done = list(self._executed.values())
        build.staged(done, parts, staged, self._solutions, self._published)
        self._mystmd = _Mystmd(staged)
        self._content = self._mystmd.content()
        self._views: dict[str, View] = {}
        made = self._folder / build.SITE
        made.mkdir()
        slides = self._decks(self._content)
        for note in write_site(
            self._content, made, published=self._published, slides=slides, known=self._views
        ):
            self._report(note)
        build.publish(made, products / build.SITE)

    def _decks(self, content: Content) -> dict[str, Path]:
        return decks(content, self._folder / "slides", self._published.base_url or "..")

    def wait(self) -> list[course.Source]:
        """Wait for a change; return the sources that changed, or none if it is something else."""
        now = _until_changed(self._state)
        changed = {
            path
            for path in now.keys() | self._state.keys()
            if now.get(path) != self._state.get(path)
        }
        self._state = now
        known = {each.source.path for each in self._executed.values()}
        if not changed <= known or not changed <= now.keys():
            return []
        return [source for source in course.sources() if source.path in changed]

    def renew(self, sources: list[course.Source]) -> None:
        """Build the pages of some sources again.

        Raises:
            CourseError: a cell fails, or a page has a fault; the site is as it was.
        """
        done = execute(sources, course.products() / "executed", self._report)
        self._executed |= {each.source.path: each for each in done}
        notebooks = {each.source: each.notebook for each in self._executed.values()}
        targets, staged = Targets.of(notebooks), self._folder / "source"
        pages = [self._page(each) for each in sources]
        files = {
            page.slug: staged / product_name(each)
            for page, each in zip(pages, sources, strict=True)
        }
        files |= {f"{SLIDES}{it.stem}": it.with_name(f"{SLIDES}{it.name}") for it in files.values()}
        with self._mystmd.parsing(files):
            for each in done:
                stage_source(each, staged, targets, self._solutions, self._published, True)
        self._content = self._mystmd.content()
        chosen = {page.slug for page in pages}
        known = {slug: view for slug, view in self._views.items() if slug not in chosen}
        changed = tuple(self._content.page(slug) for slug in chosen)
        slides = self._decks(replace(self._content, pages=changed))
        site = course.products() / build.SITE
        write_site(self._content, site, published=self._published, slides=slides, known=known)
        self._views = known

    def _page(self, source: course.Source) -> Page:
        location = f"{course.FOLDERS[source.kind]}/{source.path.name}"
        return next(page for page in self._content.pages if page.source == location)


class _Mystmd:
    """mystmd, running over a staged folder."""

    def __init__(self, folder: Path) -> None:
        self._site = folder / "_build" / "site"
        ports = {"SERVER_PORT": str(_free_port()), "PORT": str(_free_port())}
        self._process = myst.start(folder, **ports)
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        try:
            myst.refuse_faults(self._until(lambda line: myst.STARTED in line))
        except CourseError:
            self.end()
            raise

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)

    def _until(self, last: Callable[[str], bool]) -> list[str]:
        lines: list[str] = []
        deadline = time.monotonic() + _PATIENCE
        while not lines or not last(lines[-1]):
            try:
                lines.append(self._lines.get(timeout=max(0.0, deadline - time.monotonic())))
            except queue.Empty as error:
                raise CourseError(
                    "mystmd does not answer. Its last output:\n" + "".join(lines[-12:]),
                    "Stop the command with Ctrl-C and start it again.",
                ) from error
        return lines

    @contextmanager
    def parsing(self, files: dict[str, Path]) -> Iterator[None]:
        """Wait until mystmd has parsed the pages whose files, by slug, are written in the block.

        Raises:
            CourseError: a page has a fault.
        """
        while not self._lines.empty():
            self._lines.get()
        yield
        deadline = time.monotonic() + _PATIENCE
        while not all(self._is_parsed(slug, path) for slug, path in files.items()):
            if time.monotonic() > deadline or self._process.poll() is not None:
                raise CourseError(
                    "mystmd has not parsed the page again.",
                    "Stop the command with Ctrl-C and start it again.",
                )
            time.sleep(0.05)
        time.sleep(0.1)  # for the lines that it writes last
        lines = []
        while not self._lines.empty():
            lines.append(self._lines.get())
        myst.refuse_faults(line for line in lines if _NO_PAGE not in line)

    def _is_parsed(self, slug: str, path: Path) -> bool:
        """Whether the tree of a page is that of its file as it is now.

        mystmd parses a page once for each file that is written: a tree may be of an earlier edit.
        """
        tree = self._site / "content" / f"{slug}.json"
        if not path.is_file():
            return True
        if not tree.is_file():
            raise _NewPage
        try:
            digest = json.loads(tree.read_bytes())["sha256"]
        except ValueError:  # half written
            return False
        return bool(digest == hashlib.sha256(path.read_bytes()).hexdigest())

    def content(self) -> Content:
        """Return what mystmd made of the pages."""
        return read_content(self._site)

    def end(self) -> None:
        """Stop it."""
        self._process.terminate()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _free_port() -> int:
    with socket.socket() as it:
        it.bind(("127.0.0.1", 0))
        return int(it.getsockname()[1])


def _state() -> dict[Path, int]:
    """Return when each file that the book is made from was changed."""
    root = course.root()
    paths = [path for name in course.FOLDERS.values() for path in (root / name).glob("*.md")]
    paths += (root / "labs").glob("lab*/*.py")  # their exercises' numbers and checks
    for name in _WHOLE:
        paths += (root / name).rglob("*") if (root / name).is_dir() else [root / name]
    return {path: path.stat().st_mtime_ns for path in paths if path.is_file()}


def _until_changed(before: dict[Path, int]) -> dict[Path, int]:
    while True:
        time.sleep(_EVERY)
        now = _state()
        if now != before:
            time.sleep(_EVERY)  # editors write in several steps
            return _state()
