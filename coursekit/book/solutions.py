"""A lab's page for an instructor: each stub as students get it, its solution folded under it."""

import copy
import re
from typing import TYPE_CHECKING

from coursekit.notebooks.masters import SOLUTION_TAG, strip_solutions
from coursekit.notebooks.sources import cell_id

if TYPE_CHECKING:
    from nbformat import NotebookNode

_MARKS = re.compile(r"^[ \t]*### (?:(?:BEGIN|END) SOLUTION|STUB:.*)[ \t]*\n?", re.MULTILINE)


def folded(notebook: "NotebookNode", name: str) -> "NotebookNode":
    """Return a copy of an executed master whose solutions are folded away.

    A stub is followed by its solution; what is solution as a whole is folded in place. The
    outputs are the solutions'.

    Raises:
        CourseError: the marks of a cell are unbalanced.
    """
    shown = copy.deepcopy(notebook)
    cells = []
    for number, cell in enumerate(shown.cells, start=1):
        cells.append(cell)
        if SOLUTION_TAG in cell.metadata.get("tags", []):
            if cell.cell_type == "code":
                cell.metadata["tags"] = [*cell.metadata["tags"], "hide-cell"]
            else:
                cell.source = _dropdown(cell.source)
        elif cell.cell_type == "code":
            stub = strip_solutions(cell.source, f"cell {number} of {name}")
            if stub != cell.source:
                code = f"```python\n{_MARKS.sub('', cell.source).rstrip()}\n```"
                cells.append(_markdown(_dropdown(code), name, number))
                cell.source = stub
    shown.cells = cells
    return shown


def drop_outputs(notebook: "NotebookNode") -> None:
    """Take the outputs out: what a solution computes would give it away.

    A cell whose code is folded keeps its output, the diagram of an exercise.
    """
    for cell in notebook.cells:
        if cell.cell_type == "code" and "hide-input" not in cell.metadata.get("tags", []):
            cell.outputs = []
            cell.execution_count = None


def _dropdown(text: str) -> str:
    return f":::::{{dropdown}} Solution\n{text.strip()}\n:::::"


def _markdown(text: str, name: str, number: int) -> "NotebookNode":
    import nbformat

    cell = nbformat.v4.new_markdown_cell(text)
    cell["id"] = cell_id(name, number, "solution")
    return cell
