"""Lay out the folder that mystmd reads: executed notebooks, the landing page, configuration.

The tracked ``myst.yml`` says what the book is; here its table of contents gets the parts of the
outline, and its pages are the executed notebooks.
"""

import copy
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmcourse import course
from lmcourse.book import solutions
from lmcourse.book.cache import Executed
from lmcourse.book.outline import Chapter, Part
from lmcourse.errors import CourseError
from lmcourse.notebooks.citations import read_references
from lmcourse.notebooks.masters import student_version
from lmcourse.notebooks.sources import cell_id, to_bytes
from lmcourse.notebooks.workbook import handed_out, product_name

if TYPE_CHECKING:
    from nbformat import NotebookNode

CONFIGURATION, INDEX, BIBLIOGRAPHY = "myst.yml", "index.md", "references.bib"
MAP = "% course-map"  # the line of index.md in whose place the map of the course stands
_DOWNLOADS = "downloads"


def stage(
    executed: Sequence[Executed],
    parts: Sequence[Part],
    folder: Path,
    template: str,
    show_solutions: bool = False,
) -> None:
    """Write everything that mystmd needs into an empty folder.

    Args:
        executed: every source of the course.
        template: mystmd's site template: a folder, or the name of a published one.
        show_solutions: give the labs' solutions, folded.

    Raises:
        CourseError: a source cannot be turned into a page.
    """
    root = course.root()
    by_name = {product_name(each.source): each for each in executed}
    references = read_references(root / BIBLIOGRAPHY)
    shutil.copyfile(root / BIBLIOGRAPHY, folder / BIBLIOGRAPHY)
    for each in executed:
        _stage_page(each, folder, references, show_solutions)
    for name in course.FOLDERS.values():
        _copy_figures(root / name, folder / name)
    index = course.read_text(root / INDEX)
    if index.count(MAP) != 1:
        raise CourseError(
            f"{INDEX} has {index.count(MAP)} lines `{MAP}`; the course's map needs one.",
            "Put that line where the map shall stand.",
        )
    written = index.replace(MAP, course_map(parts, by_name))
    (folder / INDEX).write_text(written, encoding="utf-8")
    _write_configuration(parts, folder, template)


def _stage_page(
    executed: Executed, folder: Path, references: dict[str, dict[str, str]], show_solutions: bool
) -> None:
    """Write a page's notebook, and the two files that it offers."""
    import jupytext

    source = executed.source
    offered = handed_out(source, executed.notebook, references)
    page, text = executed.notebook, course.read_text(source.path)
    if source.kind == "lab":
        page = student_version(executed.notebook, source.path.name)
        for notebook in (offered, page):
            solutions.drop_outputs(notebook)
        text = jupytext.writes(page, fmt="md:myst")
        if show_solutions:
            page = solutions.folded(executed.notebook, source.path.name)
    path, offer = folder / product_name(source), folder / _DOWNLOADS / product_name(source)
    for each in (path, offer):
        each.parent.mkdir(parents=True, exist_ok=True)
    offer.write_bytes(to_bytes(offered))
    offer.with_suffix(".md").write_text(text, encoding="utf-8")
    path.write_bytes(to_bytes(_with_front_matter(page, source)))


def _with_front_matter(notebook: "NotebookNode", source: course.Source) -> "NotebookNode":
    """Return a copy that starts with what mystmd wants to know of a page."""
    import nbformat
    import yaml

    offer = Path("..") / _DOWNLOADS / product_name(source)
    matter: dict[str, Any] = {
        "title": source.title,
        "description": source.question or f"The exercises to chapter {source.number}.",
        "downloads": [
            {
                "file": offer.with_suffix(suffix).as_posix(),
                "title": title,
                "filename": f"{source.slug}{suffix}",
            }
            for suffix, title in ((".ipynb", "Notebook (.ipynb)"), (".md", "Text (.md)"))
        ],
    }
    if source.number:
        matter["short_title"] = source.label
    staged = copy.deepcopy(notebook)
    text = f"---\n{yaml.safe_dump(matter, allow_unicode=True)}---"
    staged.cells.insert(0, nbformat.v4.new_markdown_cell(text))
    for index, cell in enumerate(staged.cells):  # mystmd wants ids that no other page has
        cell["id"] = cell_id(product_name(source), index, cell.cell_type)
    return staged


