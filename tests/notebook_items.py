"""Collect every source as a notebook: an item per code cell, run by nbval in one kernel.

nbval 0.11 does the talking to the kernel. What is our own, and why (each has a test in
``tests/notebooks``):

* the sources are read as they stand (nbval knows only ``.ipynb``);
* a cell fails once: the cells after it are skipped, with its name, instead of failing in turn;
* ``raises-exception`` demands an exception (nbval is content without, and takes its own
  interruption of an endless cell for one);
* a dead kernel is noticed, and no output is lost (``watched_kernel.py``);
* a mark that would compare outputs is an error: a text source stores none, so that nbval would
  pass it unread;
* a source whose cells have all passed is kept where the book looks for what is executed
  (``coursekit.book.execute``), so that it is not executed once more for the book.
"""

import re
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbval.plugin as nbval
import pytest
from filelock import FileLock

from lmcourse.errors import CourseError
from tests.watched_kernel import DeadKernel, WatchedKernel

FOLDERS = ("chapters", "labs", "gallery")
CELL_TIMEOUT = 300.0  # seconds; nbval's own 2000 hide an endless loop for half an hour
OUTPUT_TIMEOUT = 60  # seconds between a cell's end and its last output; nbval's own: 5
_NBVAL_CELL_TIMEOUT = 2000
_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_FRONT_MATTER = re.compile(r"\A---\s*\n(.*?)^---\s*$", re.DOTALL | re.MULTILINE)
# What `expect` and `identity` show, and what a lab's check does.
_CHECK = re.compile(r"data-kind=\"(?:measured|identity)\"|'application/vnd\.lmcourse\.check\+json'")


def pytest_configure(config: pytest.Config) -> None:
    """Set the course's timeout, and keep each notebook on one worker under plain ``-n 2`` too."""
    if config.option.nbval_cell_timeout == _NBVAL_CELL_TIMEOUT:  # not given on the command line
        config.option.nbval_cell_timeout = CELL_TIMEOUT
    if getattr(config.option, "dist", "no") in ("load", "worksteal"):
        config.option.dist = "loadfile"


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect each ``.md`` that stands directly in a folder of sources."""
    folders = [parent.config.rootpath / name for name in FOLDERS]
    if file_path.suffix == ".md" and file_path.parent in folders:
        return NotebookFile.from_parent(parent, path=file_path)
    return None


def executing(path: Path) -> FileLock:
    """Return the lock that a worker holds while it executes a source of these folders.

    What needs the executed notebook (`tests.book.test_course`) waits for it, so that no notebook is
    executed by two workers.
    """
    folder = path.parents[1] / "_build" / "executed"
    folder.mkdir(parents=True, exist_ok=True)
    return FileLock(folder / f"{path.parent.name}-{path.stem}.lock")


class NotebookFile(nbval.IPyNbFile):
    """One source, and the kernel that its cells share."""

    failed: str | None = None  # the first cell that failed

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.compare_outputs = False

    def collect(self) -> Iterator[pytest.Item]:
        """Yield an item for each code cell.

        Raises:
            CollectError: the source is no notebook, has no code, or asks to compare outputs.
        """
        from coursekit.notebooks.sources import read_notebook

        place = self.path.relative_to(self.config.rootpath).as_posix()
        try:
            self.nb = read_notebook(self.path)
        except CourseError as error:
            raise self.CollectError(str(error)) from error
        matter = _FRONT_MATTER.match(self.path.read_text(encoding="utf-8"))
        if matter is None or not re.search(r"^kernelspec:", matter[1], re.MULTILINE):
            raise self.CollectError(
                f"{place} has no kernelspec in its front matter, so it is no notebook. "
                "Take the front matter of another source, or move the file elsewhere."
            )
        items = list(self._items(place))
        if not items:
            raise self.CollectError(f"{place} has no code cell: is each fence a {{code-cell}}?")
        yield from items

    def _items(self, place: str) -> Iterator["NotebookCell"]:
        heading, number = "", 0
        for cell in self.nb.cells:
            if cell.cell_type != "code":
                titles = re.findall(r"^#{1,6} +(.+)$", cell.source, re.MULTILINE)
                heading = titles[-1] if cell.cell_type == "markdown" and titles else heading
                continue
            number += 1
            options = dict(nbval.find_metadata_tags(cell.metadata))
            options |= dict(nbval.find_comment_markers(cell.source))
            if options.get("check"):
                raise self.CollectError(
                    f"{place}, cell {number}: nbval-check-output compares with a stored output, "
                    "and a text source stores none. Assert the number with expect(...) instead."
                )
            options = {"skip": False, "check": False, "check_exception": False} | options
            item = NotebookCell.from_parent(
                self, name=f"cell {number}", cell_num=number, cell=cell, options=options
            )
            item.place = f"{place}, cell {number}" + (f', under "{heading}"' if heading else "")
            item.user_properties += [("notebook", place)]
            yield item

    def setup(self) -> None:
        """Start the kernel in the source's folder; who wants its result waits for `executing`."""
        from coursekit.book import kernel

        self.lock = executing(self.path)
        self.lock.acquire()
        factory = self.config._tmp_path_factory  # type: ignore[attr-defined]
        self.told = factory.mktemp("kernel")
        timeout = self.config.option.nbval_kernel_startup_timeout
        self.kernel = WatchedKernel(self.path.parent, kernel.variables(self.told), timeout)
        self.passed: list[float] = []  # seconds of each cell that has passed

    def teardown(self) -> None:
        """End the kernel; a dead one too has channels to close. nbval drops ``km`` on a stop."""
        try:
            self.end()
        finally:
            self.lock.release()

    def end(self) -> None:
        """End the kernel, and keep the notebook if all of its cells have passed."""
        if self.kernel is None or not hasattr(self.kernel, "km"):
            return
        if len(self.passed) == sum(cell.cell_type == "code" for cell in self.nb.cells):
            self.kernel.finish()
            self.keep()
        else:
            self.kernel.stop()

    def keep(self) -> None:
        """Keep the executed notebook for the book, if it is the course's own."""
        from coursekit import course
        from coursekit.book import cache, kernel

        for source in course.sources():
            if source.path == self.path and not self.kernel.cleared:
                for cell in self.nb.cells:
                    self.kernel.update(cell.get("outputs", []))
                executed = kernel.result(source, self.nb, sum(self.passed), self.told)
                cache.save(executed, course.products() / "executed")


