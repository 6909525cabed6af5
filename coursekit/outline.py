"""The course's parts, chapters and widgets in order (``outline.yml``), and what is written."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from coursekit import course
from lmcourse.errors import CourseError

OUTLINE = "outline.yml"
FOLDER = course.FOLDERS["widget"]


@dataclass(frozen=True)
class Chapter:
    """One chapter of the map: written (then `sources` has it and its lab) or planned."""

    number: str
    title: str
    question: str
    needs: tuple[str, ...]  # numbers
    sources: tuple[course.Source, ...]

    @property
    def written(self) -> course.Source | None:
        """The chapter's own source."""
        return next((source for source in self.sources if source.kind == "chapter"), None)


@dataclass(frozen=True)
class Part:
    """A part of the course: chapters, or the pages of widgets."""

    title: str
    chapters: tuple[Chapter, ...] = ()
    gallery: tuple[course.Source, ...] = ()


def read() -> list[Part]:
    """Read the outline.

    Raises:
        CourseError: it cannot be read, a source is not in it, or it needs what comes later.
    """
    import yaml

    path = course.root() / OUTLINE
    sources = course.sources()
    try:
        parts = [_part(entry, sources) for entry in yaml.safe_load(course.read_text(path))]
    except (yaml.YAMLError, TypeError, KeyError, AttributeError) as error:
        what = " ".join(str(error).split())
        raise CourseError(
            f"{OUTLINE} does not have the form that its first lines describe: "
            f"{type(error).__name__}: {what}.",
            "Fix the entry; the others show the form.",
        ) from error
    _check(parts, sources)
    return parts


def _part(entry: dict[str, Any], sources: Sequence[course.Source]) -> Part:
    if "gallery" not in entry:
        return Part(entry["part"], tuple(_chapter(each, sources) for each in entry["chapters"]))
    pages = {source.slug: source for source in sources if source.kind == "widget"}
    absent = [name for name in entry["gallery"] if name not in pages]
    if absent:
        raise CourseError(
            f"{OUTLINE} names {absent[0]}, but {FOLDER}/{absent[0]}.md does not exist.",
            f"Write the page, or remove the name. The pages are: {', '.join(pages) or 'none'}.",
        )
    twice = [name for name in entry["gallery"] if entry["gallery"].count(name) > 1]
    if twice:
        raise CourseError(f"{OUTLINE} names {twice[0]} twice.", "List each page once.")
    return Part(entry["part"], gallery=tuple(pages[name] for name in entry["gallery"]))


def _chapter(entry: dict[str, str], sources: Sequence[course.Source]) -> Chapter:
    own = tuple(source for source in sources if source.number == entry["number"])
    chapter = next((source for source in own if source.kind == "chapter"), None)
    return Chapter(
        number=entry["number"],
        title=chapter.title if chapter else entry["title"],
        question=(chapter.question if chapter else entry["question"]) or "",
        needs=tuple(entry["needs"]),
        sources=own,
    )


def _check(parts: Sequence[Part], sources: Sequence[course.Source]) -> None:
    """Raise unless every source is listed, and every chapter is after those it needs."""
    numbers = [chapter.number for part in parts for chapter in part.chapters]
    pages = [page for part in parts for page in part.gallery]
    for source in sources:
        listed = source in pages if source.kind == "widget" else source.number in numbers
        if not listed:
            raise CourseError(
                f"{source.path.name} is not listed in {OUTLINE}.",
                f"Add the number {source.number} to the part where it belongs."
                if source.number
                else f"Add the name {source.slug} to the part that has a `gallery`.",
            )
    for chapter in (chapter for part in parts for chapter in part.chapters):
        before = numbers[: numbers.index(chapter.number)]
        late = [number for number in chapter.needs if number not in before]
        if late:
            raise CourseError(
                f"Chapter {chapter.number} needs {late[0]}, which is not before it in {OUTLINE}.",
                "Name an earlier chapter, or change the order.",
            )
