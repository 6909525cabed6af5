"""A lab's student version: its master without the solutions."""

import copy
import re
from typing import TYPE_CHECKING

from lmcourse.errors import CourseError

if TYPE_CHECKING:
    from nbformat import NotebookNode

SOLUTION_TAG = "solution"
PLACEHOLDER = (
    "# Your code here.",
    'raise NotImplementedError("write this function, then run the check below")',
)

_MARK = re.compile(r"(?P<indent>[ \t]*)### (?P<which>BEGIN|END) SOLUTION\s*")
_STUB = re.compile(r"[ \t]*### STUB:(?: (?P<text>.*))?")
_LEFT_OVER = re.compile(r"(BEGIN|END)\s+SOLUTION|#\s*STUB:", re.IGNORECASE)


def student_version(notebook: "NotebookNode", name: str = "the lab") -> "NotebookNode":
    """Return a copy of a master without its solutions.

    Cells tagged ``solution`` are left out. In code cells each region from ``### BEGIN SOLUTION``
    to ``### END SOLUTION`` becomes, at its own indentation, the ``### STUB:`` lines that it starts
    with, or else `PLACEHOLDER`. The remaining cells keep their ids. ``name`` is the file's name,
    for the error.

    Raises:
        CourseError: the marks of a cell are unbalanced or nested, or are where they have no
            effect, so that a solution might leak.
    """
    student = copy.deepcopy(notebook)
    kept = []
    for number, cell in enumerate(student.cells, start=1):
        if SOLUTION_TAG in cell.metadata.get("tags", []):
            continue
        location = f"cell {number} of {name}"
        if cell.cell_type == "code":
            cell.source = strip_solutions(cell.source, location)
        _refuse_left_overs(cell.source, location)
        kept.append(cell)
    student.cells = kept
    return student


def strip_solutions(source: str, location: str = "the cell") -> str:
    """Replace each solution region of a code cell's source; ``location`` names the cell.

    Raises:
        CourseError: the marks are unbalanced or nested.
    """
    written: list[str] = []
    region: list[str] = []
    begin: tuple[int, str] | None = None  # where the open region began, and its indentation
    for number, line in enumerate(source.split("\n"), start=1):
        mark = _MARK.fullmatch(line)
        if mark is None:
            (written if begin is None else region).append(line)
        elif mark["which"] == "BEGIN":
            if begin is not None:
                raise _misplaced(location, number, f"a solution is open since line {begin[0]}")
            begin, region = (number, mark["indent"]), []
        elif begin is None:
            raise _misplaced(location, number, "no solution is open there")
        else:
            written += [(begin[1] + text).rstrip() for text in _stub(region, location, begin[0])]
            begin = None
    if begin is not None:
        raise _misplaced(location, begin[0], "the solution that begins there has no end")
    return "\n".join(written)


def _stub(region: list[str], location: str, begin: int) -> list[str]:
    """Return the lines that replace a region, without its indentation."""
    own = []
    for line in region:
        stub = _STUB.fullmatch(line)
        if stub is None:
            break
        own.append(stub["text"] or "")
    for number, line in enumerate(region[len(own) :], start=begin + len(own) + 1):
        if _STUB.fullmatch(line):
            raise _misplaced(location, number, "a STUB line is after lines of the solution")
    return own or list(PLACEHOLDER)


def _refuse_left_overs(source: str, location: str) -> None:
    """Raise if a mark was not understood: in prose, after code, or written differently."""
    for number, line in enumerate(source.split("\n"), start=1):
        if _LEFT_OVER.search(line):
            raise _misplaced(location, number, f"{line.strip()!r} has no effect there")


def _misplaced(location: str, line: int, what: str) -> CourseError:
    return CourseError(
        f"The solution marks in {location} are wrong, line {line}: {what}.",
        "Pair each `### BEGIN SOLUTION` with one `### END SOLUTION`, each on a line of its own in "
        "a code cell, nest none, and put `### STUB: ` lines first.",
    )
