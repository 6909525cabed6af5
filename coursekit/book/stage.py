"""Lay out the folder that mystmd reads: executed notebooks, the landing page, configuration.

The tracked ``myst.yml`` says what the book is; here its table of contents gets the parts of the
outline, and its pages are the executed notebooks.
"""

import copy
import posixpath
import re
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coursekit import course
from coursekit.book import solutions
from coursekit.book.cache import Executed
from coursekit.book.content import BEFORE, SLIDES
from coursekit.book.course_map import course_map
from coursekit.book.published import Published
from coursekit.citation import bibtex
from coursekit.notebooks import glossary
from coursekit.notebooks.links import links_of
from coursekit.notebooks.masters import student_version
from coursekit.notebooks.sources import (
    cell_id,
    slide_only_cells,
    to_bytes,
    without_slide_only,
)
from coursekit.notebooks.targets import BIBLIOGRAPHY, Targets
from coursekit.notebooks.workbook import GLOSSARY as NOTEBOOK
from coursekit.notebooks.workbook import handed_out, product_name
from coursekit.outline import Part
from lmcourse.errors import CourseError

if TYPE_CHECKING:
    from nbformat import NotebookNode

CONFIGURATION, INDEX, GLOSSARY = "myst.yml", "index.md", f"{glossary.PAGE}.md"
MAP, GET, CITE = "% course-map", "% get-the-course", "% citation"  # lines of index.md
_TERMS = f"""
## Terms

Each term is defined in one chapter; the [glossary]({GLOSSARY}) lists them all.
"""
_DOWNLOADS = "downloads"
_NUMBERED = re.compile(r"Figure (?=\d+$)")


def stage(
    executed: Sequence[Executed],
    parts: Sequence[Part],
    folder: Path,
    template: str,
    show_solutions: bool = False,
    published: Published | None = None,
    with_slides: bool = False,
) -> None:
    """Write everything that mystmd needs into an empty folder.

    Args:
        executed: every source of the course.
        template: mystmd's site template: a folder, or the name of a published one.
        show_solutions: give the labs' solutions, folded.
        published: where the book will be served. The notebooks that pages offer link to it; without
            it they link to each other, as in the workbook.
        with_slides: add, as pages of their own, what only the slides show.

    Raises:
        CourseError: a source cannot be turned into a page.
    """
    root, published = course.root(), published or Published()
    targets = Targets.of({each.source: each.notebook for each in executed})
    by_name = {product_name(each.source): each for each in executed}
    shutil.copyfile(root / BIBLIOGRAPHY, folder / BIBLIOGRAPHY)
    slides: list[str] = []
    for each in executed:
        slides += stage_source(each, folder, targets, show_solutions, published, with_slides)
    for name in course.FOLDERS.values():
        _copy_figures(root / name, folder / name)
    shown = course_map(parts, by_name) + (_TERMS if targets.terms else "")
    index = targets.staged(course.read_text(root / INDEX), "", INDEX)
    (folder / INDEX).write_text(_index(index, shown, published), encoding="utf-8")
    if targets.terms:
        text = targets.staged(glossary.page(targets.terms), "", GLOSSARY)
        (folder / GLOSSARY).write_text(text, encoding="utf-8")
    _write_configuration(parts, folder, template, bool(targets.terms), slides)


def stage_source(
    executed: Executed,
    folder: Path,
    targets: Targets,
    show_solutions: bool,
    published: Published,
    with_slides: bool,
) -> list[str]:
    """Write a source's page, and what only its slides show as another; return the name of that one.

    Raises:
        CourseError: the source cannot be turned into a page.
    """
    own = slide_only_cells(executed.source.path) if with_slides else []
    before = Counter(position for position, _ in own)
    _stage_page(executed, folder, targets, show_solutions, published, before)
    return [_stage_slides(executed.source, own, folder, targets)] if own else []