def _copy_figures(origin: Path, target: Path) -> None:
    """Copy what stands beside the sources, such as drawings."""
    for path in sorted(origin.rglob("*")):
        hidden = any(part.startswith((".", "__")) for part in path.relative_to(origin).parts)
        if path.is_file() and not hidden and path.suffix in {".png", ".svg", ".jpg", ".webp"}:
            destination = target / path.relative_to(origin)
            destination.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, destination)


def _write_configuration(parts: Sequence[Part], folder: Path, template: str) -> None:
    """Write ``myst.yml`` with the outline's parts as its table of contents."""
    import yaml

    try:
        configuration = yaml.safe_load(course.read_text(course.root() / CONFIGURATION))
        project, site = configuration["project"], configuration["site"]
    except (yaml.YAMLError, TypeError, KeyError) as error:
        raise CourseError(
            f"{CONFIGURATION} is not a book's configuration: {' '.join(str(error).split())}.",
            "Restore it, for example with `git checkout myst.yml`, or mend the line.",
        ) from error
    toc: list[dict[str, Any]] = [{"file": INDEX}]
    for number, part in enumerate(parts, start=1):
        written = [source for chapter in part.chapters for source in chapter.sources]
        pages = [{"file": product_name(source)} for source in (*written, *part.gallery)]
        if pages:
            title = part.title if part.gallery else f"Part {_ROMAN[number]}: {part.title}"
            toc.append({"title": title, "children": pages})
    project["toc"] = toc
    site["template"] = template
    text = yaml.safe_dump(configuration, allow_unicode=True, sort_keys=False)
    (folder / CONFIGURATION).write_text(text, encoding="utf-8")


_ROMAN = ("", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X")


def course_map(parts: Sequence[Part], executed: Mapping[str, Executed]) -> str:
    """Write the course's map in MyST: a grid of cards for each part, then for the widgets."""
    lines = ["## The course", ""]
    for number, part in enumerate((part for part in parts if part.chapters), start=1):
        lines += [f"### Part {_ROMAN[number]}: {part.title}", "", "::::{grid} 1 1 2 2", ""]
        lines += [_card(chapter, executed) for chapter in part.chapters]
        lines += ["::::", ""]
    measured = (
        "Seconds and memory are what all cells took when this book was built, on one thread. What "
        "is marked as planned is not written yet."
    )
    return "\n".join([*lines, measured, *(_gallery(part) for part in parts if part.gallery)])


def _gallery(part: Part) -> str:
    """Write the widgets' cards: each one's name and its question."""
    lines = [
        "",
        f"## {part.title}",
        "",
        "Figures that you can move. Each has a page of its own: what it shows, how to read it, its "
        "keys, and how to make one from your own arrays.",
        "",
        "::::{grid} 1 2 2 3",
        "",
    ]
    for page in part.gallery:
        link = f":link: {product_name(page)}"
        lines += [f":::{{card}} {page.title}", link, "", page.question or "", ":::", ""]
    return "\n".join([*lines, "::::", ""])


def _card(chapter: Chapter, executed: Mapping[str, Executed]) -> str:
    """Write a chapter's card: its question, what it builds on, what it takes, its lab."""
    title = f"{chapter.number} {chapter.title}"
    lines = [f":::{{card}} {title}"]
    body = [chapter.question, ""]
    if not chapter.sources:
        return "\n".join([*lines, ":footer: Planned", "", *body, ":::", ""])
    needs = ", ".join(chapter.needs) or "nothing"
    body += [f"**Needs** {needs}", ""]
    for source in chapter.sources:
        cost = executed[product_name(source)]
        page = f"[{source.label}]({product_name(source)})"
        minutes = f"{source.minutes} minutes to do, " if source.minutes else ""
        body.append(f"- {page}: {minutes}{cost.seconds:.0f} s and {cost.megabytes:.0f} MB to run")
    link = f":link: {product_name(chapter.sources[0])}"
    return "\n".join([*lines, link, "", *body, ":::", ""])
