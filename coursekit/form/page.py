"""A source and its cells, and a rule that it does not keep."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from coursekit import course
from coursekit.notebooks.sources import read_notebook
from coursekit.reading import of_cells

if TYPE_CHECKING:
    from nbformat import NotebookNode


@dataclass(frozen=True)
class Breach:
    """A rule that a source does not keep."""

    source: course.Source
    line: int
    what: str
    remedy: str

    def __str__(self) -> str:
        folder = course.FOLDERS[self.source.kind]
        return f"{folder}/{self.source.path.name}:{self.line}: {self.what} {self.remedy}"


class Page:
    """A source: its cells, and where they are in its file."""

    def __init__(self, source: course.Source) -> None:
        self.source = source
        self.text = course.read_text(source.path)
        self.cells: list[NotebookNode] = read_notebook(source.path).cells
        self.code = [cell for cell in self.cells if cell.cell_type == "code"]
        self.prose = "\n\n".join(it.source for it in self.cells if it.cell_type == "markdown")
        self.reading = of_cells(self.cells)

    def breach(self, near: str, what: str, remedy: str) -> Breach:
        """Return a breach at the first line that contains a text; else at the first line."""
        at = self.text.find(near) if near else -1
        return Breach(self.source, self.text.count("\n", 0, max(at, 0)) + 1, what, remedy)