class NotebookCell(nbval.IPyNbCell):
    """One code cell."""

    place = ""  # file, number and heading, for the report

    def setup(self) -> None:
        """Skip what stands after a failure: it would only fail for want of the names before it."""
        if self.parent.failed:
            pytest.skip(f"{self.parent.failed} failed")

    def runtest(self) -> None:
        """Execute the cell, and judge it.

        Raises:
            nbval.NbCellError: it raised, or did not where it should, took too long, or killed the
                kernel.
        """
        self.output_timeout = OUTPUT_TIMEOUT
        begin = time.perf_counter()
        try:
            self._execute()
        except Exception:
            self.parent.failed = self.place.split(", under")[0]
            raise
        self.parent.passed.append(time.perf_counter() - begin)
        self._fill_in()

    def _fill_in(self) -> None:
        """Write the outputs into the notebook, as a front end does."""
        self.cell.execution_count = self.cell_num
        self.cell.outputs = self.test_outputs

    def _execute(self) -> None:
        try:
            super().runtest()
        except DeadKernel as error:
            self.raise_cell_error(str(error))
        outputs = self.test_outputs or []
        if self.options["check_exception"]:
            if self.parent.timed_out:
                limit = self.config.option.nbval_cell_timeout
                self.raise_cell_error(f"Timeout of {limit:g} seconds exceeded executing cell")
            if not any(output.output_type == "error" for output in outputs):
                self.raise_cell_error("The cell is tagged raises-exception, but nothing was raised")
        checks = len(_CHECK.findall(str([output.get("data") for output in outputs])))
        self.user_properties.append(("checks", checks))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> str:
        """Show the place, the source and the notebook's own error, and nothing of nbval."""
        error = excinfo.value
        raised = [out for out in self.test_outputs or [] if out.output_type == "error"]
        message = str(error) or type(error).__name__
        if raised and message == "Cell execution caused an exception":
            message = f"{raised[-1].ename}: {raised[-1].evalue}"
        parts = [message]  # the place stands above it, in pytest's own line
        if isinstance(error, nbval.NbCellError):
            parts.append("\n".join(f"    {line}" for line in error.source.splitlines()))
            parts.append(_ANSI.sub("", error.inner_traceback or "").strip("\n"))
        return "\n\n".join(part for part in parts if part) + "\n"

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Name the item for pytest's lines."""
        return self.path, None, self.place


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print a line for each notebook. Its seconds include its kernel's start."""
    cells: Counter[str] = Counter()
    checks: Counter[str] = Counter()
    seconds: Counter[str] = Counter()
    for report in (report for reports in terminalreporter.stats.values() for report in reports):
        properties = dict(getattr(report, "user_properties", ()))
        if "notebook" in properties:
            name = properties["notebook"]
            seconds[name] += report.duration
            if report.when == "call":
                cells[name] += 1
                checks[name] += properties.get("checks", 0)
    if seconds:
        terminalreporter.section("notebooks")
    for name in sorted(seconds):
        counts = f"{cells[name]} cells run, {checks[name]} checks"
        terminalreporter.write_line(f"{name}: {counts}, {seconds[name]:.1f} s")
