"""Lay the course's notebooks out in the student's folder, and never overwrite what was edited.

One direction only: from the tracked sources to the workbook. For each file:

- absent: written (deleting a file is how a student gets a fresh copy);
- there and not edited: replaced when the course's version changed;
- edited: left alone; a newer version goes beside it, once, as ``NAME.updated.ipynb``.
"""

import copy
import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from lmcourse import course
from lmcourse.errors import CourseError
from lmcourse.notebooks import contents, files
from lmcourse.notebooks.citations import read_references, write_out
from lmcourse.notebooks.manifest import Entry, Manifest
from lmcourse.notebooks.masters import student_version
from lmcourse.notebooks.sources import read_notebook, to_bytes

if TYPE_CHECKING:
    from nbformat import NotebookNode

PRIVATE = ".lmcourse"
# Beside sources stand figures and data. Notebooks are products, and code lives in the package: what
# an author tries out there (a solution, perhaps) is not laid out.
_NOT_COPIED = {".md", ".ipynb", ".py", ".pyc"}


@dataclass(frozen=True)
class Product:
    """One file to lay out; ``digest`` is of its content (`contents.of_bytes`)."""

    name: str  # relative to the workbook, with "/"
    data: bytes
    digest: str


@dataclass
class Report:
    """What a layout did; names are relative to ``folder``, with ``/``."""

    folder: Path
    written: list[str] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)
    edited: list[str] = field(default_factory=list)
    updates: dict[str, str] = field(default_factory=dict)  # edited file -> newer version beside it
    broken: list[str] = field(default_factory=list)  # files that cannot be read
    notices: list[str] = field(default_factory=list)


def product_name(source: course.Source) -> str:
    """Return where a source's notebook lies in the workbook: ``labs/02-slug.ipynb``."""
    return f"{course.FOLDERS[source.kind]}/{source.slug}.ipynb"


def products() -> Iterator[Product]:
    """Build every file of the workbook: notebooks, and the figures beside their sources.

    Raises:
        CourseError: a source cannot be read, a lab's solution marks are wrong, or a work is cited
            that ``references.bib`` does not have.
    """
    bibliography = course.root() / "references.bib"
    references = read_references(bibliography) if bibliography.exists() else {}
    for source in course.sources():
        notebook = handed_out(source, read_notebook(source.path), references)
        yield _product(product_name(source), to_bytes(notebook))
    for folder in course.FOLDERS.values():
        base = course.root() / folder
        for path in sorted(base.rglob("*")):
            parts = path.relative_to(base).parts
            hidden = any(part.startswith((".", "__")) for part in parts)
            if path.is_file() and not hidden and path.suffix not in _NOT_COPIED:
                yield _product("/".join((folder, *parts)), path.read_bytes())


def handed_out(
    source: course.Source, notebook: "NotebookNode", references: dict[str, dict[str, str]]
) -> "NotebookNode":
    """Return a source's notebook as a student gets it: no solutions, citations as links.

    Raises:
        CourseError: a lab's solution marks are wrong, or a work is cited that is not there.
    """
    if source.kind == "lab":
        notebook = student_version(notebook, source.path.name)
    else:
        notebook = copy.deepcopy(notebook)
    for number, cell in enumerate(notebook.cells, start=1):
        if cell.cell_type == "markdown":
            place = f"Cell {number} of {source.path.name}"
            cell.source = write_out(cell.source, references, place)
    return notebook


def lay_out(folder: Path | None = None) -> Report:
    """Lay all products out in the workbook (`course.workbook` by default).

    Raises:
        CourseError: a product cannot be built (then nothing is written), or a file cannot be
            written (then what was there is unchanged).
    """
    folder = folder or course.workbook()
    _refuse_sources(folder)
    built = list(products())
    private = files.private_folder(folder / PRIVATE)
    manifest = Manifest.read(private)
    report = Report(folder, notices=[manifest.notice] if manifest.notice else [])
    for each in sorted({private, *((folder / product.name).parent for product in built)}):
        files.sweep(each)
    try:
        for product in built:
            _place(product, manifest, report)
    except OSError as error:  # a folder that may not even be looked into
        raise files.trouble(error, folder) from error
    finally:
        # Also when a later file failed: what was laid out so far must not look edited next time.
        manifest.write()
    return report


def _product(name: str, data: bytes) -> Product:
    digest = contents.of_bytes(data, Path(name).suffix)
    assert digest is not None, f"{name} is not a notebook"
    return Product(name, data, digest)


def _refuse_sources(folder: Path) -> None:
    """Raise if laying out in ``folder`` would write among the sources."""
    root, wanted = course.root(), folder.resolve()
    if wanted == root or any(
        wanted.is_relative_to(root / name) for name in course.FOLDERS.values()
    ):
        raise CourseError(
            f"The workbook cannot lie among the course's own sources, in {folder}.",
            "Set LMCOURSE_WORKBOOK to another folder, or unset it.",
        )


def _place(product: Product, manifest: Manifest, report: Report) -> None:
    """Lay one product out after the rules above, and note in manifest and report what was done."""
    path = report.folder / product.name
    entry = manifest.entry(product.name)
    if not path.exists():
        files.write(path, product.data)
        report.written.append(product.name)
    else:
        found = contents.of_file(path)
        if found is None:
            report.broken.append(product.name)
        if found is None or found not in (product.digest, entry.laid):
            report.edited.append(product.name)
            _offer(product, manifest, report)
            return
        if found != product.digest:
            files.write(path, product.data)
            report.replaced.append(product.name)
    entry.laid, entry.offered, entry.copy = product.digest, None, None


def _offer(product: Product, manifest: Manifest, report: Report) -> None:
    """Put a newer version beside an edited file, once: a copy that was deleted stays away."""
    entry = manifest.entry(product.name)
    if entry.laid == product.digest:
        entry.offered = entry.copy = None
        return
    if entry.offered != product.digest:
        entry.copy = _write_copy(product, manifest, report)
        entry.offered = product.digest
    if entry.copy and (report.folder / entry.copy).exists():
        report.updates[product.name] = entry.copy


def _write_copy(product: Product, manifest: Manifest, report: Report) -> str:
    """Write the newer version under the first name that holds no edit, and return that name."""

    def is_free(name: str) -> bool:
        path = report.folder / name
        known = manifest.entries.get(name, Entry()).laid
        return not path.exists() or contents.of_file(path) in {product.digest, known} - {None}

    stem, _, suffix = product.name.rpartition(".")
    later = (f"{stem}.updated-{number}.{suffix}" for number in itertools.count(2))
    name = next(filter(is_free, itertools.chain([f"{stem}.updated.{suffix}"], later)))
    if contents.of_file(report.folder / name) != product.digest:
        files.write(report.folder / name, product.data)
        report.written.append(name)
    manifest.entry(name).laid = product.digest
    return name
