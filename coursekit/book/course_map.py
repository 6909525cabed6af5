"""The course's map on the book's first page: cards of what is written, the plan, the widgets."""

from collections.abc import Mapping, Sequence

from coursekit.book.cache import Executed
from coursekit.notebooks.workbook import product_name
from coursekit.outline import Chapter, Part

_ROMAN = ("", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X")


def course_map(parts: Sequence[Part], executed: Mapping[str, Executed]) -> str:
    """Write the course's map in MyST: cards of what is written, the plan, the widgets' cards."""
    written = [each for part in parts for each in part.chapters if each.sources]
    lines = ["## Chapters and labs", "", "::::{grid} 1 1 2 2", ""]
    lines += [_card(chapter, executed) for chapter in written]
    lines += ["::::", "", _MEASURED, "", *_plan(parts)]
    return "\n".join([*lines, *(_gallery(part) for part in parts if part.gallery)])


_MEASURED = (
    "The seconds are CPU time of all cells on one thread, and the memory is their peak, as "
    "measured when this book was built."
)


def _plan(parts: Sequence[Part]) -> list[str]:
    """Write the parts and chapters of the course, folded, if some are not written yet."""
    chapters = [each for part in parts for each in part.chapters]
    if all(each.sources for each in chapters):
        return []
    count = f"{len(chapters)} chapters" if len(chapters) > 1 else "one chapter"
    lines = [f":::{{dropdown}} The plan of the whole course: {count}", ""]
    for number, part in enumerate((part for part in parts if part.chapters), start=1):
        lines += [f"**Part {_ROMAN[number]}: {part.title}**", ""]
        lines += [f"- {_planned(each)}" for each in part.chapters]
        lines.append("")
    return [*lines, ":::", ""]


def _planned(chapter: Chapter) -> str:
    title = f"{chapter.number} {chapter.title}"
    if not chapter.sources:
        return f"{title} (planned). {chapter.question}"
    return f"[{title}]({product_name(chapter.sources[0])}). {chapter.question}"


def _gallery(part: Part) -> str:
    """Write the widgets' cards: each one's name and its question."""
    lines = [
        "",
        f"## {part.title}",
        "",
        "Interactive figures. Each has its own page: what it shows, how to read it, its keys, and "
        "how to make one from your own arrays.",
        "",
        "::::{grid} 1 2 2 3",
        "",
    ]
    for page in part.gallery:
        link = f":link: {product_name(page)}"
        lines += [f":::{{card}} {page.title}", link, "", page.question or "", ":::", ""]
    return "\n".join([*lines, "::::", ""])


def _card(chapter: Chapter, executed: Mapping[str, Executed]) -> str:
    """Write a chapter's card: its question, and what it and its lab take."""
    lines = [f":::{{card}} {chapter.number} {chapter.title}"]
    lines += [f":link: {product_name(chapter.sources[0])}", "", chapter.question, ""]
    for source in chapter.sources:
        cost = executed[product_name(source)]
        page = f"[{source.label}]({product_name(source)})"
        duration = f"{source.duration}; " if source.minutes else ""
        lines.append(f"- {page}: {duration}{cost.cpu:.0f} s and {cost.megabytes:.0f} MB to run")
    return "\n".join([*lines, ":::", ""])
