"""Read a tracked MyST Markdown source as a Jupyter notebook, the same bytes each time."""

import hashlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from lmcourse.checkout import read_text
from lmcourse.errors import CourseError

# nbformat's schema library compiles the grammars of rfc3987_syntax on import, which takes one to
# two seconds that nobody uses; with None here it does without.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]

if TYPE_CHECKING:
    from nbformat import NotebookNode

_KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def read_notebook(path: Path) -> "NotebookNode":
    """Read a source (``md:myst``) as a notebook with kernel python3, without outputs.

    Cell ids, which text does not keep, are derived from the file's name and the cell's position and
    kind, so that the same source gives the same bytes on every machine.

    Raises:
        CourseError: the file cannot be read, or is not a MyST notebook.
    """
    import jupytext
    import nbformat
    import yaml
    from jupytext.formats import JupytextFormatError
    from jupytext.myst import MystMetadataParsingError

    text = read_text(path)
    try:
        notebook = jupytext.reads(text, fmt="md:myst")
    except (
        JupytextFormatError,
        MystMetadataParsingError,
        yaml.YAMLError,
        ValueError,
    ) as error:
        raise CourseError(
            f"The source {path} is not a MyST notebook: {error}.",
            "Fix the line that the message names; another source shows the form.",
        ) from error
    # Only the kernel: the source's own front matter (jupytext's, the title) would make a product
    # look like a paired notebook.
    notebook.metadata = nbformat.from_dict({"kernelspec": dict(_KERNEL)})
    for index, cell in enumerate(notebook.cells):
        _make_plain(cell)
        cell["id"] = cell_id(path.name, index, cell.cell_type)
    notebook.nbformat, notebook.nbformat_minor = 4, 5  # the first version that has cell ids
    return notebook


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
