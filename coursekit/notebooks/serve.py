"""Serve the workbook: lay it out, start JupyterLab on it, and end it cleanly."""

import contextlib
import subprocess
from pathlib import Path

from rich.console import Console

from coursekit import course
from coursekit.notebooks import jupyterlab, startpage, workbook
from coursekit.notebooks.lab_settings import START
from coursekit.notebooks.workbook import PRIVATE, Report
from lmcourse.errors import CourseError


def serve_lab(
    port: int | None = None, open_browser: bool = True, folder: Path | None = None
) -> None:
    """Lay the workbook out and serve it with JupyterLab until it is stopped (Ctrl-C, a signal).

    Args:
        port: where to serve; by default the first free one from 8888.
        open_browser: whether to open the start page in the browser.
        folder: the workbook; by default `course.workbook`.

    Raises:
        CourseError: the workbook cannot be laid out, the port is taken, or JupyterLab ends by
            itself with an error.
    """
    console = Console(highlight=False)
    folder = (folder or course.workbook()).absolute()
    with jupyterlab.able_to_serve(port):
        report = prepare(folder, console)
        said = ["\nYour course is open at\n  {url}\n"]
        said += ["Keep this terminal open while you work. Ctrl + C stops the course."]
        jupyterlab.run(
            folder, START, port, open_browser, console, said, lambda child: _watch(child, report)
        )
    console.print("The course has stopped. Your work is saved in the workbook folder.")


def prepare(folder: Path | None = None, console: Console | None = None) -> Report:
    """Lay the workbook out with its start page, and say what was done.

    Raises:
        CourseError: it cannot be laid out.
    """
    console = console or Console(highlight=False)
    folder = (folder or course.workbook()).absolute()
    console.print(f"Laying out your notebooks in {folder}", soft_wrap=True, markup=False)
    report = workbook.lay_out(folder)
    for line in summary(report):
        console.print(f"  {line}", soft_wrap=True, markup=False)
    startpage.write(report)
    return report


def summary(report: Report) -> list[str]:
    """Say in a few lines what a layout did."""
    counts = [
        (report.written, "written"),
        (report.replaced, "brought up to date"),
        (report.edited, "edited by you and left alone"),
    ]
    said = [f"{len(names)} {what}" for names, what in counts if names]
    lines = [", ".join(said)] if said else []
    if report.replaced:
        lines.append(f"what was replaced is kept in {report.folder / workbook.REPLACED}")
    lines += [f"newer version beside yours: {copy}" for copy in report.updates.values()]
    lines += [f"cannot be read, left as it is: {name}" for name in report.broken]
    return lines + report.notices


def _watch(child: "subprocess.Popen[bytes]", report: Report) -> None:
    """Wait for the server's end; meanwhile keep the start page's progress up to date.

    Another start on the same workbook knows more (its report is newer) and keeps the page itself:
    once the page is not as this process left it, it is left alone.
    """
    progress, start = report.folder / PRIVATE / "progress.json", report.folder / startpage.NAME
    seen, written = _modified(progress), _modified(start)
    while True:
        try:
            child.wait(timeout=1.0)
            return
        except subprocess.TimeoutExpired:
            now = _modified(progress)
            if now != seen and _modified(start) == written:
                # The page is a convenience: a full disk must not end the course.
                with contextlib.suppress(CourseError):
                    startpage.write(report)
                written = _modified(start)
            seen = now


def _modified(path: Path) -> int | None:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return None
