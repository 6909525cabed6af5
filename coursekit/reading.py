"""How long a page takes its reader: `python -m coursekit.reading` prints a table for authors.

Minutes are words / 100 + visible lines of code / 8 + 1.5 a figure + 2 a question, calibrated on
four readers of thirteen chapters. A chapter is a core, and then optional sections under the heading
"Going deeper", each with its own minutes. A lab takes the minutes that its exercises state.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from coursekit import course
from coursekit.notebooks.prose import SYMBOL, masked
from coursekit.notebooks.sources import read_notebook
from coursekit.syntax import calls
from lmcourse import widgets

if TYPE_CHECKING:
    from nbformat import NotebookNode

WORDS, LINES = 100, 8  # a minute
FIGURE, QUESTION = 1.5, 2  # minutes
STEP = 5  # to which minutes are rounded
ADVISED = 120  # minutes of a lab
DEEPER = "Going deeper"
FOLDED = frozenset({"hide-input", "check", "solution"})
_QUESTION = re.compile(r"^:{3,}\{admonition\} Question", re.MULTILINE)
_PREDICT = re.compile(r"\bPredict\b")
_EXERCISE = re.compile(r"^\*(?P<minutes>\d+) minutes · difficulty", re.MULTILINE)
_STATED = re.compile(r"^\*(?P<minutes>\d+) minutes\*$", re.MULTILINE)
_HEADING = re.compile(r"^(?P<level>##+) +(?P<title>.+)$", re.MULTILINE)
_DIRECTIVE = re.compile(r"^:{3,}.*$", re.MULTILINE)
_TARGET = re.compile(r"\]\([^()\s]*\)")
_RUN = re.compile(rf"{SYMBOL}(?:[{SYMBOL}\n]*{SYMBOL})?")


@dataclass(frozen=True)
class Reading:
    """What a reader of some cells does."""

    words: int = 0  # of prose; a formula or a name in code is one
    lines: int = 0  # of visible code
    figures: int = 0  # with a number, and widgets
    questions: int = 0
    predicts: int = 0  # questions in the text: "Predict ..."
    folded: int = 0  # lines of code that are folded and draw nothing: no minutes, until opened

    @property
    def minutes(self) -> int:
        """Return the estimate, rounded to `STEP`."""
        exact = self.words / WORDS + self.lines / LINES
        return _rounded(exact + self.figures * FIGURE + self.questions * QUESTION)


@dataclass(frozen=True)
class Section:
    """An optional section: its title, what it states, and its estimate."""

    title: str
    stated: int | None
    reading: Reading


@dataclass(frozen=True)
class Page:
    """A page's core, its optional sections, and the minutes of a lab's exercises."""

    core: Reading
    sections: Sequence[Section]
    exercises: int

    @property
    def minutes(self) -> int:
        """Return the minutes of the core, or of a lab's exercises."""
        return _rounded(self.exercises) if self.exercises else self.core.minutes

    @property
    def deeper(self) -> int:
        """Return the minutes that the optional sections state."""
        return sum(section.stated or 0 for section in self.sections)


def reading(source: course.Source) -> Page:
    """Measure a page.

    Raises:
        CourseError: its source cannot be read.
    """
    return of_cells(read_notebook(source.path).cells)


def of_cells(cells: Sequence["NotebookNode"]) -> Page:
    """Measure the cells of a page."""
    core, deeper = divided(cells)
    return Page(
        core=read(core),
        sections=[_section(title, inside) for title, inside in deeper],
        exercises=sum(int(minutes) for minutes in _EXERCISE.findall(_prose(cells))),
    )


def divided(
    cells: Iterable["NotebookNode"],
) -> tuple[list["NotebookNode"], list[tuple[str, list["NotebookNode"]]]]:
    """Divide the cells of a notebook into its core and its optional sections, by title.

    The sections are those of the third level under `DEEPER`, which ends at the next heading of the
    second level. Each heading is at the start of a cell.
    """
    core: list[NotebookNode] = []
    sections: list[tuple[str, list[NotebookNode]]] = []
    inside = False
    for cell in cells:
        heading = _HEADING.match(cell.source) if cell.cell_type == "markdown" else None
        if heading and heading["level"] == "##":
            inside = heading["title"].strip() == DEEPER
        elif heading and heading["level"] == "###" and inside:
            sections.append((heading["title"].strip(), []))
        (sections[-1][1] if inside and sections else core).append(cell)
    return core, sections


def read(cells: Sequence["NotebookNode"]) -> Reading:
    """Measure some cells of a notebook."""
    text = _prose(cells)
    code = [cell for cell in cells if cell.cell_type == "code"]
    visible = [it for it in code if not _is_folded(it)]
    folded = [it for it in code if _is_folded(it) and not _draws(it)]
    return Reading(
        words=count_words(text),
        lines=sum(_lines(it.source) for it in visible),
        figures=sum(
            len(calls(cell.source, "show.figure")) + bool(calls(cell.source, *widgets.__all__))
            for cell in code
        ),
        questions=len(_QUESTION.findall(text)),
        predicts=len(_PREDICT.findall(text)),
        folded=sum(_lines(it.source) for it in folded),
    )


def _lines(source: str) -> int:
    return sum(bool(line.strip()) for line in source.splitlines())


def _is_folded(cell: "NotebookNode") -> bool:
    return bool(FOLDED.intersection(cell.metadata.get("tags", [])))


def _draws(cell: "NotebookNode") -> bool:
    return bool(calls(cell.source, "show.figure", "Diagram"))


def count_words(text: str) -> int:
    """Count the words of a Markdown text as they are shown."""
    prose = _RUN.sub("x", masked(text))
    prose = _TARGET.sub("]", _DIRECTIVE.sub("", prose))
    return sum(bool(re.search(r"\w", word)) for word in prose.split())


def _section(title: str, cells: Sequence["NotebookNode"]) -> Section:
    stated = _STATED.search(_prose(cells))
    return Section(title, int(stated["minutes"]) if stated else None, read(cells))


def _prose(cells: Iterable["NotebookNode"]) -> str:
    return "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


def _rounded(minutes: float) -> int:
    return max(STEP, STEP * round(minutes / STEP))


def main() -> None:
    """Print the table: what each page's core holds, its estimate, and the minutes it states."""
    names = (
        "words",
        "lines",
        "folded",
        "figures",
        "questions",
        "predicts",
        "core",
        "deeper",
        "stated",
    )
    print(f"{'page':28}", *(f"{name:>9}" for name in names))
    for source in course.sources():
        page = reading(source)
        core = page.core
        counts = (core.words, core.lines, core.folded, core.figures, core.questions, core.predicts)
        stated = " + ".join(str(it) for it in (source.minutes, source.deeper) if it)
        values = (*counts, page.minutes, sum(it.reading.minutes for it in page.sections), stated)
        long = source.kind == "lab" and page.minutes > ADVISED
        print(f"{source.label[:27]:28}", *(f"{it:>9}" for it in values), end="")
        print(f"  longer than the {ADVISED} minutes that are advised for a lab" if long else "")


if __name__ == "__main__":
    main()
