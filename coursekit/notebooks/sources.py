"""Read a tracked MyST Markdown source as a Jupyter notebook, the same bytes each time."""

import copy
import hashlib
import re
import sys
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from coursekit.metadata import check_cells, raise_first
from coursekit.notebooks import exercises
from lmcourse.checkout import read_text
from lmcourse.errors import CourseError

# nbformat's schema library compiles the grammars of rfc3987_syntax on import, which takes one to
# two seconds that nobody uses; with None here it does without.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]

if TYPE_CHECKING:
    from nbformat import NotebookNode

SLIDE_ONLY = "slide-only"  # the tag of text that is for the slides alone
_SLIDE_ONLY = re.compile(
    rf"^\+\+\+ \{{[^\n]*\"{SLIDE_ONLY}\"[^\n]*\n.*?(?=^\+\+\+|^```\{{code-cell\}}|\Z)",
    re.MULTILINE | re.DOTALL,
)
_KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def read_notebook(path: Path) -> "NotebookNode":
    """Read a source (``md:myst``) as a notebook with kernel python3, without outputs.

    Cell ids, which text does not keep, are derived from the file's name and the cell's position and
    kind, so that the same source gives the same bytes on every machine. Cells that only the slides
    show are left out (`slide_only_cells`).

    Raises:
        CourseError: the file cannot be read, or is not a MyST notebook.
    """
    import nbformat

    notebook = _parsed(path)
    # Only the kernel: the source's own front matter (jupytext's, the title) would make a product
    # look like a paired notebook.
    notebook.metadata = nbformat.from_dict({"kernelspec": dict(_KERNEL)})
    notebook.cells = [cell for cell in notebook.cells if not _is_slide_only(cell)]
    for index, cell in enumerate(notebook.cells):
        _make_plain(cell)
        cell["id"] = cell_id(path.name, index, cell.cell_type)
    notebook.nbformat, notebook.nbformat_minor = 4, 5  # the first version that has cell ids
    return notebook


def slide_only_cells(path: Path) -> list[tuple[int, "NotebookNode"]]:
    """Return a source's cells that only the slides show, each with the number of others before it.

    Raises:
        CourseError: the file cannot be read, or such a cell is code, or has no mark.
    """
    found: list[tuple[int, NotebookNode]] = []
    others = 0
    for cell in _parsed(path).cells:
        if not _is_slide_only(cell):
            others += 1
            continue
        if cell.cell_type != "markdown" or not cell.metadata.get("slideshow"):
            line = cell.source.split("\n")[0]
            raise CourseError(
                f"{path.name}: the cell `{line}` has the tag {SLIDE_ONLY!r}, but is "
                + ("code." if cell.cell_type == "code" else "on no slide."),
                'Tag Markdown cells with a mark: `+++ {"slideshow": {"slide_type": "slide"}, '
                f'"tags": ["{SLIDE_ONLY}"]}}`.',
            )
        found.append((others, cell))
    return found


def without_slide_only(text: str) -> str:
    """Return a source's text without the cells that only the slides show."""
    return _SLIDE_ONLY.sub("", text)


def _is_slide_only(cell: "NotebookNode") -> bool:
    return SLIDE_ONLY in cell.metadata.get("tags", [])


def _parsed(path: Path) -> "NotebookNode":
    """Parse a source with all its cells; references to a lab's exercises are written out.

    Raises:
        CourseError: the file cannot be read, is not a MyST notebook, or refers to an exercise that
            does not exist.
    """
    import yaml
    from jupytext.formats import JupytextFormatError
    from jupytext.myst import MystMetadataParsingError
    from nbformat import ValidationError

    text = read_text(path)
    try:
        notebook = copy.deepcopy(_of_text(text))  # callers change it
        check_cells(notebook, text, path)
    except (
        JupytextFormatError,
        MystMetadataParsingError,
        ValidationError,
        yaml.YAMLError,
        AttributeError,  # of a mapping that is none
        TypeError,
        ValueError,
    ) as error:
        with suppress(MystMetadataParsingError, yaml.YAMLError):  # it says the line itself
            raise_first(text, path)
        raise CourseError(
            f"The source {path} is not a MyST notebook: {error}.",
            "Fix the line that the message names; another source shows the form.",
        ) from error
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = exercises.write_out(cell.source, path.name)
    return notebook


@lru_cache(maxsize=64)  # a book, a workbook or a test reads each source several times
def _of_text(text: str) -> "NotebookNode":
    """Parse a source's text, which takes 0.1 s for a chapter."""
    import jupytext

    return jupytext.reads(text, fmt="md:myst")


def markdown_notebook(text: str, name: str) -> "NotebookNode":
    """Return a notebook of one Markdown cell.

    Args:
        name: of its file, from which the cell's id is derived.
    """
    import nbformat

    cell = nbformat.v4.new_markdown_cell(text, id=cell_id(name, 0, "markdown"))
    notebook = nbformat.v4.new_notebook(cells=[cell], metadata={"kernelspec": dict(_KERNEL)})
    notebook.nbformat_minor = 5
    return notebook


def cell_id(name: str, index: int, kind: str) -> str:
    """Derive a cell's id: 16 hexadecimal digits, valid and practically unique in a notebook."""
    return hashlib.sha256(f"{name}\n{index}\n{kind}".encode()).hexdigest()[:16]


def to_bytes(notebook: "NotebookNode") -> bytes:
    """Write a notebook as the bytes of its ``.ipynb`` file."""
    import nbformat

    nbformat.validate(notebook)
    return str(nbformat.writes(notebook)).encode("utf-8") + b"\n"


def _make_plain(cell: "NotebookNode") -> None:
    """Drop what one run of a notebook left in a code cell, and fold what only draws.

    The book knows the tag ``hide-input``; JupyterLab folds a cell whose metadata say so.
    """
    if cell.cell_type == "code":
        cell.outputs = []
        cell.execution_count = None
        if "hide-input" in cell.metadata.get("tags", []):
            cell.metadata["jupyter"] = {"source_hidden": True}
