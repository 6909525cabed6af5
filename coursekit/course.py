"""What the course holds: its chapters, labs and widgets' pages, and the student's folder."""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from coursekit.metadata import front_matter
from lmcourse.checkout import products, read_text, root
from lmcourse.errors import CourseError
from lmcourse.files import expanded

__all__ = [
    "FOLDERS",
    "INSTALL",
    "Kind",
    "Source",
    "chapter",
    "products",
    "read_text",
    "root",
    "select",
    "sources",
    "workbook",
]

Kind = Literal["chapter", "lab", "widget"]

INSTALL = "Run `python -m coursekit.install --dev` in the course's folder."

FOLDERS: dict[Kind, str] = {"chapter": "chapters", "lab": "labs", "widget": "gallery"}
_NUMBERED = re.compile(r"(?P<number>\d\d)-[^.]+")
_NAMES: dict[Kind, "re.Pattern[str]"] = {
    "chapter": _NUMBERED,
    "lab": _NUMBERED,
    "widget": re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*"),
}
_LAST = "~"  # sorts after every number
_FENCE = re.compile(r"\s{0,3}(`{3,}|~{3,}|:{3,})")


@dataclass(frozen=True)
class Source:
    """One tracked MyST Markdown notebook: a chapter, a lab's master, or a widget's page."""

    path: Path
    kind: Kind
    number: str  # two digits: "02"; a widget's page has none: ""
    title: str
    slug: str  # "02-recurrent-language-models", "attention-heads"
    question: str | None = None
    minutes: int | None = None  # of the core, or of a lab
    deeper: int | None = None  # of a chapter's optional sections

    @property
    def label(self) -> str:
        """Name the source as readers do: ``Chapter 02``, ``Widget Attention heads``."""
        return f"{self.kind.capitalize()} {self.number or self.title}"

    @property
    def duration(self) -> str:
        """Say how long it takes: ``70 minutes, 25 more to go deeper``; "" if it is not stated."""
        core = f"{self.minutes} minutes" if self.minutes else ""
        return f"{core}, {self.deeper} more to go deeper" if core and self.deeper else core

    @property
    def address(self) -> str:
        """Return the name of the source's page in the book: ``recurrent-language-models``."""
        return self.slug.removeprefix(f"{self.number}-")


def workbook() -> Path:
    """Return the student's folder: ``$LMCOURSE_WORKBOOK``, else ``workbook`` in the checkout.

    It need not exist yet.
    """
    named = os.environ.get("LMCOURSE_WORKBOOK")
    return expanded(named).absolute() if named else root() / "workbook"


def sources(kind: Kind | None = None) -> list[Source]:
    """List the course's sources by number, each chapter before its lab, then the widgets' pages.

    Files of another name are no sources: a chapter's and a lab's starts with two digits and a
    hyphen, a widget's page has lowercase words with hyphens.

    Args:
        kind: list this sort only.

    Raises:
        CourseError: a source cannot be read, or two of one kind have the same number.
    """
    found: dict[tuple[str, Kind, str], Source] = {}
    for each, folder in FOLDERS.items():
        if kind not in (None, each):
            continue
        for path in sorted((root() / folder).glob("*.md")):
            if not _NAMES[each].fullmatch(path.stem):
                continue
            source = _read(path, each)
            name = "" if source.number else source.slug
            twin = found.setdefault((source.number or _LAST, each, name), source)
            if twin is not source:
                raise CourseError(
                    f"Two {folder} have the number {source.number}: "
                    f"{twin.path.name} and {path.name}.",
                    "Give one of them another number.",
                )
    return [found[key] for key in sorted(found)]


def select(number: str) -> list[Source]:
    """Return the chapter and the lab of one number; ``"2"`` and ``"02"`` both name chapter 02.

    The name of a widget's page (``"attention-heads"``) picks that page.

    Raises:
        CourseError: there is none of these.
    """
    everything = sources()
    wanted = number.strip()
    names = {wanted.zfill(2), wanted}
    chosen = [source for source in everything if (source.number or source.slug) in names]
    if chosen:
        return chosen
    there = dict.fromkeys(source.number or source.slug for source in everything)
    raise CourseError(
        f"There is no chapter {number!r} in this course.",
        f"Choose one of these: {', '.join(there)}."
        if there
        else "No chapter has been written yet.",
    )


def chapter(number: str) -> Source:
    """Return the chapter of a number.

    Raises:
        CourseError: there is none.
    """
    chapters = {source.number: source for source in sources("chapter")}
    found = chapters.get(number.strip().zfill(2))
    if found is None:
        raise CourseError(
            f"There is no chapter {number!r} in this course.",
            f"Choose one of these: {', '.join(chapters)}." if chapters else "None is written yet.",
        )
    return found


def _read(path: Path, kind: Kind) -> Source:
    """Read a source's front matter and first heading."""
    text = read_text(path)
    matter, body = front_matter(text, path)
    question = matter.get("question")
    number = "" if kind == "widget" else path.stem[:2]
    words = path.stem.removeprefix(f"{number}-")
    return Source(
        path=path,
        kind=kind,
        number=number,
        title=_heading(body) or str(matter.get("title") or words.replace("-", " ")),
        slug=path.stem,
        question=None if question is None else str(question).strip(),
        minutes=matter.get("minutes"),
        deeper=matter.get("deeper"),
    )


def _heading(body: str) -> str | None:
    """Return the text of the first ``# `` heading outside fences (code has # too)."""
    fence = ""
    for line in body.splitlines():
        marks = _FENCE.match(line)
        if marks and not fence:
            fence = marks[1]
        elif fence:
            closes = marks and line.strip() == marks[1] and marks[1].startswith(fence)
            fence = "" if closes else fence
        elif line.startswith("# "):
            return line[2:].strip()
    return None