def _index(text: str, course_map: str, published: Published) -> str:
    """Return the first page's text with the lines that depend on the sources and the address."""
    for line in (MAP, GET, CITE):
        if text.count(line) != 1:
            raise CourseError(
                f"{INDEX} has {text.count(line)} lines `{line}`; it needs one.",
                "Put that line where the course's map, the commands to get the course, or its "
                "citation should be.",
            )
    repository = published.repository
    get = [f"git clone {repository.url}", f"cd {repository.name}"] if repository else []
    said = "" if repository else "In a checkout of the course:\n\n"
    commands = "\n".join(["```bash", *get, "make lab", "```"])
    cite = f"```bibtex\n{bibtex(repository)}\n```"
    return text.replace(MAP, course_map).replace(GET, said + commands).replace(CITE, cite)


def _stage_page(
    executed: Executed,
    folder: Path,
    targets: Targets,
    show_solutions: bool,
    published: Published,
    slide_only: Mapping[int, int],
) -> None:
    """Write a page's notebook, and the two files that it offers.

    Args:
        slide_only: how many cells that only the slides show come just before a cell.
    """
    import jupytext

    source = executed.source
    offered = download(source, executed.notebook, targets, published)
    page, text = executed.notebook, without_slide_only(course.read_text(source.path))
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
    linked = _linked(page, source, targets)
    for number, cell in enumerate(linked.cells):
        if number in slide_only:
            cell.metadata.setdefault("slideshow", {})[BEFORE] = slide_only[number]
    path.write_bytes(to_bytes(_with_front_matter(linked, source)))


def _stage_slides(
    source: course.Source,
    found: "Sequence[tuple[int, NotebookNode]]",
    folder: Path,
    targets: Targets,
) -> str:
    """Write what only a chapter's slides show as a page of its own, and return its name.

    So nothing of it is on the chapter's page, or counts there: anchors, equations, works, search.
    """
    import nbformat

    path = Path(course.FOLDERS[source.kind]) / f"{SLIDES}{source.slug}.ipynb"
    notebook = nbformat.v4.new_notebook(cells=[copy.deepcopy(cell) for _, cell in found])
    notebook.nbformat_minor = 5
    for number, cell in enumerate(notebook.cells, start=1):
        name = f"Slide-only cell {number} of {source.path.name}"
        cell.source = targets.staged(cell.source, course.FOLDERS[source.kind], name)
    matter = f"---\ntitle: Slides of {source.slug}\n---"
    notebook.cells.insert(0, nbformat.v4.new_markdown_cell(matter))
    for index, cell in enumerate(notebook.cells):
        cell["id"] = cell_id(path.name, index, cell.cell_type)
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_bytes(to_bytes(notebook))
    return path.as_posix()


def _link_to_the_book(notebook: "NotebookNode", folder: str, base_url: str) -> None:
    """Let links to other notebooks lead to the book: an offered notebook has no neighbors."""
    pages = {product_name(source): source.address for source in course.sources()}
    pages[NOTEBOOK] = glossary.PAGE
    for cell in notebook.cells:
        if cell.cell_type != "markdown":
            continue
        for link in reversed(list(links_of(cell.source))):
            path = posixpath.normpath(posixpath.join(folder, link.target.partition("#")[0]))
            if path in pages:
                end = link.target_start + len(link.target)
                url = f"{base_url}/{pages[path]}.html"
                cell.source = cell.source[: link.target_start] + url + cell.source[end:]


def download(
    source: course.Source, notebook: "NotebookNode", targets: Targets, published: Published
) -> "NotebookNode":
    """Return the notebook that a page offers: it installs the package before its first code cell.

    Colab and JupyterHub open the same file.
    """
    import nbformat

    offered = handed_out(source, notebook, targets)
    if published.base_url:
        _link_to_the_book(offered, course.FOLDERS[source.kind], published.base_url)
    kinds = [cell.cell_type for cell in offered.cells]
    cell = nbformat.v4.new_code_cell(published.installation)
    cell["id"] = cell_id(f"{source.path.name}, installation", 0, "code")
    offered.cells.insert(kinds.index("code"), cell)
    return offered


