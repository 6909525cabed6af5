"""How long a page takes its reader: `python -m coursekit.reading` prints a table for authors.

A chapter or a widget's page takes a minute for 130 words, for 12 visible lines of code, and for
each question, and the time that its cells run. A lab takes the minutes that its exercises state.
"""

import re
from dataclasses import dataclass

from coursekit import course
from coursekit.notebooks.prose import SYMBOL, masked
from coursekit.notebooks.sources import read_notebook
from lmcourse.errors import CourseError

WORDS, LINES = 130, 12  # a minute
STEP = 5  # to which the estimate is rounded
ADVISED = 120  # minutes of a lab
TIMES = "benchmarks/notebooks.md"
_FOLDED = {"hide-input", "check", "solution"}
_QUESTION = re.compile(r"^:{3,}\{admonition\} Question", re.MULTILINE)
_EXERCISE = re.compile(r"^\*(?P<minutes>\d+) minutes · difficulty", re.MULTILINE)
_DIRECTIVE = re.compile(r"^:{3,}.*$", re.MULTILINE)
_TARGET = re.compile(r"\]\([^()\s]*\)")
_RUN = re.compile(rf"{SYMBOL}(?:[{SYMBOL}\n]*{SYMBOL})?")


@dataclass(frozen=True)
class Reading:
    """What a reader of a page does."""

    words: int  # of prose; a formula or a name in code is one
    lines: int  # of visible code
    questions: int
    seconds: int  # that the cells run; 0 where nobody has measured it
    exercises: int  # their minutes, as a lab states them

    @property
    def minutes(self) -> int:
        """Return the estimate, rounded to `STEP`."""
        exact = self.words / WORDS + self.lines / LINES + self.questions + self.seconds / 60
        return STEP * round((self.exercises or exact) / STEP)


def reading(source: course.Source) -> Reading:
    """Measure a page.

    Raises:
        CourseError: its source or the table of running times cannot be read.
    """
    cells = read_notebook(source.path).cells
    text = "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    visible = [
        cell.source
        for cell in cells
        if cell.cell_type == "code" and not _FOLDED.intersection(cell.metadata.get("tags", []))
    ]
    return Reading(
        words=count_words(text),
        lines=sum(bool(line.strip()) for code in visible for line in code.splitlines()),
        questions=len(_QUESTION.findall(text)),
        seconds=_seconds().get(f"{source.kind} {source.number or source.slug}", 0),
        exercises=sum(int(minutes) for minutes in _EXERCISE.findall(text)),
    )


def count_words(text: str) -> int:
    """Count the words of a Markdown text as they are shown."""
    prose = _RUN.sub("x", masked(text))
    prose = _TARGET.sub("]", _DIRECTIVE.sub("", prose))
    return sum(bool(re.search(r"\w", word)) for word in prose.split())


def _seconds() -> dict[str, int]:
    """Return the running times that are measured, by the names in their table."""
    try:
        text = course.read_text(course.root() / TIMES)
    except CourseError:  # nobody has measured them
        return {}
    rows = re.findall(r"^\| ([a-z]+ [\w-]+) \| (\d+) ", text, re.MULTILINE)
    return {name: int(seconds) for name, seconds in rows}


def main() -> None:
    """Print the table: what each page holds, its estimate, and the minutes that it states."""
    print(f"{'page':28}{'words':>7}{'lines':>7}{'questions':>11}{'seconds':>9}", end="")
    print(f"{'estimate':>10}{'stated':>8}")
    for source in course.sources():
        found = reading(source)
        print(f"{source.label[:27]:28}{found.words:7}{found.lines:7}{found.questions:11}", end="")
        print(f"{found.seconds:9}{found.minutes:10}{source.minutes or '':>8}", end="")
        long = source.kind == "lab" and found.minutes > ADVISED
        print(f"  longer than the {ADVISED} minutes that are advised for a lab" if long else "")


if __name__ == "__main__":
    main()
