"""A chapter's slides with running cells: a notebook that JupyterLab presents (jupyterlab-rise).

Its slides are those of the deck. The viewer knows neither MyST's directives nor its roles, so the
prose is written as plain Markdown; the code is the chapter's own, every cell of it, in order: what
is not on a slide runs unseen.
"""

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from coursekit import course
from coursekit.book.content import Content, Node, Page
from coursekit.book.slides.layout import Cell, Sheet, sheets_of
from coursekit.book.slides.markdown import Markdown
from coursekit.notebooks import contents, files
from coursekit.notebooks.sources import cell_id, to_bytes
from lmcourse.errors import CourseError

if TYPE_CHECKING:
    from nbformat import NotebookNode

_KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
# The theme "white" asks nobody for anything; the viewer's own ("simple") fetches fonts.
_VIEW = {
    "theme": "white",
    "transition": "none",
    "center": False,
    "scroll": True,
    "slideNumber": "c/t",
    "start_slideshow_at": "beginning",
    "width": "100%",
    "height": "100%",
}


def live_notebook(page: Page, content: Content) -> "NotebookNode":
    """Return a page's slides as a notebook without outputs, marked for presentation.

    Raises:
        CourseError: the page has no slides, or one cannot be shown.
    """
    import nbformat

    writer = Markdown(content.public, page.source)
    cells = [
        cell
        for number, sheet in enumerate(sheets_of(page))
        for cell in _cells(sheet, writer, None if number else page)
    ]
    notebook = nbformat.from_dict(
        {
            "cells": cells,
            "metadata": {"kernelspec": _KERNEL, "rise": _VIEW},
            "nbformat": 4,
            "nbformat_minor": 5,
        }
    )
    for index, cell in enumerate(notebook.cells):
        cell["id"] = cell_id(page.slug, index, cell.cell_type)
    return notebook


def write_live(page: Page, content: Content, folder: Path) -> Path:
    """Write a page's live slides into a folder; return the notebook.

    A last one that somebody has edited is put aside; one that was only run is kept in a hidden
    folder.

    Raises:
        CourseError: the slides cannot be made, or the folder cannot be written.
    """
    notebook = live_notebook(page, content)
    path = folder / f"{Path(page.source).stem}.ipynb"
    record, kept = folder / f".{path.stem}.written", folder / ".replaced" / path.name
    data, written = to_bytes(notebook), record.read_text("utf-8") if record.exists() else None

    def unchanged(old: Path) -> bool:
        return contents.of_file(old) == written

    try:
        same = path.is_file() and path.read_bytes() == data
        if path.exists() and not same and not files.replace(path, data, kept, unchanged):
            files.move_aside(path, f"{path.stem}.yours-{{}}.ipynb")
        files.create(path, data)
        style = course.read_text(course.root() / "theme" / "slides" / "live.css")
        files.write(folder / "rise.css", style.encode("utf-8"))
        files.write(folder / f"{path.stem}.css", b"/* Nothing of its own: see rise.css. */\n")
        files.write(record, str(contents.of_bytes(data, path.suffix)).encode())
    except CourseError as error:
        raise CourseError(error.cause, f"Make the folder {folder} writable, or free it.") from error
    return path


def presentation_url(path: Path) -> str:
    """Return the server's path that presents a notebook of the served folder.

    Raises:
        CourseError: JupyterLab cannot present notebooks here.
    """
    if importlib.util.find_spec("jupyterlab_rise") is None:
        raise CourseError(
            "To present slides, JupyterLab needs the extension jupyterlab-rise; it is missing.",
            "Run `python -m coursekit.install` in the course's folder.",
        )
    return f"/rise/{quote(path.name)}"


def _cells(sheet: Sheet, writer: Markdown, title: Page | None) -> Iterator[Node]:
    """Yield a sheet's cells; the first that is shown carries the mark of the slide."""
    beginning = "subslide" if sheet.below else "slide"
    head = _head(sheet, writer, title)
    if head:
        yield _cell("markdown", head, beginning)
        beginning = "-"
    for cell in sheet.cells:
        mark = "fragment" if cell.fragment else beginning
        if cell.code is None:
            yield _cell("markdown", writer.blocks(cell.nodes), mark)
        else:
            yield _code(cell, mark)
        beginning = "-" if cell.nodes else beginning
    if sheet.notes:
        yield _cell("markdown", writer.blocks(sheet.notes), "notes")


def _head(sheet: Sheet, writer: Markdown, title: Page | None) -> str:
    if title is not None:
        label = f"{title.label}\n\n" if title.label else ""
        return f"{label}# {title.title}\n\n{title.description}"
    if sheet.heading is None:
        return ""
    words = writer.line(sheet.heading["children"])
    return f"<small>{words}</small>" if sheet.again else f"## {words}"


def _code(cell: Cell, mark: str) -> Node:
    """Return a cell that runs, whole; one that shows nothing on the slide is not seen."""
    written = _cell("code", cell.code or "", mark if cell.nodes or cell.shown else "skip")
    written |= {"outputs": [], "execution_count": None}
    if cell.folded:
        written["metadata"] |= {"jupyter": {"source_hidden": True}, "tags": ["hide-input"]}
    return written


def _cell(kind: str, source: str, mark: str) -> dict[str, Any]:
    metadata = {} if mark == "-" else {"slideshow": {"slide_type": mark}}
    return {"cell_type": kind, "metadata": metadata, "source": source}