def _linked(notebook: "NotebookNode", source: course.Source, targets: Targets) -> "NotebookNode":
    """Return a copy whose links lead to the staged pages, and whose definitions are targets."""
    linked = copy.deepcopy(notebook)
    folder, defines = course.FOLDERS[source.kind], source.kind == "chapter"
    for number, cell in enumerate(linked.cells, start=1):
        if cell.cell_type == "markdown":
            name = f"Cell {number} of {source.path.name}"
            cell.source = targets.staged(cell.source, folder, name, defines=defines)
    return linked


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
    staged = copy.deepcopy(notebook)
    if source.number:
        matter["short_title"] = source.label
        matter["numbering"] = {"enumerator": f"{_number_of(source)}.%s"}
        _number_figures(staged, _number_of(source))
    text = f"---\n{yaml.safe_dump(matter, allow_unicode=True)}---"
    staged.cells.insert(0, nbformat.v4.new_markdown_cell(text))
    for index, cell in enumerate(staged.cells):  # mystmd wants ids that no other page has
        cell["id"] = cell_id(product_name(source), index, cell.cell_type)
    return staged


def _number_of(source: course.Source) -> str:
    """Return what precedes the numbers of equations and figures: 8 in chapter 08, L8 in lab 08."""
    return f"{'L' if source.kind == 'lab' else ''}{int(source.number)}"


def _number_figures(notebook: "NotebookNode", number: str) -> None:
    """Let the figures of a page carry its number, as its equations do: Figure 8.3."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            for words in output.get("metadata", {}).values():
                title = words.get("title") if isinstance(words, dict) else None
                if not title or not _NUMBERED.match(title):
                    continue
                words["title"] = _NUMBERED.sub(f"Figure {number}.", title)
                for form in ("text/html", "text/plain"):
                    if form in output.data:
                        written = output.data[form].replace(f"{title}.", f"{words['title']}.", 1)
                        output.data[form] = written


def _copy_figures(origin: Path, target: Path) -> None:
    """Copy what is beside the sources, such as drawings."""
    for path in sorted(origin.rglob("*")):
        hidden = any(part.startswith((".", "__")) for part in path.relative_to(origin).parts)
        if path.is_file() and not hidden and path.suffix in {".png", ".svg", ".jpg", ".webp"}:
            destination = target / path.relative_to(origin)
            destination.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, destination)


def _write_configuration(
    parts: Sequence[Part], folder: Path, template: str, with_glossary: bool, slides: Sequence[str]
) -> None:
    """Write ``myst.yml`` with the outline's parts as its table of contents."""
    import yaml

    try:
        configuration = yaml.safe_load(course.read_text(course.root() / CONFIGURATION))
        project, site = configuration["project"], configuration["site"]
    except (yaml.YAMLError, TypeError, KeyError) as error:
        raise CourseError(
            f"{CONFIGURATION} is not a book's configuration: {' '.join(str(error).split())}.",
            "Restore it, for example with `git checkout myst.yml`, or fix the line.",
        ) from error
    toc: list[dict[str, Any]] = [{"file": INDEX}]
    for part in parts:
        written = [source for chapter in part.chapters for source in chapter.sources]
        pages = [{"file": product_name(source)} for source in (*written, *part.gallery)]
        if pages:
            toc.append({"title": part.title, "children": pages})
    if with_glossary:
        toc.append({"title": "Reference", "children": [{"file": GLOSSARY}]})
    project["toc"] = toc + [{"file": name} for name in slides]
    site["template"] = template
    text = yaml.safe_dump(configuration, allow_unicode=True, sort_keys=False)
    (folder / CONFIGURATION).write_text(text, encoding="utf-8")
